"""What is written is so: slipway takes the commands, the files that are named are there, links lead somewhere."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slipway.cli import command_names

if TYPE_CHECKING:
    from collections.abc import Iterator

CHECKOUT = Path(__file__).resolve().parents[2]
DOCUMENTS = [
    *(CHECKOUT / name for name in ("README.md", "CONTRIBUTING.md", "src/ARCHITECTURE.md")),
    *sorted(path for path in (CHECKOUT / "docs").glob("*.md") if path.name not in ("operators.md", "solver-truth.md")),
    CHECKOUT / "ci/slipway/bootstrap/data/README.md",
]
COMMAND = re.compile(r"(?:\./)?slipway ([a-z].*)")
NAMED = re.compile(r"`((?:ci|tests|docs|recipe|src|bench|examples|patches|\.github|\.gitlab)/[\w./*-]*)`")
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")


def code_of(text: str) -> Iterator[str]:
    """Lines of indented blocks without their comments, and what stands in backticks."""
    for line in text.splitlines():
        if line.startswith("    ") and not line.lstrip().startswith(("-", "*")):
            yield re.sub(r"\s+#.*", "", line.strip())
    yield from re.findall(r"`([^`\n]+)`", text)


def commands() -> list[tuple[str, str]]:
    found = {
        (document.relative_to(CHECKOUT).as_posix(), match[1])
        for document in DOCUMENTS
        for code in code_of(document.read_text(encoding="utf-8"))
        if (match := COMMAND.fullmatch(code)) and match[1].split()[0] in command_names()
    }
    return sorted(found)


def test_commands_are_found() -> None:
    named = {document for document, _ in commands()}
    assert {"README.md", "CONTRIBUTING.md", "docs/ci.md"} <= named


@pytest.mark.parametrize(("document", "command"), commands())
def test_slipway_takes_the_command(document: str, command: str) -> None:
    name, *words = shlex.split(command.replace("[", "").replace("]", ""))
    parser = argparse.ArgumentParser(prog=f"slipway {name}")
    parser.set_defaults(words=words)
    importlib.import_module(f"slipway.commands.{name}").add_arguments(parser)
    if not words:
        return  # the command is meant, not a line to type
    numbers = {"N": "2", "GB": "2"}
    try:
        parser.parse_args([numbers.get(word, word) for word in words])
    except SystemExit as end:
        # Sentences name an option or an action alone, such as `slipway ci job`.
        with contextlib.suppress(SystemExit):
            parser.parse_args([*words, "--help"])
            raise AssertionError(f"{document}: slipway {command}") from end
        known = parser.format_help()
        assert all(word in known for word in words if word.startswith("-")), f"{document}: slipway {command}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_what_is_named_is_there(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    for name in NAMED.findall(text):
        assert "NNNN" in name or list(CHECKOUT.glob(name.rstrip("/"))), f"{name} is not there"
    for target in LINK.findall(text):
        if "://" not in target:
            assert (document.parent / target).exists(), f"the link to {target} leads nowhere"


def test_packages_of_the_checkout_are_described() -> None:
    """The table of folders names every folder that git has at the top."""
    text = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    for name in ("recipe", "patches", "src", "ci/slipway", "tests", "bench", "examples", "docs"):
        assert f"`{name}/`" in text
