"""The policy files: all load, and what is wrong in one is named with its file and key."""

from __future__ import annotations

import re
import shutil
from dataclasses import fields
from pathlib import Path

import pytest

from slipway.verify.policies import POLICY_FOLDER, Policies, PolicyError, load_policies
from slipway.verify.traces import Tracer, machine_patterns


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the policies."""
    return Path(shutil.copytree(POLICY_FOLDER, tmp_path / "policies"))


def test_every_file_is_read() -> None:
    names = {field.name for field in fields(Policies)}
    assert {path.stem for path in POLICY_FOLDER.glob("*.yaml")} == names
    load_policies()


def test_patterns_find_quickly_only_what_they_match() -> None:
    """A needle that no match holds would hide the pattern for good: each is in its expression's literal text."""
    for pattern in load_policies().traces.patterns:
        re.compile(pattern.regex.encode())
        assert pattern.needles, pattern.name


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("openmp", "runtimes: libgomp.so.1\n", "`runtimes`: expected a list, found `libgomp.so.1`"),
        ("openmp", "runtimes: [1]\n", "`runtimes[0]`: expected text, found `1`"),
        ("openmp", "runtime: []\n", "unknown key `runtime`"),
        ("openmp", "{}\n", "the key `runtimes` is missing"),
        ("openmp", "- a\n", "`the file`: expected keys and values"),
        ("openmp", "a: [\n", "not valid YAML"),
        ("traces", "patterns: []\nfiles: {path: fatal}\ninfo: {}\n", "`files.path`: expected one of error, warning"),
        (
            "sizes",
            "budgets: [{package: a, reason: b, package_bytes: many}]\n",
            "`budgets[0].package_bytes`: expected a whole number",
        ),
        ("sizes", "budgets: [{package: a}]\n", "the key `budgets[0].reason` is missing"),
        ("linking", "system: [a]\ndriver: {}\nimplied: []\nunused: []\n", "`system`: expected keys and values"),
    ],
)
def test_broken_policy(folder: Path, name: str, text: str, message: str) -> None:
    (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(PolicyError) as raised:
        load_policies(folder)
    assert message in raised.value.message
    assert raised.value.where.rpartition(":")[0] == str(folder / f"{name}.yaml")


def test_what_a_folder_lacks_is_ours(folder: Path) -> None:
    (folder / "sizes.yaml").unlink()
    assert load_policies(folder) == load_policies()


def test_what_this_machine_knows() -> None:
    patterns = machine_patterns({"HOME": "/root", "API_KEY": "a" * 20, "TOKENIZERS": "b" * 20, "SECRET": "short"})
    assert [pattern.sort for pattern in patterns] == ["user", "secret"]
    tracer = Tracer(patterns)
    assert [trace.excerpt for trace in tracer.traces(b"in /root/x and " + b"a" * 20)] == [
        "/root/x",
        "aaaa... (20 bytes)",
    ]
    assert tracer.traces(b"in /chroot/x") == ()
    assert machine_patterns({"HOME": "/"}) == ()
