"""The rules of Python packages; see test_rules.py."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from slipway.verify.policies import PythonPackage

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Kit


SITE = "lib/python3.11/site-packages"
INFO = f"{SITE}/good-1.0.dist-info"
MODULE: dict[str, bytes | str | Path] = {
    f"{SITE}/good/__init__.py": "",
    f"{INFO}/METADATA": "Metadata-Version: 2.1\nName: good\nVersion: 1.0\n",
    f"{INFO}/INSTALLER": "conda\n",
    f"{INFO}/RECORD": "good/__init__.py,,\n",
}
PYTHON = ["python >=3.11,<3.12.0a0", "python_abi 3.11.* *_cp311"]


def test_good_python_package(kit: Kit) -> None:
    points = {f"{INFO}/entry_points.txt": "[console_scripts]\ngood = good:main\n", "bin/good": "#!/bin/sh\n"}
    stubs = {f"{SITE}/good/__init__.pyi": "x: int\n", f"{SITE}/good/py.typed": ""}
    compiled = {f"{SITE}/good/_c.cpython-311-x86_64-linux-gnu.so": kit.library(name="_c.so")}
    caches = {f"{SITE}/good/__pycache__/__init__.cpython-311.pyc": b"\0"}
    assert kit.judge(kit.package({**MODULE, **points, **stubs, **compiled, **caches}, depends=PYTHON)) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({f"{INFO}/METADATA": None}, "is not there"),
        ({f"{INFO}/INSTALLER": None}, "is not there"),
        ({f"{INFO}/RECORD": None}, "is not there"),
        ({f"{INFO}/INSTALLER": "pip\n"}, "says `pip`"),
        ({f"{INFO}/METADATA": "Name: good\nVersion: 1.1\n"}, "says version 1.1; the package is 1.0"),
        ({f"{INFO}/METADATA": "Summary: x\n"}, "no Name or no Version"),
        ({f"{INFO}/direct_url.json": "{}"}, "says where it was built from"),
        ({f"{INFO}/entry_points.txt": "[console_scripts]\ngood=good:main\n"}, "the program `good`"),
        ({f"{INFO}/entry_points.txt": "good=good:main\n"}, "cannot be read"),
    ],
)
def test_python_metadata(kit: Kit, change: dict[str, str | None], message: str) -> None:
    files = {name: content for name, content in {**MODULE, **change}.items() if content is not None}
    assert message in kit.only(kit.judge(kit.package(files, depends=PYTHON)), "python-metadata").message


def test_python_module_that_pip_does_not_know(kit: Kit) -> None:
    path = kit.package({name: text for name, text in MODULE.items() if not name.startswith(INFO)}, depends=PYTHON)
    assert "good has no dist-info folder" in kit.only(kit.judge(path), "python-metadata", "warning").message
    expected = PythonPackage("good", "good")
    kit.policies = replace(kit.policies, python=replace(kit.policies.python, packages=(expected,)))
    assert "good has no dist-info folder" in kit.only(kit.judge(path), "python-metadata", "error").message


def test_python_distribution_of_another_name(kit: Kit) -> None:
    path = kit.package(MODULE, name="python-good", depends=PYTHON)
    assert "pip sees good, not python-good" in kit.only(kit.judge(path), "python-metadata", "warning").message
    other = kit.package(MODULE, name="python-good", version="7", depends=PYTHON)
    assert {finding.severity for finding in kit.judge(other)} == {"warning"}
    expected = PythonPackage("python-good", "good")
    kit.policies = replace(kit.policies, python=replace(kit.policies.python, packages=(expected,)))
    assert kit.judge(path) == []


def test_python_programs_that_the_policy_declares(kit: Kit) -> None:
    expected = PythonPackage("good", "good", console_scripts=("good",))
    kit.policies = replace(kit.policies, python=replace(kit.policies.python, packages=(expected,)))
    assert "no entry point" in kit.only(kit.judge(kit.package(MODULE, depends=PYTHON)), "python-metadata").message


def test_noarch_programs_are_made_when_it_is_installed(kit: Kit) -> None:
    files = {path.removeprefix("lib/python3.11/"): content for path, content in MODULE.items()}
    files["site-packages/good-1.0.dist-info/entry_points.txt"] = "[console_scripts]\ngood = good:main\n"
    link = b'{"noarch": {"type": "python", "entry_points": ["good = good:main"]}, "package_metadata_version": 1}'
    assert kit.judge(kit.package(files, depends=["python"], noarch=True, info={"link.json": link})) == []
    kit.only(kit.judge(kit.package(files, depends=["python"], noarch=True)), "python-metadata")


def test_python_stubs(kit: Kit) -> None:
    stubs: dict[str, bytes | str | Path] = {**MODULE, f"{SITE}/good/__init__.pyi": "x: int\n"}
    assert "no py.typed" in kit.only(kit.judge(kit.package(stubs, depends=PYTHON)), "python-stubs", "warning").message
    expected = PythonPackage("good", "good", stubs=("good/py.typed",))
    kit.policies = replace(kit.policies, python=replace(kit.policies.python, packages=(expected,)))
    assert kit.only(kit.judge(kit.package(MODULE, depends=PYTHON)), "python-stubs").where == "good/py.typed"


@pytest.mark.parametrize(
    "path",
    [
        f"{SITE}/good/_c.cpython-312-x86_64-linux-gnu.so",
        f"{SITE}/good/__pycache__/a.cpython-310.pyc",
        f"{SITE}/good/__pycache__/a.cpython-39.opt-1.pyc",
        "lib/python3.12/site-packages/good.txt",
    ],
)
def test_python_version(kit: Kit, path: str) -> None:
    finding = kit.only(kit.judge(kit.package({**MODULE, path: b"x"}, depends=PYTHON)), "python-version")
    assert "the package is for 3.11" in finding.message


def test_python_version_that_is_not_declared(kit: Kit) -> None:
    findings = kit.judge(kit.package(MODULE))
    assert {finding.rule for finding in findings} == {"python-version"}
    assert "no Python is declared" in findings[0].message


def test_python_version_of_a_package_for_all(kit: Kit) -> None:
    files = {path.removeprefix("lib/python3.11/"): content for path, content in MODULE.items()}
    files["site-packages/good/_c.so"] = kit.library(name="_c.so")
    finding = kit.only(kit.judge(kit.package(files, depends=["python"], noarch=True)), "python-version")
    assert "compiled, in a package for every Python" in finding.message


def test_python_version_of_python_itself(kit: Kit) -> None:
    """Nobody declares a dependency on oneself; a file for another Python is wrong here, too."""
    files = {"lib/python3.11/abc.py": "a = 1\n"}
    assert kit.judge(kit.package(files, name="python", version="3.11.7")) == []
    files["lib/python3.12/abc.py"] = "a = 1\n"
    kit.only(kit.judge(kit.package(files, name="python", version="3.11.7")), "python-version")
