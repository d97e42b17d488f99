"""The steps of a real build start in the order that the build before it taught, and the package stays the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

Slipway = Callable[..., "subprocess.CompletedProcess[str]"]

META = """\
package:
  name: uneven
  version: "1.0"
source:
  path: src
requirements:
  build:
    - {{ compiler('c') }}
    - {{ stdlib('c') }}
    - cmake
    - ninja
about:
  license: MIT
"""
PROJECT = """\
cmake_minimum_required(VERSION 3.24)
project(uneven LANGUAGES C)
foreach(step a=0.1 b=0.3 c=0.1 z=0.8)
  string(REPLACE "=" ";" step ${step})
  list(GET step 0 name)
  list(GET step 1 seconds)
  add_custom_command(OUTPUT ${name}.txt COMMAND sleep ${seconds} COMMAND touch ${name}.txt)
  list(APPEND made ${name}.txt)
endforeach()
add_library(uneven SHARED one.c two.c ${made})
install(TARGETS uneven)
"""
SCRIPT = """\
set -eu
cmake $CMAKE_ARGS -G Ninja -S . -B build -DCMAKE_INSTALL_PREFIX="$PREFIX"
cmake --build build --parallel 1
cmake --install build
"""


def test_longest_first_and_the_same_bytes(slipway: Slipway, tmp_path: Path) -> None:
    recipe, dist = tmp_path / "recipe", tmp_path / "dist"
    (recipe / "src").mkdir(parents=True)
    for name, text in (
        ("meta.yaml", META),
        ("build.sh", SCRIPT),
        ("src/CMakeLists.txt", PROJECT),
        ("src/one.c", "int one(void) { return 1; }\n"),
        ("src/two.c", "int two(void) { return 2; }\n"),
    ):
        (recipe / name).write_text(text, encoding="utf-8")

    def build(*words: str) -> tuple[list[str], str]:
        """The steps that wait, in the order of their start, and the package's hash."""
        answer = slipway("ship", recipe, "--dist", dist, *words)
        assert answer.returncode == 0, answer.stdout + answer.stderr
        (package,) = (dist / "channel/linux-64").glob("*.conda")
        (log,) = (dist / "logs").glob("uneven-*.log")
        assert "the steps keep the order" not in log.read_text(encoding="utf-8")
        facts = json.loads(slipway("report", "--json", "--dist", dist).stdout)
        steps = sorted(facts["outputs"][0]["record"]["steps"], key=lambda step: step["start"])
        order = [step["output"] for step in steps if step["output"].endswith(".txt")]
        return order, hashlib.sha256(package.read_bytes()).hexdigest()

    first, package = build()
    assert first == ["a.txt", "b.txt", "c.txt", "z.txt"], "as CMake wrote it"
    again, same_package = build("--rebuild")
    assert again[:2] == ["z.txt", "b.txt"]
    assert same_package == package, "no byte of a package depends on the order"
