"""Where packages are built: one fixed folder per output, whatever checkout or `--dist` it is built for.

A build's folder finds its way into what is built: in run paths before they are made relative, in hashes that linkers
make of it, in compiler caches' keys. One place for all makes builds from two checkouts the same, byte for byte.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import secrets
import shutil
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.errors import DiskFullError, HostError
from slipway.base.files import is_disk_full
from slipway.base.locks import hold_lock
from slipway.base.scratch import spread_folders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

VARIABLE = "SLIPWAY_BUILD_FOLDER"
DEFAULT = Path("/tmp/slipway-build")


def build_root(environ: Mapping[str, str]) -> Path:
    """The folder below which everything is built: ours alone.

    Raises:
        HostError: it cannot be made, belongs to somebody else, or is where compilers cannot work.
    """
    chosen = environ.get(VARIABLE, "")
    if re.search(r"\s", chosen):
        # Prefixes become words of CFLAGS, LDFLAGS and `#!` lines, none of which can hold a space.
        raise HostError(
            "packages cannot be built below a folder with a space in its path",
            where=chosen,
            hint=f"name another one in {VARIABLE}",
        )
    # Where another user of the machine was first, ours has a name of its own, and the bytes may differ from theirs.
    candidates = [Path(chosen)] if chosen else [DEFAULT, DEFAULT.with_name(f"{DEFAULT.name}-{os.getuid()}")]
    for candidate in candidates:
        with contextlib.suppress(FileExistsError):
            candidate.mkdir(mode=0o700)
        status = candidate.lstat()
        if stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid():
            return candidate
    raise HostError(
        "the folder to build in belongs to somebody else",
        where=str(candidates[-1]),
        hint=f"name another one in {VARIABLE}",
    )


def check_writable(folder: Path, variable: str) -> None:
    """See to it that files can be made in `folder`, which the environment variable `variable` moves elsewhere.

    Raises:
        HostError: they cannot. (rattler-build says of both only that it could not go on.)
        DiskFullError: there is no room.
    """
    try:
        if variable != "TMPDIR":
            folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".slipway-") as stream:
            stream.write(bytes(4096))
    except OSError as error:
        if is_disk_full(error):
            raise DiskFullError(
                "the disk is full", where=str(folder), hint=f"make room, or name another folder in {variable}"
            ) from error
        raise HostError(
            f"no files can be made in this folder: {error.strerror}",
            where=str(folder),
            hint=f"give yourself the right to, or name another folder in {variable}",
        ) from error


@contextlib.contextmanager
def build_place(
    name: str, environ: Mapping[str, str], on_wait: Callable[[], None] | None = None, *, keep: bool = False
) -> Iterator[Path]:
    """An empty folder to build in: the same one for every build of `name`; while another is under way, it waits.

    In another folder the same package would have other bytes, and find nothing in the compiler cache. Variants,
    versions and build numbers of one output share it, too. After an error what is there stays, for a look, until the
    next build of the same name.

    Args:
        on_wait: called once, before the waiting begins.
        keep: whether what is there stays afterwards, too.
    """
    root = build_root(environ)
    with hold_lock(root / f".{name}.lock", patience=math.inf, on_wait=on_wait):
        folder = root / name
        if folder.exists():
            shutil.rmtree(folder)
        spread_folders(root)
        fresh = root / f".{name}.{secrets.token_hex(4)}"  # its name decides where on the disk it lies
        fresh.mkdir()
        fresh.rename(folder)
        yield folder
        if not keep and folder.exists():
            shutil.rmtree(folder)
