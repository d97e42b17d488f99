"""Patterns of file names as ``.gitignore`` has them, by pathspec."""

from pathspec import GitIgnoreSpec

__all__ = ["GitIgnoreSpec"]
