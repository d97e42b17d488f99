"""The command line: help without imports, typed errors as text, distinct exit codes."""

from __future__ import annotations

import errno
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING

import pytest

import slipway
from slipway import cli
from slipway.base import errors
from slipway.console import print_error

if TYPE_CHECKING:
    import argparse


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    pinned = (Path(__file__).parents[2] / "ci/requirements.lock").read_text(encoding="utf-8")
    said = capsys.readouterr().out
    assert said.startswith(f"slipway {slipway.__version__} (")
    for name in ("py-rattler-build", "py-rattler"):
        found = re.search(rf"{name} ([\d.]+)", said)
        assert found is not None
        assert f"{name}=={found[1]}" in pinned
    changes = (Path(__file__).parents[2] / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## slipway {slipway.__version__}" in changes


def test_help_lists_every_command_with_its_summary(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    text = capsys.readouterr().out
    for name in cli.command_names():
        assert cli.command_summary(name), f"`{name}` has no docstring"
        assert f"  {name} " in text
    assert {"ship", "build", "install", "verify", "publish", "doctor", "test"} <= set(cli.command_names())


def test_unknown_command_suggests_a_close_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["shipp"]) == errors.UsageError.exit_code
    assert capsys.readouterr().err.splitlines() == [
        "error: there is no command `shipp`",
        "  hint: did you mean `ship`?",
    ]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["plan", "--dits", "there"], ["unrecognized arguments: --dits", "did you mean `--dist`?"]),
        (["plan", "--fortran", "12"], ["unrecognized arguments: --fortran", "`--variant KEY=VALUE`"]),
        (["doctor", "--fortran"], ["unrecognized arguments: --fortran", "`slipway doctor --help`"]),
        (["ship", "--jobs", "many"], ["argument --jobs: `many` is no whole number", "`slipway ship --help`"]),
    ],
)
def test_options_that_are_not_understood(words: list[str], told: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(words) == errors.UsageError.exit_code
    error, hint = capsys.readouterr().err.splitlines()
    assert error.startswith(f"error: {told[0]}")
    assert hint.startswith("  hint: ")
    assert told[1] in hint


def _exit_codes() -> list[int]:
    return [kind.exit_code for kind in errors.SlipwayError.__subclasses__()] + [errors.INTERRUPTED_EXIT_CODE]


def test_exit_codes_are_distinct_and_documented() -> None:
    codes = _exit_codes()
    assert len(set(codes)) == len(codes)
    for code in codes:
        assert f" {code} " in cli.EXIT_CODES.replace("\n", " "), f"exit code {code} is not documented"


def _fail_with(monkeypatch: pytest.MonkeyPatch, problem: BaseException) -> int:
    module = ModuleType("fake")

    def execute(arguments: argparse.Namespace, reporter: object) -> int:
        raise problem

    module.add_arguments = lambda parser: None  # type: ignore[attr-defined]
    module.execute = execute  # type: ignore[attr-defined]
    monkeypatch.setattr(cli, "load_command", lambda name: module)
    return cli.main(["anything"])


def test_error_is_printed_with_place_and_advice(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    problem = errors.RecipeError("bad selector", where="meta.yaml:3", hint="close the bracket")
    assert _fail_with(monkeypatch, problem) == 3
    assert capsys.readouterr().err == "error: bad selector\n  at: meta.yaml:3\n  hint: close the bracket\n"


def test_interrupt_is_no_error(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert _fail_with(monkeypatch, KeyboardInterrupt()) == 130
    assert "goes on from here" in capsys.readouterr().err


def test_full_disk_has_its_own_code(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert _fail_with(monkeypatch, OSError(errno.ENOSPC, "No space left on device", "/dist/x")) == 10
    assert "  at: /dist/x" in capsys.readouterr().err


def test_full_disk_that_the_system_does_not_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Writing to an open file tells no name: whichever place of the command's has no room is it."""
    full = tmp_path / "full"
    full.mkdir()
    free = {str(full): 0}
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=free.get(str(path), 1 << 40)))
    monkeypatch.setenv("XDG_CACHE_HOME", str(full))
    (full / "slipway").mkdir()
    free[str(full / "slipway")] = 0
    problem = OSError(errno.ENOSPC, "No space left on device")
    problem.add_note("5.0 MB were to be written")
    assert _fail_with(monkeypatch, problem) == 10
    error = capsys.readouterr().err
    assert f"  at: {full / 'slipway'}\n" in error
    assert error.startswith("5.0 MB were to be written\n")


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS])
def test_a_folder_that_cannot_be_written_to(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], number: int
) -> None:
    assert _fail_with(monkeypatch, OSError(number, os.strerror(number), "/dist/x")) == 11
    error = capsys.readouterr().err
    assert "  at: /dist/x" in error
    assert "--dist" in error


def test_bug_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ZeroDivisionError):
        _fail_with(monkeypatch, ZeroDivisionError())


def test_detail_comes_before_the_message() -> None:
    stream = io.StringIO()
    print_error(errors.BuildError("it failed", detail="line 1\nline 2\n"), stream)
    assert stream.getvalue() == "line 1\nline 2\nerror: it failed\n"


def test_command_line_starts_without_heavy_imports() -> None:
    import subprocess

    program = "import sys, slipway.cli; print([name for name in ('rich', 'rattler', 'yaml') if name in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env={
        "PYTHONPATH": ":".join(sys.path),
    })  # fmt: skip
    assert answer.stdout == "[]\n"


def test_a_reader_that_leaves_early_is_no_error() -> None:
    """As in ``slipway ci list --json | head -1``: nothing is said about it."""
    command = [sys.executable, "-P", "-s", "-m", "slipway", "ci", "list", "--json"]
    environ = os.environ | {"PYTHONPATH": str(Path(cli.__file__).parents[1])}
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 1
