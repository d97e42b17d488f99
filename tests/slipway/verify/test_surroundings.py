"""What is around a package: neighbours, the release before it, and the index it lies beside."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import ChannelError, IntegrityError
from slipway.base.events import Finding
from slipway.channel.folder import Channel
from slipway.channel.taken import SolvedPackage
from slipway.cli import main
from slipway.commands.verify import embedded_variant
from slipway.verify.findings import format_findings, sort_findings
from slipway.verify.indexed import check_index, read_index
from slipway.verify.rules import RULES
from slipway.verify.surroundings import find_previous
from slipway.verify.verifier import Verifier

if TYPE_CHECKING:
    from conftest import Kit


def solved(path: Path, name: str) -> SolvedPackage:
    """A package as a solver gives it."""
    return SolvedPackage(name, "1.0", "h0123456_0", "", 0, path.as_uri())


def test_neighbours_and_where_their_links_lead(kit: Kit) -> None:
    mutex = kit.package({"lib/libgomp.so.1": Path("libomp.so")}, name="_openmp_mutex")
    openmp = kit.package({"lib/libomp.so": kit.library(name="libomp.so")}, name="llvm-openmp")
    good = kit.package({"lib/libgood.so": kit.user_of("libgomp.so.1")}, depends=["_openmp_mutex", "llvm-openmp"])
    verifier = Verifier(kit.policies, kit.environ)
    facts = verifier.facts(good)
    packages = [solved(mutex, "_openmp_mutex"), solved(openmp, "llvm-openmp"), solved(good, "good")]
    around = verifier.surroundings(packages, facts)
    assert around.packages.keys() == {"_openmp_mutex", "llvm-openmp"}
    assert around.libraries == {"libgomp.so.1": "_openmp_mutex", "libomp.so": "llvm-openmp"}
    assert around.packages["_openmp_mutex"].targets == {"lib/libgomp.so.1": "libomp.so"}
    assert [finding.rule for finding in verifier.judge(facts, around)] == ["unused"], "one runtime, two names"


def test_previous_release(kit: Kit, tmp_path: Path) -> None:
    folder = tmp_path / "channel"
    subdir = folder / "linux-64"
    library = {"lib/libgood.so": kit.library()}

    def release(version: str, build: str, source: str) -> Path:
        content = {"lib/libgood.so": kit.library(source)}
        return kit.package(content, version=version, build=build, into=subdir)

    old = release("1.0", "mkl_haaaaaaa_0", "int a(void) { return 1; }")
    release("1.2", "openblas_hbbbbbbb_0", "int b(void) { return 1; }")
    last = release("1.2", "mkl_hccccccc_3", "int c(void) { return 1; }")
    later = release("2.0", "mkl_hddddddd_0", "int d(void) { return 1; }")
    os.utime(old, (2e9, 2e9))
    new = kit.facts(kit.package(library, version="1.3", build="mkl_h1234567_0"))
    assert find_previous(folder, new) == last
    assert find_previous(folder, kit.facts(later)) == last, "a package is not its own predecessor"
    assert find_previous(folder, kit.facts(old)) is None, "and a later one is none, either"
    same = kit.facts(kit.package(library, version="1.2", build="mkl_hccccccc_3"))
    assert find_previous(folder, same) == last, "what is built again takes the place of the last"
    assert find_previous(tmp_path / "nowhere", new) is None


def test_index(kit: Kit, tmp_path: Path) -> None:
    path = kit.package({"a": "a"})
    Channel(tmp_path / "channel").publish([("linux-64", path)])
    published = tmp_path / "channel/linux-64" / path.name
    index = read_index(published.parent)
    assert index is not None
    facts = kit.facts(published)
    check_index(published, facts, index)
    for key, value in (("sha256", "0" * 64), ("size", 1), ("version", "9"), ("build", "0")):
        with pytest.raises(IntegrityError, match=key) as raised:
            check_index(published, facts, {path.name: {**index[path.name], key: value}})
        assert raised.value.where == str(published)
    with pytest.raises(ChannelError, match="whose index does not know it"):
        check_index(published, facts, {})
    assert read_index(tmp_path) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"packages.conda": []}', '{"packages.conda": {"a": 1}}', "\xff"])
def test_damaged_index(tmp_path: Path, text: str) -> None:
    (tmp_path / "repodata.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(ChannelError, match="the channel's index is damaged"):
        read_index(tmp_path)


# ---------------------------------------------------------------------------------------------------- the command


def test_command(kit: Kit, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = kit.package({"share/a": "a"})
    arguments = ["verify", "--alone", "--dist", str(tmp_path / "dist")]
    assert main([*arguments, str(good)]) == 0
    bad = kit.package({"share/a": "/srv/bld/rattler-build_x/work/a"}, name="bad")
    capsys.readouterr()
    assert main([*arguments, "--json", str(good), str(bad)]) == 9
    findings = json.loads(capsys.readouterr().out)
    assert [(found["rule"], found["package"]) for found in findings if found["rule"] == "build-path"] == [
        ("build-path", "bad-1.0-h0123456_0.conda")
    ]
    assert {found["rule"] for found in findings} == {"build-path", "shared-file"}
    assert set(findings[0]) == {"severity", "package", "rule", "where", "message", "cure", "detail"}, "as --help says"
    assert all(found["cure"] and found["where"] and found["severity"] == "error" for found in findings)


def test_command_in_an_environment(kit: Kit, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Dependencies come from the channels named; a solver looks for them."""
    zlib = kit.package({"lib/libz.so.1": kit.library(name="libz.so.1")}, name="zlib")
    beside = tmp_path / "beside"
    Channel(beside).publish([("linux-64", zlib)])
    good = kit.package({"lib/libgood.so": kit.user_of("libz.so.1")}, depends=["zlib"])
    arguments = ["verify", str(good), "--channel", str(beside), "--dist", str(tmp_path / "dist")]
    assert main(arguments) == 0, capsys.readouterr().out
    alone = kit.package({"lib/libgood.so": kit.user_of("libz.so.1")})
    assert main([*arguments[:1], str(alone), *arguments[2:]]) == 9
    assert "needs libz.so.1, which nothing brings along" in capsys.readouterr().out
    unsolvable = kit.package({"a": "a"}, depends=["nowhere >=3"], name="lost")
    assert main([*arguments[:1], str(unsolvable), str(good), *arguments[2:]]) == 9
    answer = capsys.readouterr().out
    assert "there is no environment for it" in answer
    assert "nowhere" in answer
    assert "verify good-1.0-h0123456_0.conda" in answer, "the others are judged all the same"


def test_command_refuses_a_package_that_is_not_the_indexed_one(
    kit: Kit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dist = tmp_path / "dist"
    path = kit.package({"a": "a"})
    Channel(dist / "channel").publish([("linux-64", path)])
    assert main(["verify", "--alone", "--dist", str(dist)]) == 0
    published = dist / "channel/linux-64" / path.name
    published.unlink()
    kit.package({"a": "b"}, into=published.parent)
    assert main(["verify", "--alone", "--dist", str(dist)]) == 6
    error = capsys.readouterr().err
    assert "the package is not the one that was indexed: sha256" in error
    assert f"  at: {published}" in error
    (published.parent / "repodata.json").write_text("{", encoding="utf-8")
    assert main(["verify", "--alone", "--dist", str(dist)]) == 12


def test_rules_say_what_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--rules"]) == 0
    lines = capsys.readouterr().out.splitlines()[2:]
    assert len(lines) == len(RULES) + 2
    assert all(len(line.split()) > 5 and line.endswith(".") for line in lines)


def test_table(kit: Kit) -> None:
    note = Finding("note", "a", "symbols", "lib/a.so", "changed", "", "+ one\n- two")
    warning = Finding("warning", "a", "licence", "x", "w", "name one")
    error = Finding("error", "a", "paths", "y", "e", "build it again")
    assert sort_findings([note, warning, error]) == [error, warning, note]
    lines = format_findings([note, warning, error]).splitlines()
    assert [line.split()[0] for line in lines[2:5]] == ["error", "warning", "note"]
    assert lines[5:] == [
        "",
        "lib/a.so (symbols)",
        "  + one",
        "  - two",
        "",
        "paths: build it again",
        "licence: name one",
    ]
    assert format_findings([]) == ""


def test_tables_of_several_packages(kit: Kit) -> None:
    findings = [Finding("error", name, "paths", "y", "e", "c") for name in ("a", "b", "b")]
    lines = format_findings(findings).splitlines()
    assert [line for line in lines if ":" in line] == ["a: 1 error", "paths: c", "b: 2 errors", "paths: c"]


def test_table_for_a_terminal() -> None:
    """No line is wider than the terminal, none moves its cursor, and hundreds of a sort do not flood it."""
    where = "lib/python3.11/site-packages/a_package_with_a_name/and_a_module.cpython-311-x86_64-linux-gnu.so"
    message = "needs GLIBCXX_3.4.33 (libstdcxx 14.1.0), and `libstdcxx` is not declared \x1b[2J"
    findings = [Finding("error", "a", "version-floor", f"{where}.{number:03}", message, "") for number in range(300)]
    lines = format_findings(findings, 76).splitlines()
    assert max(map(len, lines)) <= 76
    assert "\x1b" not in "".join(lines)
    assert len(lines) < 100
    assert "and 288 more" in " ".join(" ".join(lines).split())
    assert len(format_findings(findings[:2]).splitlines()) == 4, "in a pipe a finding is a line"


@pytest.mark.parametrize(
    ("depends", "variant"),
    [
        ([], (None, None, None)),
        (["python >=3.10"], ("3.11", None, None)),
        (["python"], (None, None, None)),
        (["python >=3.12,<3.13.0a0", "python_abi 3.12.* *_cp312"], ("3.12", None, None)),
        (["python >=3.11.4,<3.12.0a0"], ("3.11", None, None)),
        (["python 3.8.*"], ("3.8", None, None)),
        (["cuda-version >=13.0,<14", "libopenblas >=0.3"], (None, "openblas", "13.0")),
        (["libtorch-cuda 2.2.0 cuda130_h1234567_0"], (None, None, "13.0")),
    ],
)
def test_part_of_the_embedded_channel(
    kit: Kit, depends: list[str], variant: tuple[str | None, str | None, str | None]
) -> None:
    found = embedded_variant(kit.facts(kit.package({"a": "a"}, depends=depends)))
    keys = ("python", "blas_impl", "cuda_compiler_version")
    assert found == {key: value for key, value in zip(keys, variant, strict=True) if value is not None}
