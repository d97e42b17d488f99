"""Completions and the manual page, and what every command says in JSON."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from slipway.base.checkout import PACKAGE_ROOT
from slipway.base.proc import own_python
from slipway.cli import main
from slipway.commands._parsers import actions_of, command_names
from slipway.commands._whole import whole_parser
from slipway.commands.man import make_page

if TYPE_CHECKING:
    from pathlib import Path

ASK = """
. "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
"$(complete -p slipway | sed 's/.*-F \\([^ ]*\\).*/\\1/')" slipway "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def bash_completion(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("completion") / "slipway.bash"
    path.write_text(printed("completion", "bash"), encoding="utf-8")
    return path


def printed(*words: str) -> str:
    program = f"import sys; from slipway.cli import main; sys.exit(main({list(words)!r}))"
    environ = {"PYTHONPATH": str(PACKAGE_ROOT), "HOME": "/nonexistent"}
    command = [*own_python(), "-c", program]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=True).stdout


def complete(script: Path, *words: str) -> set[str]:
    answer = subprocess.run(
        ["bash", "-c", ASK, "bash", str(script), *words], capture_output=True, text=True, check=True, cwd=script.parent
    )
    return set(answer.stdout.split())


def test_bash_completes_commands_options_and_actions(bash_completion: Path) -> None:
    assert set(command_names()) <= complete(bash_completion, "slipway", "")
    assert complete(bash_completion, "slipway", "conv") == {"convert"}
    assert complete(bash_completion, "slipway", "ship", "--no-ins") == {"--no-install"}
    assert {"write", "list", "run"} <= complete(bash_completion, "slipway", "ci", "")
    assert complete(bash_completion, "slipway", "ci", "write", "--gi") == {"--github", "--gitlab"}
    (bash_completion.parent / "folder").mkdir()
    assert "folder" in complete(bash_completion, "slipway", "plan", "--dist", "fol")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_knows_every_command(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert [name for name in command_names() if name not in script] == []
    found = shutil.which(shell)
    if found is not None:
        subprocess.run(
            [found, "-n", "-c", script] if shell != "zsh" else [found, "-n"], input=script, text=True, check=True
        )


def test_other_shells_are_refused() -> None:
    assert main(["completion", "ed"]) == 2


def test_the_manual_has_every_command_and_option() -> None:
    page = list(make_page())
    text = "\n".join(page).replace("\\-", "-")
    for name, parser in actions_of(whole_parser()):
        assert f".SS slipway {name}" in text
        for inner in (parser, *(one for _, one in actions_of(parser))):
            for action in inner._actions:
                assert all(option in text for option in action.option_strings)
    assert [line for line in page if line.startswith("'")] == []


def test_the_manual_is_what_man_reads() -> None:
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("needs groff")
    command = [groff, "-man", "-Tascii", "-ww"]
    page = "\n".join(make_page())
    answer = subprocess.run(command, input=page, text=True, capture_output=True, check=True)
    assert [line for line in answer.stderr.splitlines() if "can't break line" not in line] == []
    plain = re.sub(r"\x1b\[[\d;]*m|.\x08", "", answer.stdout)
    assert "slipway convert" in plain
    assert "--no-install" in plain


def test_every_command_takes_json() -> None:
    without = [
        name
        for name, parser in actions_of(whole_parser())
        for inner in [one for _, one in actions_of(parser)] or [parser]
        if "--json" not in inner._option_string_actions
    ]
    assert without == ["debug"], "which gives the terminal to a shell"


def answer_of(words: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    code = main(words)
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert answer["exit_code"] == code
    assert answer["command"] == words
    return answer


def test_an_answer_of_what_was_done(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "a"\nversion = "1"\n', encoding="utf-8")
    answer = answer_of(["init", str(tmp_path), "--json"], capsys)
    assert answer["exit_code"] == 0
    assert "ci/recipe/meta.yaml: written" in answer["lines"]
    assert answer["error"] is None
    again = answer_of(["init", str(tmp_path), "--json"], capsys)
    assert again["error"]["message"] == "there is a recipe already"
    assert again["error"]["where"] == str(tmp_path / "ci/recipe")


def test_an_answer_holds_what_was_printed(capsys: pytest.CaptureFixture[str]) -> None:
    answer = answer_of(["schema", "slipway", "--json"], capsys)
    assert json.loads(answer["output"])["title"] == "slipway.yaml beside a recipe"


def test_failures_of_commands_with_an_answer_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "recipe.yaml").write_text("package: {name: a, version: '1'}\nbuld: {}\n", encoding="utf-8")
    answer = answer_of(["render", str(tmp_path), "--json"], capsys)
    assert (answer["exit_code"], answer["error"]["code"]) == (3, "recipe-yaml")
