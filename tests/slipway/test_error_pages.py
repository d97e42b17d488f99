"""Each code of an error or warning has a page, and a case here that provokes it."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slipway.base.error_pages import read_pages
from slipway.base.errors import RecipeError, RecipeWarning, SlipwayError
from slipway.bootstrap.embedded import channel_address
from slipway.cli import main
from slipway.engines.first_error import find_first_error
from slipway.model import OutputTest, RenderedOutput, Source
from slipway.pipeline.finalize import finalize
from slipway.pipeline.run import run

from .solved_channel import write_channel

if TYPE_CHECKING:
    from collections.abc import Callable

    from slipway.pipeline.context import RunContext
    from slipway.request import Request

CHECKOUT = Path(__file__).parents[2]
HEAD = "package:\n  name: demo\n  version: 1\n"


@dataclass(frozen=True)
class Tools:
    """What cases are made with."""

    folder: Path
    parse: Callable[..., Request]
    make_output: Callable[..., RenderedOutput]
    make_context: Callable[..., RunContext]

    def render(self, text: str, channel: str | None = None) -> None:
        """Render a recipe, and solve it where there is a channel."""
        (self.folder / "meta.yaml").write_text(text, encoding="utf-8")
        request = self.parse(str(self.folder), "--channel", channel or "x", "--dist", str(self.folder / "dist"))
        outputs = request.matching()
        if channel is not None:
            finalize(request, outputs, (channel,))

    def render_v1(self, text: str) -> None:
        """Render a recipe.yaml."""
        (self.folder / "recipe.yaml").write_text(text, encoding="utf-8")
        self.parse(str(self.folder), "--channel", "x").matching()

    def solve(self, requirement: str) -> None:
        """Solve a recipe that asks for `requirement` in its host section, on line 6."""
        channel = write_channel(self.folder / "channel").url
        self.render(f"{HEAD}requirements:\n  host:\n    - {requirement}\n", channel)

    def build(self, **changes: object) -> None:
        """Build and test an output."""
        run([self.make_output(**changes)], self.make_context())


def _patched(tools: Tools) -> None:
    patch = "--- a/text\n+++ b/text\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n"
    output = tools.make_output(sources=(Source(path="source", patches=("a.patch",)),))
    (output.recipe_dir / "source").mkdir()
    (output.recipe_dir / "source" / "text").write_text("one\ndeux\n", encoding="utf-8")
    (output.recipe_dir / "a.patch").write_text(patch, encoding="utf-8")
    run([output], tools.make_context())


CASES: dict[str, tuple[Callable[[Tools], object], str]] = {
    "missing-package": (
        lambda tools: tools.solve("libgccc"),
        r"libgccc.*host section of `demo` 1 .*meta\.yaml:6.*did you mean `libgcc`",
    ),
    "unsolvable": (
        lambda tools: tools.solve("python >=4"),
        r"host section of `demo` 1 \(python 3\.13\) has no solution.*meta\.yaml:6",
    ),
    "no-such-channel": (lambda tools: channel_address("/nonexistent"), "no such folder.*/nonexistent"),
    "unknown-scheme": (lambda tools: channel_address("ftp://there"), "`ftp:`.*https://"),
    "script-failed": (
        lambda tools: tools.build(script="echo before\ncp nothing there\n"),
        r"script failed: cp: cannot stat 'nothing'.*h0123456_0\.log:\d+",
    ),
    "test-failed": (
        lambda tools: tools.build(
            script="mkdir -p $PREFIX/x; touch $PREFIX/x/y\n", test=OutputTest(commands=("ls /zz",))
        ),
        r"its test failed: ls: cannot access '/zz'",
    ),
    "patch-does-not-fit": (_patched, r"`text` has other lines.*a\.patch:3"),
    "licence-file-missing": (
        lambda tools: tools.build(about={"license": "MIT", "license_file": "COPYING"}),
        "license_file: COPYING.*meta.yaml",
    ),
    "recipe-yaml": (
        lambda tools: tools.render_v1(f"{HEAD}build:\n  skp: true\n"),
        r"unknown field 'skp'.*recipe\.yaml:5",
    ),
    "unknown-licence": (lambda tools: tools.render(f"{HEAD}about:\n  license: MITT\n"), r"MITT.*meta\.yaml:5"),
    "unknown-selector-name": (
        lambda tools: tools.render(f"{HEAD}build:\n  number: 1  # [linxu]\n"),
        r"`linxu`.*meta\.yaml:5.*did you mean `linux`",
    ),
    "list-taken-for-a-selector": (
        lambda tools: tools.render(f"{HEAD}requirements:\n  host: [python, pip]\n"),
        r"python, pip.*meta\.yaml:5",
    ),
    "variants-of-one-name": (
        lambda tools: (
            (tools.folder / "conda_build_config.yaml").write_text("python:\n  - 3.11\n  - 3.12\n", encoding="utf-8"),
            tools.render(f"{HEAD}requirements:\n  host:\n    - python\n"),
        ),
        r"2 variants.*`python`: 3.11, 3.12.*meta\.yaml",
    ),
    "key-beside-build": (
        lambda tools: tools.render(f"{HEAD}outputs:\n  - name: a\n    string: b\n    build:\n      number: 1\n"),
        r"`string`.*meta\.yaml:6",
    ),
    "pin-of-no-output": (
        lambda tools: tools.render(HEAD + "requirements:\n  run:\n    - {{ pin_subpackage('demoo') }}\n"),
        r"`demoo`.*meta\.yaml:6.*did you mean `demo`",
    ),
    "files-from-nowhere": (
        lambda tools: tools.render(
            f"{HEAD}outputs:\n  - name: a\n    files:\n      - b\n", write_channel(tools.folder / "c").url
        ),
        r"`a` lists files.*meta\.yaml",
    ),
    "empty-package": (lambda tools: tools.build(script="true\n"), "holds no file.*meta.yaml"),
}


def test_every_page_has_a_case_and_every_code_a_page() -> None:
    pages = set(read_pages())
    raised = set()
    for path in (CHECKOUT / "ci/slipway").rglob("*.py"):
        raised |= set(re.findall(r"\bcode=\"([a-z-]+)\"", path.read_text(encoding="utf-8")))
    in_tables = {"test-failed", "script-failed", "list-taken-for-a-selector"}
    assert raised | in_tables == pages == set(CASES)


@pytest.mark.parametrize("code", CASES)
def test_case(
    code: str,
    tmp_path: Path,
    parse: Callable[..., Request],
    make_output: Callable[..., RenderedOutput],
    make_context: Callable[..., RunContext],
) -> None:
    provoke, expected = CASES[code]
    found: SlipwayError | RecipeWarning | None = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RecipeWarning)
        try:
            provoke(Tools(tmp_path, parse, make_output, make_context))
        except SlipwayError as error:
            found = error
    found = found or next(one.message for one in caught if isinstance(one.message, RecipeWarning))
    assert found.code == code
    assert re.search(expected, f"{found.message} {found.where} {found.hint}", re.DOTALL)


def test_what_a_patch_looks_for_is_shown_beside_the_file(
    tmp_path: Path, parse: Callable[..., Request], make_output: Callable[..., RenderedOutput],
    make_context: Callable[..., RunContext],
) -> None:  # fmt: skip
    with pytest.raises(RecipeError) as caught:
        _patched(Tools(tmp_path, parse, make_output, make_context))
    assert caught.value.detail == "the patch looks for\n  one\n  two\nand text has\n      1  one\n      2  deux"


def test_the_document_is_what_explain_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 0
    assert capsys.readouterr().out == (CHECKOUT / "docs/errors.md").read_text(encoding="utf-8")
    assert main(["explain", "missing-pakage"]) == 2
    assert "did you mean `missing-package`" in capsys.readouterr().err


LOGS = """\
+ make|cc -c a.c|*a.c:3:1: error: no|b.c:4:1: error: no|make: *** [a.o] Error 1
+ echo error: never mind|error: never mind|+ ld x|*ld: cannot find -lz
+ cmake .|-- Looking for x|*CMake Error at CMakeLists.txt:3 (find_package):
+ nvcc|*a.cu(7): error: identifier "x" is undefined|1 error detected
+ python|Traceback (most recent call last):|  File "a", line 1|*KeyError: 'x'
+ cargo build|warning: unused|*error[E0308]: mismatched types
+ cc -Werror a.c|*all quiet|++ slipway_finish|error: Script failed with status 1
+ . build.sh|++ cc -c a.c|*a.c:3:1: error: no|++ slipway_finish|++ status=1
++ ninja|FAILED: [code=1] a.o|++ slipway_finish|++ set +x|c++ a.cpp|*a.cpp:8:1: error: no|error: Test
+ ninja|FAILED: a.o|*a.cpp:8:1: error: no|ninja: build stopped: subcommand failed.
+ pytest|*FAILED test_a.py::test_b|1 failed
"""


@pytest.mark.parametrize("lines", LOGS.splitlines())
def test_first_error_of_a_log(lines: str) -> None:
    """The line that is marked."""
    log = lines.split("|")
    marked = next(number for number, line in enumerate(log, start=1) if line.startswith("*"))
    found = find_first_error([line.removeprefix("*") for line in log])
    assert found is not None
    assert (found.line, found.text) == (marked, log[marked - 1][1:])


def test_the_last_phase_counts_and_a_silent_command_is_named() -> None:
    found = find_first_error(["==> Running build script", "error: old", "==> Running script test", "+ false"])
    assert found is not None
    assert (found.line, found.text) == (4, "the command `false`")


def test_what_comes_late_is_no_word_of_the_command_that_failed() -> None:
    log = ["++ echo before", "++ false", "++ slipway_finish", "before", "error: Script failed with status 1"]
    found = find_first_error(log)
    assert found is not None
    assert (found.line, found.text) == (2, "the command `false`")


def test_an_empty_log_says_nothing() -> None:
    assert find_first_error([]) is None
