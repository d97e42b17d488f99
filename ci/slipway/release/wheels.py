"""Wheels of packages that were built: the same files at the places where pip puts them; nothing is compiled again.

The recipe's slipway.yaml says what goes where (`WheelSettings`). Libraries that come neither with a wheel nor with
every Linux are grafted into it by auditwheel, which also says which Linux the wheel asks for (manylinux). Made from the
same packages, a wheel has the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import posixpath
import re
import shutil
import sys
import zipfile
from email.parser import HeaderParser
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from slipway.base import proc
from slipway.base.errors import BuildError, RecipeError
from slipway.base.proc import own_program

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slipway.base.log import Reporter
    from slipway.model import WheelSettings

CLOCK = (1980, 1, 1, 0, 0, 0)
"""When every file of a wheel was made, as far as it tells."""

SITE_PACKAGES = re.compile(r"lib/python3\.\d+/site-packages/(.+)")
EXTENSION = re.compile(r"\.cpython-(3\d+)-x86_64-linux-gnu\.so$")
LEFT_OUT = frozenset({"INSTALLER", "REQUESTED", "direct_url.json", "RECORD", "WHEEL"})
"""Of a dist-info: what installers write, and what is written anew."""


def make_wheel(
    prefix: Path, package: str, settings: WheelSettings, folder: Path, reporter: Reporter, *, log: Path
) -> Path:
    """The wheel of a Python package that is installed in `prefix` with all that it needs, put into `folder`.

    Args:
        log: gets what auditwheel says.

    Raises:
        RecipeError: the package has no extension modules, or lacks what `settings` names.
        BuildError: the wheel fits no policy of manylinux.
    """
    records = {record["name"]: record for path in (prefix / "conda-meta").glob("*.json") if (record := _read(path))}
    tree = folder / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    placed = _place(prefix, [records[name] for name in (package, *settings.takes)], settings.places)
    for name, path in placed.items():
        target = tree / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)
    for path in map(tree.joinpath, placed):
        if _is_elf(path):
            _set_run_path(path, tree, settings)
    tags = {found[1] for name in placed if (found := EXTENSION.search(name))}
    if len(tags) != 1:
        raise RecipeError(
            f"`{package}` is no package of extension modules for one Python, and needs no wheel of this kind"
        )
    required = {settings.requires[name]: records[name]["version"] for name in settings.requires}
    raw = _write(tree, f"cp{tags.pop()}", required, folder)
    with reporter.step(f"auditwheel {raw.name}"):
        repaired = _repair(raw, prefix, settings, folder, log)
    raw.unlink()
    # After auditwheel, which takes every run path away that leads out of a wheel.
    shutil.rmtree(tree)
    with zipfile.ZipFile(repaired) as archive:
        for member in archive.infolist():
            Path(archive.extract(member, tree)).chmod(member.external_attr >> 16 or 0o644)
    for path in tree.rglob("*"):
        if settings.elsewhere and _is_elf(path):
            _look_elsewhere(path, tree, settings)
    wheel = folder / repaired.name
    _pack(tree, wheel)
    shutil.rmtree(tree)
    repaired.unlink()
    repaired.parent.rmdir()
    return wheel


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _place(prefix: Path, records: list[dict[str, Any]], places: Mapping[str, str]) -> dict[str, Path]:
    """The files of the packages by their names in the wheel, but bytecode, and what has no place there."""
    found: dict[str, Path] = {}
    for record in records:
        for name in record["files"]:
            if name.endswith(".pyc"):
                continue
            inside = SITE_PACKAGES.fullmatch(name)
            top, _, rest = name.partition("/")
            target = inside[1] if inside else f"{places[top]}/{rest}" if top in places else None
            if target is not None and not (".dist-info/" in target and PurePosixPath(target).name in LEFT_OUT):
                found[target] = prefix / name
    return found


def _is_elf(path: Path) -> bool:
    return path.is_file() and not path.is_symlink() and path.read_bytes()[:4] == b"\x7fELF"


def _set_run_path(path: Path, tree: Path, settings: WheelSettings) -> None:
    """Let a library or program look for others where the wheel has them."""
    libraries = settings.places.get("lib", "")
    beside = posixpath.relpath(tree / libraries, path.parent)
    path.chmod(path.stat().st_mode | 0o200)
    _patchelf("--force-rpath", "--set-rpath", "$ORIGIN" if beside == "." else f"$ORIGIN/{beside}", path)


def _look_elsewhere(path: Path, tree: Path, settings: WheelSettings) -> None:
    """Let what needs libraries of other wheels look into the environment's lib, where those are."""
    needed = _patchelf("--print-needed", path).split()
    if any(fnmatch(name, pattern) for name in needed for pattern in settings.elsewhere):
        # lib/pythonX.Y/site-packages is two folders below lib.
        up = posixpath.relpath(tree / "../..", path.parent)
        known = _patchelf("--print-rpath", path).strip()
        _patchelf("--force-rpath", "--set-rpath", f"{known}:$ORIGIN/{up}", path)


def _patchelf(*words: str | Path) -> str:
    answer = proc.capture([own_program("patchelf"), *words], env=os.environ, what="run paths in a wheel")
    if answer.status != 0:
        raise BuildError("a library of the wheel cannot be changed", where=str(words[-1]), detail=answer.tail)
    return answer.text


def _write(tree: Path, tag: str, required: Mapping[str, str], folder: Path) -> Path:
    """Write the metadata of the wheel and pack it.

    Args:
        required: versions of other projects that it needs.
    """
    info = _info(tree)
    metadata = (info / "METADATA").read_text(encoding="utf-8")
    head, blank, body = metadata.partition("\n\n")
    lines = [f"Requires-Dist: {project}=={version}" for project, version in sorted(required.items())]
    (info / "METADATA").write_text("\n".join([head.rstrip("\n"), *lines]) + (blank + body or "\n"), encoding="utf-8")
    told = f"Wheel-Version: 1.0\nGenerator: slipway\nRoot-Is-Purelib: false\nTag: {tag}-{tag}-linux_x86_64\n"
    (info / "WHEEL").write_text(told, encoding="utf-8")
    parsed = HeaderParser().parsestr(metadata)
    project = re.sub(r"[-_.]+", "_", str(parsed["Name"])).lower()
    wheel = folder / f"{project}-{parsed['Version']}-{tag}-{tag}-linux_x86_64.whl"
    _pack(tree, wheel)
    return wheel


def _info(tree: Path) -> Path:
    info = next(tree.glob("*.dist-info"), None)
    if info is None:
        raise RecipeError("the package has no metadata that pip could read (a folder *.dist-info)")
    return info


def _pack(tree: Path, wheel: Path) -> None:
    """Write RECORD, and all files with it into the archive: the same files are the same bytes."""
    record = f"{_info(tree).name}/RECORD"
    names = sorted(path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file())
    names = [name for name in names if name != record]
    rows = [f"{name},{_record_hash(tree / name)},{(tree / name).stat().st_size}\n" for name in names]
    (tree / record).write_text("".join([*rows, f"{record},,\n"]), encoding="utf-8")
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in [*names, record]:
            member = zipfile.ZipInfo(name, CLOCK)
            member.external_attr = (0o100755 if os.access(tree / name, os.X_OK) else 0o100644) << 16
            archive.writestr(member, (tree / name).read_bytes(), zipfile.ZIP_DEFLATED, 9)


def _record_hash(path: Path) -> str:
    digest = hashlib.sha256(path.read_bytes()).digest()
    return "sha256=" + base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _repair(raw: Path, prefix: Path, settings: WheelSettings, folder: Path, log: Path) -> Path:
    """Graft libraries into the wheel, and name the policy that it keeps."""
    made = folder / "repaired"
    shutil.rmtree(made, ignore_errors=True)
    excluded = [word for pattern in settings.elsewhere for word in ("--exclude", pattern)]
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("PYTHON")},
        "AUDITWHEEL_LD_LIBRARY_PATH": str(prefix / "lib"),
        "SOURCE_DATE_EPOCH": "315532800",  # of 1980, where zip's time begins
        "PATH": f"{own_program('patchelf').parent}:{os.environ.get('PATH', '')}",
    }
    proc.run(
        [sys.executable, "-P", "-m", "auditwheel", "repair", *excluded, "--wheel-dir", made, raw],
        env=environment,
        what="auditwheel",
        log=log,
        error=BuildError,
    )
    (repaired,) = made.glob("*.whl")
    if "manylinux" not in repaired.name:
        raise BuildError("the wheel keeps no policy of manylinux", where=str(raw), hint=f"{log} tells why")
    return repaired
