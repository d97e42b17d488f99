"""Loading descriptions: what is wrong is named with its file and key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from slipway.base import errors
from slipway.bootstrap.choices import read_cuda
from slipway.bootstrap.description import PLACEHOLDER, PackageDescription, instantiate, load

if TYPE_CHECKING:
    from pathlib import Path

GOOD = """\
name: toy
version: "1.0"
summary: A toy
license: MIT
depends:
  - libgcc >=12
run_exports:
  weak:
    - toy >=${version}
sources:
  - deb: toy-dev
    licenses:
      - usr/share/doc/toy/copyright
    files:
      - take: "usr/lib/x/lib*.so"
        to: "lib/lib*.so"
        mode: "755"
texts:
  - path: lib/toy.pc
    content: "prefix=${placeholder} $${libdir}"
"""


def read(
    tmp_path: Path, text: str, *, name: str = "toy", python: str | None = None, cuda: dict[str, str] | None = None
) -> PackageDescription:
    path = tmp_path / f"{name}.yaml"
    path.write_text(text)
    full = python and f"{python}.7"
    return instantiate(load(path, "digest"), python=python, full_python=full, cuda=cuda, files=tmp_path)


def test_everything_is_filled_in(tmp_path: Path) -> None:
    toy = read(tmp_path, GOOD)
    assert (toy.name, toy.version, toy.depends, toy.subdir) == ("toy", "1.0", ("libgcc >=12",), "linux-64")
    assert toy.run_exports.weak == ("toy >=1.0",)
    assert toy.texts[0].content == f"prefix={PLACEHOLDER} ${{libdir}}"
    assert toy.sources[0].files[0].target("usr/lib/x/libtoy.so") == "lib/libtoy.so"
    assert toy.sources[0].files[0].permissions == 0o755


def test_cuda_variables_and_sources(tmp_path: Path) -> None:
    source = GOOD[GOOD.index("  - deb") : GOOD.index("texts:")]
    wheel = source.replace("deb: toy-dev", "wheel: nvidia-toy${cu}\n    cuda:\n      - '13'")
    text = GOOD.replace(source, wheel + source.replace("toy-dev", "toy-dev\n    cuda:\n      - '12.4'"))
    text = text.replace("toy >=${version}", "toy >=${cublas},<${cublas_next}.0a0")
    text = text.replace("gcc >=12", "x.so.${cublas_major}")
    for version, taken in (("12.4", ["toy-dev"]), ("12.9", []), ("13.0", ["nvidia-toy"]), ("13.5", ["nvidia-toy"])):
        data = tmp_path / "cuda"
        data.mkdir(exist_ok=True)
        (data / f"{version}.yaml").write_text("wheels: ''\nversions:\n  cublas: '11.6.1'\n")
        toy = read(tmp_path, text, cuda=read_cuda(version, tmp_path))
        assert toy.run_exports.weak == ("toy >=11.6.1,<12.0a0",)
        assert toy.depends == ("libx.so.11",)
        assert [found.name for found in toy.sources] == taken


def test_python_variables(tmp_path: Path) -> None:
    text = GOOD.replace('version: "1.0"', 'version: "${full_python}"\nper: python').replace("libgcc", "py${py}")
    toy = read(tmp_path, text, python="3.11")
    assert (toy.version, toy.depends, toy.build_prefix) == ("3.11.7", ("py311 >=12",), "py311_")


@pytest.mark.parametrize(
    ("python", "ending"), [("3.10", "_cpython"), ("3.12", "_cpython"), ("3.13", "_cp313"), ("3.14", "_cp314")]
)
def test_python_builds_end_as_conda_forge_has_them(tmp_path: Path, python: str, ending: str) -> None:
    """Recipes that are pinned to conda-forge ask for it: ``python 3.13.* *_cp313``."""
    text = GOOD.replace("license: MIT", "license: MIT\nper: python\nbuild_suffix: _${python_build}")
    assert read(tmp_path, text, python=python).build_suffix == ending


@pytest.mark.parametrize(
    ("old", "new", "where", "message"),
    [
        ("summary: A toy", "summery: A toy", "summery", "unknown key `summery`"),
        ("summary: A toy\n", "", "summary", "the key `summary` is missing"),
        ("  - deb: toy-dev", "  - install: false", "sources[0]", "a source has exactly one of `wheel`, `deb`,"),
        ("license: MIT", "license: MIT\nfoo: 1", "foo", "unknown key `foo`"),
        ('version: "1.0"', "version: 1.0", "version", "expected text, found `1.0`"),
        ("weak:", "week:", "run_exports.week", "unknown key `run_exports.week`"),
        (
            "  - deb: toy-dev",
            "  - dob: toy-dev",
            "sources[0].dob",
            "unknown key `sources[0].dob`",
        ),
        ("  - deb: toy-dev", "  - deb: a\n    wheel: b", "sources[0]", "a source has exactly one of"),
        ('to: "lib/lib*.so"', 'to: "lib/*/*.so"', "sources[0].files[0].to", "`lib/*/*.so` has more wildcards than"),
        ('mode: "755"', 'mode: "abc"', "sources[0].files[0].mode", "expected three octal digits such as `755`"),
        ('mode: "755"', "mod: 755", "sources[0].files[0].mod", "unknown key `sources[0].files[0].mod`"),
        ("  - libgcc >=12", "  - 12", "depends[0]", "expected text, found `12`"),
        ("${version}", "${verson}", "run_exports.weak[0]", "unknown variable `${verson}`"),
        ("name: toy", "name: tay", "name", "the file is called `toy.yaml`, but the package `tay`"),
        ("    licenses:\n      - usr/share/doc/toy/copyright\n", "", "sources", "no source names its `licenses`"),
        ("sources:", "virtual: 3\nsources:", "virtual", "expected true or false, found `3`"),
        ("content:", "file: nothing.pc\n    content:", "texts[0].content", "a text has either `content` or `file`"),
        ("sources:", "per: rust\nsources:", "per", "expected one of python, cuda, found `rust`"),
        ("sources:", "when: {cudo: ['13.0']}\nsources:", "when.cudo", "unknown key `when.cudo`"),
        ("depends:\n  - libgcc >=12", "depends: libgcc", "depends", "expected a list, found `libgcc`"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, old: str, new: str, where: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(errors.ChannelError) as caught:
        read(tmp_path, GOOD.replace(old, new))
    assert message in caught.value.message
    assert f"`{where}`" in caught.value.message or where in message
    path, _, line = str(caught.value.where).rpartition(":")
    assert path == str(tmp_path / "toy.yaml")
    assert 1 <= int(line) <= len(GOOD.splitlines()) + 1


def test_broken_yaml_names_the_line(tmp_path: Path) -> None:
    with pytest.raises(errors.ChannelError) as caught:
        read(tmp_path, "name: toy\nversion: '1.0\n")
    assert caught.value.where == f"{tmp_path / 'toy.yaml'}:3"


def test_a_package_of_nothing_must_say_so(tmp_path: Path) -> None:
    text = "name: toy\nversion: '1'\nsummary: s\nlicense: MIT\n"
    with pytest.raises(errors.ChannelError, match="nothing goes into this package"):
        read(tmp_path, text)
    assert read(tmp_path, text + "virtual: true\n").virtual


def test_a_file_that_is_missing(tmp_path: Path) -> None:
    text = GOOD.replace('content: "prefix=${placeholder} $${libdir}"', "file: gone.pc")
    with pytest.raises(errors.ChannelError, match=r"there is no file `.*gone\.pc`"):
        read(tmp_path, text)
