"""Greets."""


def main() -> None:
    """Print a greeting."""
    print("hello")
