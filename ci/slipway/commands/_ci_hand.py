"""`slipway ci hand`: the records of packages between jobs, where real conda-build makes the packages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.errors import UsageError
from slipway.workflows.handing import check_handed, record, record_of

if TYPE_CHECKING:
    import argparse

    from slipway.base.log import Reporter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("way", choices=("take", "give"), help="hold packages to their records, or record new ones")
    parser.add_argument("folder", type=Path, metavar="DIR", help="folder of the handed packages")


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Check or record every package of the folder.

    Raises:
        IntegrityError: one is not as it was handed on.
    """
    if not arguments.folder.is_dir():
        raise UsageError("there is no such folder", where=str(arguments.folder))
    packages = sorted(arguments.folder.glob("*/*.conda"))
    for package in packages:
        if arguments.way == "take":
            check_handed(package)
        elif not record_of(package).exists():
            record(package)
    reporter.line(f"{len(packages)} package(s) in {arguments.folder}")
    return 0
