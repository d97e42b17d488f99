"""Writes sources.txt, the files that ROUTINES need: `python find_sources.py FOLDER`, with MAGMA's sources in it.

By names: a file needs those that define what it, or a macro that it uses, calls. Whether any is missing, the linker
says when the library is built.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from itertools import product
from pathlib import Path

# What src/aten/native/cuda/magma calls, in four element types; only names that exist count (dsyevd, zheevd).
OF_MATRICES = ["potrf_gpu", "getrf_gpu", "geqrf2_gpu", "syevd_gpu", "heevd_gpu", "geev", "gesdd"]
ROUTINES = [f"magma_{element}{routine}" for element, routine in product("sdcz", OF_MATRICES)]
ROUTINES += ["magma_init", "magma_finalize", "magma_strerror"]
ROUTINES += [f"magma_{element}nan_inf" for element in "sdcz"]  # beside constants, which have no calls to follow

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
# The last are kernels that one file starts and another defines.
NAME = re.compile(r"\b(?:magma\w*|(?:cublas|lapack)_\w+_const|[sdcz]\w+_kernel_U\w*)")
# At the start of a line: type, name, parameters, and a body; a class's function stands for its class.
FUNCTION = re.compile(r"^(?:[\w*\"]+\s+)*\**(\w+)(?:::~?\w+)?\s*\([^;{}]*\)[^;{}()]*\{", re.MULTILINE)
MACRO = re.compile(r"^\s*#\s*define\s+(\w+)((?:.*\\\n)*.*)", re.MULTILINE)


def main(folder: Path) -> None:
    """Follow calls from file to file, and write down the files."""
    texts = {path: COMMENT.sub(" ", path.read_text("utf-8", "replace")) for path in candidates(folder)}
    definitions = defaultdict[str, set[Path]](set)
    for path, text in texts.items():
        for found in FUNCTION.finditer(text):
            definitions[found[1]].add(path)
    macros = defaultdict[str, set[str]](set)
    for header in (folder / "include").glob("*[!1p].h"):  # not magma*_v1.h nor *_v1_map.h: the interface of old
        for name, body in MACRO.findall(header.read_text("utf-8", "replace")):
            macros[name] |= set(NAME.findall(body))
    files: set[Path] = set()
    names, waiting = set[str](), set(ROUTINES)
    while waiting:
        name = waiting.pop()
        names.add(name)
        waiting |= macros[name]
        for path in definitions[name] - files:
            files.add(path)
            waiting |= set(NAME.findall(texts[path]))
        waiting -= names
    lines = sorted(f"{path.relative_to(folder).as_posix()}\n" for path in files)
    Path(__file__).with_name("sources.txt").write_text("".join(lines), encoding="utf-8")


def candidates(folder: Path) -> list[Path]:
    """The files of the library as MAGMA's own build has it."""
    listed = (folder / "CMake.src.cuda").read_text("utf-8").split()
    found = [name for name in listed if name.startswith(("control/", "interface_cuda/", "magmablas/", "src/"))]
    return [folder / name for name in found if name.endswith((".cpp", ".cu"))]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
