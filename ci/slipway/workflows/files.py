"""The pipelines as texts, and whether those in a checkout are what the matrix says."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

from slipway.base.errors import UsageError
from slipway.base.files import write_file
from slipway.workflows import github, gitlab
from slipway.workflows.yaml_text import as_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from slipway.workflows.matrix import Matrix

HEADER = "# Written by `slipway ci write{words}` from {sources}: change {them}, and write again.\n"
UNTESTED = "# Nobody has seen these platforms' jobs run; nothing waits for them: {platforms}.\n"


def texts(matrix: Matrix, *, for_github: bool, for_gitlab: bool) -> dict[str, str]:
    """The files that were asked for: path in the checkout, and text."""
    contents: dict[str, Mapping[str, Any]] = {}
    if for_github:
        contents |= github.make_files(matrix)
    if for_gitlab:
        contents |= gitlab.make_files(matrix)
    untested = [platform.subdir for platform in matrix.settings.platforms.values() if not platform.tested]
    words = [*([matrix.recipe] if matrix.recipe != "recipe" else []), *matrix.configuration_words]
    own = "" if matrix.settings.installed else " and ci/slipway/workflows/settings.yaml"
    header = HEADER.format(
        sources=f"{matrix.recipe}/{own}", them="that" if matrix.settings.installed else "those",
        words="".join(f" {shlex.quote(word)}" for word in words),
    )  # fmt: skip
    header += UNTESTED.format(platforms=", ".join(untested)) if untested else ""
    versions = {action.pinned: action.version for action in matrix.settings.actions.values()}
    return {path: header + _with_versions(as_yaml(content), versions) for path, content in contents.items()}


def _with_versions(text: str, versions: Mapping[str, str]) -> str:
    """Behind each pinned action its version, as a comment for people and for the bots that raise it."""
    return re.sub(r"(uses: )([^.\s]\S*)$", lambda found: f"{found[0]} # {versions[found[2]]}", text, flags=re.MULTILINE)


def write(wanted: Mapping[str, str], checkout: Path) -> list[str]:
    """Write the files that are not so already, each beside and then renamed; returns their paths."""
    changed = stale(wanted, checkout)
    for name in changed:
        write_file(checkout / name, wanted[name])
    return changed


def stale(wanted: Mapping[str, str], checkout: Path) -> list[str]:
    """The paths whose text is another one, or that do not exist."""
    return [name for name, text in wanted.items() if _read(checkout / name) != text]


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the pipeline cannot be read: {error}", where=str(path)) from error
