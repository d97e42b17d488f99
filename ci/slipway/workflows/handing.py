"""Packages on their way from one job to another: the one that made them records their bytes, who takes them compares.

A record lies beside its package, `FILE.conda.sha256`, in the form that `sha256sum --check` reads. What damages a
package between two jobs (a cut-off upload, a cache, a store of artifacts) shows. Who can change both is believed: see
docs/trust.md. Needs no more than Python's own library: jobs of real conda-build run it in conda's Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from slipway.base.errors import IntegrityError
from slipway.base.files import copy_file, hash_file, write_file

if TYPE_CHECKING:
    from pathlib import Path

HINT = "run the job that makes it again"


def record_of(package: Path) -> Path:
    """Where the record of a package lies."""
    return package.with_name(f"{package.name}.sha256")


def record(package: Path) -> None:
    """Write down what the bytes of `package` are."""
    write_file(record_of(package), f"{hash_file(package)}  {package.name}\n")


def hand_on(package: Path, target: Path) -> None:
    """Put a package where the next job looks for it, its record before it: no moment has the new one without."""
    record_of(target).unlink(missing_ok=True)
    copy_file(package, target)
    record(target)


def check_handed(package: Path, *, needs_record: bool = True) -> None:
    """See to it that a package is the one that was handed on.

    Args:
        needs_record: whether one without a record is refused.

    Raises:
        IntegrityError: it is another one.
    """
    try:
        text = record_of(package).read_text(encoding="ascii", errors="replace")
    except FileNotFoundError:
        if not needs_record:
            return
        raise IntegrityError(
            "a package was handed on without its record", where=str(record_of(package)), hint=HINT
        ) from None
    promised, actual = text.partition(" ")[0].strip(), hash_file(package)
    if actual != promised:
        raise IntegrityError(
            f"a package was damaged on its way from the job that made it: sha256 {actual} instead of {promised}",
            where=str(package),
            hint=HINT,
        )
