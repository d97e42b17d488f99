"""The wrapper around a recipe's script: conda-build's variables, and what a package must not remember taken out."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import PurePosixPath

import pytest

from slipway.engines.build_script import FINISH, ONE_PIPE, build_script, python_version
from slipway.engines.rattler_recipe import to_v1_recipe
from slipway.model import RenderedOutput, Requirements

MakeOutput = Callable[..., RenderedOutput]
RECIPE = PurePosixPath("/build/recipe")


def test_script_sees_variant_keys_but_no_shell_code(make_output: MakeOutput) -> None:
    output = make_output(variant={"blas_impl": "mkl; rm -rf /", "c-x": "no"}, script_env={"TOKEN": "$HOME"})
    text = build_script(output, recipe=RECIPE, jobs=3)
    assert "export blas_impl='mkl; rm -rf /'" in text
    assert "c-x" not in text
    assert "export TOKEN='$HOME'" in text
    assert "export CPU_COUNT=3" in text


@pytest.mark.parametrize(
    ("spec", "version"),
    [
        ("python 3.11.* *_cpython", "3.11"),
        ("python 3.12", "3.12"),
        ("python 3.13.*", "3.13"),
        ("python >=3.9", None),
        ("python", None),
    ],
)
def test_python_version(make_output: MakeOutput, spec: str, version: str | None) -> None:
    assert python_version(make_output(requirements=Requirements(host=(spec,)))) == version


def test_metapackage_runs_no_script(make_output: MakeOutput) -> None:
    output = replace(make_output("meta", script="exit 1"), script=None)
    assert "/build.sh" not in build_script(output, recipe=RECIPE, jobs=1)


def test_python_files_are_compiled_here_except_what_the_recipe_skips(make_output: MakeOutput) -> None:
    python = Requirements(host=("python 3.11.*",))
    output = make_output(requirements=python, build={"skip_compile_pyc": ["*/templates/*.py"]})
    text = build_script(output, recipe=RECIPE, jobs=1)
    assert "xargs -0 -r -n 150 -P" in text, "the bytes go by what each process compiles: always as many files"
    assert "compileall" in text
    assert "templates" in text
    assert to_v1_recipe(output, [], "d")["build"]["python"] == {"skip_pyc_compilation": ["**/*.py"]}
    assert "compileall" not in build_script(make_output(requirements=python, noarch="python"), recipe=RECIPE, jobs=1)
    assert "compileall" not in build_script(make_output(), recipe=RECIPE, jobs=1)


def test_what_the_engine_sets_for_itself_is_gone(make_output: MakeOutput) -> None:
    text = build_script(make_output(), recipe=RECIPE, jobs=1, unset=["SSL_CERT_FILE", "SSL_CERT_DIR"])
    assert text.index("unset SSL_CERT_FILE SSL_CERT_DIR\n") < text.index("\nexport ")
    assert "unset" not in build_script(make_output(), recipe=RECIPE, jobs=1)


def test_each_line_is_passed_on_before_the_next_one() -> None:
    """What a script asks slipway for stands in a line of its own, and it waits for the answer."""
    script = f"{ONE_PIPE}\necho question\nread -r answer\necho $answer >&2\n"
    with subprocess.Popen(["bash", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"question\n"
        process.stdin.write(b"answer\n")
        process.stdin.close()
        assert process.stdout.read() == b"answer\n"


def test_only_utf8_is_passed_on() -> None:
    pieces = (
        b"a",
        b"\xc3\xbc",
        b"\xe2\x82\xac",
        b"\xf0\x9f\x98\x80",
        b"\xff",
        b"\x80",
        b"\xe2",
        b"\xc0\x80",
        b"\xed\xa0\x80",
    )
    lines = [b"".join(line) for line in product(pieces, repeat=3)]
    passed = subprocess.run(
        ["bash", "-c", f"{ONE_PIPE}\ncat"], input=b"\n".join(lines), capture_output=True, check=True
    ).stdout.split(b"\n")
    for line, found in zip(lines, passed, strict=True):
        try:
            line.decode()
        except UnicodeDecodeError:
            assert found == bytes(byte if byte < 0x80 else ord("?") for byte in line)
        else:
            assert found == line


def test_processes_that_end_while_they_are_looked_at_fail_nothing() -> None:
    function = FINISH[FINISH.index("slipway_end_output() {") : FINISH.index("trap slipway_finish")]
    gone = 'find() { command find "$@"; echo /proc/999999999/fd/1; return 1; }\n'
    script = f"set -euo pipefail\n{gone}{function}sleep 100 &\nslipway_end_output\necho done\n"
    ended = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout
    assert ended.splitlines() == ["ended sleep, which the script left running", "done"]
