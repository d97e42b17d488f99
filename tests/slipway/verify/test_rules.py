"""Each rule has a package that breaks it, and nothing else; and one next to it that is right."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slipway.verify.findings import shared_files
from slipway.verify.policies import Budget
from slipway.verify.rules import RULES

if TYPE_CHECKING:
    from conftest import Kit
    from slipway.base.events import Finding

GLIBC = "__glibc >=2.28,<3.0.a0"


def test_good_package(kit: Kit) -> None:
    files = {"lib/libgood.so": kit.library(), "share/good.txt": "fine\n"}
    assert kit.judge(kit.package(files, depends=[GLIBC])) == []


def test_every_rule_has_a_test() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*rules.py"))
    assert [rule for rule in (*RULES, "shared-file") if f'"{rule}"' not in text] == []


# ---------------------------------------------------------------------------------------------------- contents


@pytest.mark.parametrize("other", ["share/A.txt", "SHARE/a.txt", "share/STRASSE", "share/a.txt/../A.TXT"])
def test_names_that_some_file_systems_take_for_one(kit: Kit, other: str) -> None:
    facts = kit.facts(kit.package({"share/a.txt": "a", "share/stra\u00dfe": "b"}))
    beside = replace(facts.files[0], path=other.replace("a.txt/../", ""))
    on_linux = replace(facts, files=(*facts.files, beside))
    assert not [finding for finding in kit.judge(on_linux) if finding.rule == "names"]
    for more in ({"subdir": "noarch", "noarch": "generic"}, {"subdir": "osx-arm64"}, {"subdir": "win-64"}):
        elsewhere = replace(on_linux, index={**facts.index, **more})
        assert "in nothing but case" in kit.only(kit.judge(elsewhere), "names").message


def test_paths_name_another_content(kit: Kit) -> None:
    facts = kit.facts(kit.package({"share/a.txt": "a"}))
    changed = replace(facts, files=(replace(facts.files[0], promised_sha256="0" * 64),))
    assert "not what paths.json promises" in kit.only(kit.judge(changed), "paths").message


def test_paths_name_what_is_not_there(kit: Kit) -> None:
    listed = b'{"paths": [{"_path": "share/gone.txt", "path_type": "hardlink"}], "paths_version": 1}'
    facts = kit.facts(kit.package({"share/a.txt": "a"}))
    assert facts.files[0].present
    made = _with_info(kit, "info/paths.json", listed)
    assert {finding.where for finding in made} == {"share/gone.txt", "share/a.txt"}
    assert {finding.rule for finding in made} == {"paths"}


def _with_info(kit: Kit, name: str, content: bytes) -> list[Finding]:
    """Judge a package of one file, with one document of its metadata replaced."""
    from slipway.channel import package_writer as writer

    original = writer._add_info

    def patched(tar: object, metadata: dict[str, bytes]) -> None:
        original(tar, {**metadata, name.removeprefix("info/"): content})  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writer, "_add_info", patched)
        return kit.judge(kit.package({"share/a.txt": "a"}))


@pytest.mark.parametrize("mode", [0o4755, 0o2755, 0o666])
def test_dangerous_mode(kit: Kit, mode: int) -> None:
    facts = kit.facts(kit.package({"bin/tool": "#!/bin/sh\n"}))
    changed = replace(facts, files=(replace(facts.files[0], mode=mode),))
    assert stat.filemode(mode)
    kit.only(kit.judge(changed), "modes")


def test_truncated_library(kit: Kit) -> None:
    content = kit.library()
    finding = kit.only(kit.judge(kit.package({"lib/libgood.so": content[: len(content) // 2]})), "broken-elf")
    assert finding.where == "lib/libgood.so"


@pytest.mark.parametrize(
    "text",
    [
        "/srv/ci/bld/rattler-build_good/work/source.c",
        "/opt/conda/conda-bld/good_1700000000000/work/a.c",
        "/x/env_placehold_placehold_placehold/lib",
        "/tmp/pip-req-build-abc123/setup.py",
    ],
)
def test_path_of_the_build(kit: Kit, text: str) -> None:
    for content in (f"made in {text}\n", b"\x7fNOTELF\0\xff" + text.encode() + b"\0"):
        finding = kit.only(kit.judge(kit.package({"share/a": content})), "build-path")
        assert text in finding.message


def test_path_of_the_build_in_the_metadata(kit: Kit) -> None:
    path = kit.package({"share/a": "a"}, info={"recipe/log.txt": b"cd /srv/bld/rattler-build_good/work\n"})
    assert kit.only(kit.judge(path), "build-path", "warning").where == "info/recipe/log.txt"


def test_declared_prefix_is_no_path_of_the_build(kit: Kit) -> None:
    placeholder = "/prefix" + "_placehold" * 8
    assert kit.judge(kit.package({"share/a": f"prefix={placeholder}\n"})) == []
    binary = kit.package({"share/a": f"\0prefix={placeholder}\0"})
    assert "patched on installation" in kit.only(kit.judge(binary), "build-path", "warning").message


@pytest.mark.parametrize("text", ["/home/maria/src/good.c", "/Users/maria/src/good.c", "/home/builder-of-tests/x.c"])
def test_name_of_the_user(kit: Kit, text: str) -> None:
    finding = kit.judge(kit.package({"share/a": f'file "{text}"'}))[0]
    assert (finding.rule, finding.severity) == ("user-name", "error")
    assert text in finding.message


def test_home_folder_elsewhere(kit: Kit) -> None:
    kit.environ = {"HOME": "/var/lib/ci"}
    kit.only(kit.judge(kit.package({"share/a": "see /var/lib/ci/notes"})), "user-name")
    assert kit.judge(kit.package({"share/a": "see /usr/var/lib/ci/notes and /home/user/x"})) == []


SECRETS = {
    "a private key": "-----BEGIN RSA " + "PRIVATE KEY-----\n" + "MIIEow" * 12 + "\n",
    "an access key of AWS": "key = AKIA" + "Q7ZXW3VNBT5KLM2P",
    "a token of GitHub": "ghp_" + "a1B2" * 9,
    "a token of GitLab": "glpat-" + "x7Yz" * 5,
    "an upload token of PyPI": "pypi-AgE" + "Ic" * 40,
    "a token of Slack": "xoxb-" + "123456789-" * 3,
    "a password in an address": "https://maria:" + "correct-horse@" + "example.org/x",
}


@pytest.mark.parametrize("name", SECRETS)
def test_secret(kit: Kit, name: str) -> None:
    finding = kit.only(kit.judge(kit.package({"share/a": f"x {SECRETS[name]}\n"})), "secret")
    assert name in finding.message
    assert SECRETS[name].split()[-1][8:] not in finding.message, "a finding must not repeat the secret"


def test_secret_of_this_machine(kit: Kit) -> None:
    kit.environ |= {"UPLOAD_TOKEN": "0123456789abcdef", "SHORT_TOKEN": "abc"}
    finding = kit.only(kit.judge(kit.package({"share/a": "\0 abc 0123456789abcdef\0"})), "secret")
    assert "$UPLOAD_TOKEN" in finding.message
    in_metadata = kit.package({"share/a": "a"}, info={"recipe/build.sh": b"curl -H 0123456789abcdef"})
    kit.only(kit.judge(in_metadata), "secret")


def test_password_of_a_manual(kit: Kit) -> None:
    text = "http://username:password@" + "host.com:80/path and https://maria:secret@" + "example.org"
    assert kit.judge(kit.package({"share/a": text})) == []


def test_traces_far_apart_are_all_found(kit: Kit) -> None:
    """Only the surroundings of what a trace must hold are searched."""
    one = SECRETS["a token of GitHub"]
    content = "\n".join([one, "x" * 10_000, f"{one} {one}", "y" * 4096, one])
    assert "4 times" in kit.only(kit.judge(kit.package({"share/a": content})), "secret").message


def test_marker_of_a_key_without_a_key(kit: Kit) -> None:
    """Cryptographic libraries and their manuals hold such lines."""
    assert (
        kit.judge(kit.package({"lib/a": "-----BEGIN PRIVATE " + "KEY-----\0-----END", "b": "AKIAIOSFODNN7EXAMPLE"}))
        == []
    )


def test_licence(kit: Kit) -> None:
    assert kit.only(kit.judge(kit.package({"a": "a"}, about={})), "licence", "warning").where == "info/about.json"
    facts = replace(kit.facts(kit.package({"a": "a"})), licence_files=())
    kit.only(kit.judge(facts), "licence", "warning")
    required = replace(kit.policies, licences=replace(kit.policies.licences, text_required_of=("go*",)))
    kit.policies = required
    kit.only(kit.judge(facts), "licence", "error")
    assert kit.judge(replace(facts, files=(), about={})) == [], "a metapackage has nothing to license"


def test_file_of_two_packages(kit: Kit) -> None:
    facts = kit.facts(kit.package({"lib/a": "a", "lib/b": "b"}))
    findings = shared_files(facts, {"other-1-0.conda": frozenset({"lib/b"}), "third-1-0.conda": frozenset({"x"})})
    finding = kit.only(findings, "shared-file")
    assert (finding.where, finding.message) == ("lib/b", "other-1-0.conda installs it too")


# ---------------------------------------------------------------------------------------------------- sizes


@pytest.mark.parametrize(
    ("budget", "where"),
    [
        (Budget("good", "a test", package_bytes=100), "good-1.0-h0123456_0.conda"),
        (Budget("good", "a test", installed_bytes=999), "good-1.0-h0123456_0.conda"),
        (Budget("g*", "a test", files={"share/*": 999}), "share/a"),
        (Budget("good", "a test", package_bytes=10_000, installed_bytes=1000, files={"share/*": 1000}), None),
        (Budget("other", "a test", package_bytes=1), None),
    ],
)
def test_size(kit: Kit, budget: Budget, where: str | None) -> None:
    kit.policies = replace(kit.policies, sizes=replace(kit.policies.sizes, budgets=(budget,)))
    findings = kit.judge(kit.package({"share/a": "x" * 1000}))
    if where is None:
        assert findings == []
    else:
        assert kit.only(findings, "size").where == where
