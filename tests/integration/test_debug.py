"""`slipway debug`: into a build that failed, and into one that has not begun."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Slipway

RECIPE = """\
package:
  name: stops-half-way
  version: 1.0
build:
  script:
    - mkdir built
    - cd built
    - cp ../given $PREFIX/given
requirements:
  build:
    - cmake
about:
  license: MIT
"""


@pytest.mark.integration
def test_a_build_that_failed_can_be_entered(slipway: Slipway, tmp_path: Path) -> None:
    recipe, dist = tmp_path / "recipe", tmp_path / "dist"
    recipe.mkdir()
    (recipe / "meta.yaml").write_text(RECIPE, encoding="utf-8")
    shipped = slipway("ship", recipe, "--dist", dist)
    assert shipped.returncode == 8
    assert "given" in shipped.stderr
    assert "(meta.yaml:8)" in shipped.stderr, "the line of the command that failed"

    def debug(*words: str) -> tuple[int, str]:
        answer = slipway("debug", "stops-half-way", recipe, "--dist", dist, "-q", *words)
        return answer.returncode, answer.stdout

    status, said = debug("--", "bash", "-c", "pwd; command -v cmake; echo $PKG_VERSION; touch ../given; rest")
    assert status == 127, "functions of the shell are not programs'"
    folder, cmake, version = said.splitlines()
    assert folder.endswith("/work/built")
    assert cmake.endswith("/build_env/bin/cmake")
    assert version == "1.0"
    assert debug("--", "cp", "../given", "there")[0] == 0
    status, said = debug("--fresh", "--", "ls")
    assert (status, set(said.split())) == (0, {"build_env.sh", "conda_build.sh"})
    assert slipway("debug", "nothing", recipe, "--dist", dist).returncode == 2
    (recipe / "given").touch()
    mended = RECIPE.replace("build:\n  script", "source:\n  path: given\nbuild:\n  script")
    (recipe / "meta.yaml").write_text(mended, encoding="utf-8")
    assert slipway("ship", recipe, "--dist", dist).returncode == 0
    status, said = debug("--", "ls")
    assert (status, set(said.split())) == (0, {"build_env.sh", "conda_build.sh", "given"}), "begun anew"
