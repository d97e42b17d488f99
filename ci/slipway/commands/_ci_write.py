"""`slipway ci write`: the pipelines of GitHub Actions and GitLab."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.checkout import default_folder
from slipway.base.errors import UsageError
from slipway.commands._ci_list import add_matrix_arguments, matrix_of
from slipway.workflows import files

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from slipway.base.log import Reporter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_matrix_arguments(parser)
    parser.add_argument("--github", action="store_true", help="only GitHub's")
    parser.add_argument("--gitlab", action="store_true", help="only GitLab's")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is not fresh")
    parser.add_argument(
        "--to", type=Path, default=default_folder(), metavar="DIR", help="the checkout (default: this one)"
    )


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Write or check what was asked for: both services' files, if neither is named."""
    both = arguments.github == arguments.gitlab
    matrix = matrix_of(arguments, arguments.to)
    wanted = files.texts(matrix, for_github=both or arguments.github, for_gitlab=both or arguments.gitlab)
    return write_or_check(wanted, arguments.to, reporter, check=arguments.check, command="slipway ci write")


def write_or_check(wanted: Mapping[str, str], checkout: Path, reporter: Reporter, *, check: bool, command: str) -> int:
    """Bring files of the checkout to the texts `wanted`; or, to `check`, say which are not.

    Raises:
        UsageError: some are not, and this was a check.
    """
    old = files.stale(wanted, checkout)
    if not check:
        files.write(wanted, checkout)
    for name in wanted:
        reporter.line(f"{name}: {('not fresh' if check else 'written') if name in old else 'fresh'}")
    if check and old:
        raise UsageError(
            "not what its sources say", where=", ".join(old), hint=f"run `{command}` and commit the result"
        )
    return 0
