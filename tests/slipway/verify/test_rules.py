"""Each rule has a package that breaks it, and nothing else; and one next to it that is right."""

from __future__ import annotations

import stat
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slipway.verify import Finding, shared_files
from slipway.verify.facts import Inventory
from slipway.verify.policies import Budget, DeviceList, PythonPackage
from slipway.verify.rules import RULES

if TYPE_CHECKING:
    from conftest import Kit

Brings = Callable[..., Inventory]
GLIBC = "__glibc >=2.28,<3.0.a0"


def only(findings: list[Finding], rule: str, severity: str = "error") -> Finding:
    """The one finding there is: it must be of `rule`, say where, and give a cure."""
    assert [(finding.rule, finding.severity) for finding in findings] == [(rule, severity)], findings
    assert findings[0].where
    assert findings[0].cure
    return findings[0]


def test_good_package(kit: Kit) -> None:
    files = {"lib/libgood.so": kit.library(), "share/good.txt": "fine\n"}
    assert kit.judge(kit.package(files, depends=[GLIBC])) == []


def test_every_rule_has_a_test() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    assert [rule for rule in (*RULES, "shared-file") if f'"{rule}"' not in text] == []


# ---------------------------------------------------------------------------------------------------- contents


def test_paths_name_another_content(kit: Kit) -> None:
    facts = kit.facts(kit.package({"share/a.txt": "a"}))
    changed = replace(facts, files=(replace(facts.files[0], promised_sha256="0" * 64),))
    assert "not what paths.json promises" in only(kit.judge(changed), "paths").message


def test_paths_name_what_is_not_there(kit: Kit) -> None:
    listed = b'{"paths": [{"_path": "share/gone.txt", "path_type": "hardlink"}], "paths_version": 1}'
    facts = kit.facts(kit.package({"share/a.txt": "a"}))
    assert facts.files[0].present
    made = _with_info(kit, "info/paths.json", listed)
    assert {finding.where for finding in made} == {"share/gone.txt", "share/a.txt"}
    assert {finding.rule for finding in made} == {"paths"}


def _with_info(kit: Kit, name: str, content: bytes) -> list[Finding]:
    """Judge a package of one file, with one document of its metadata replaced."""
    from slipway.bootstrap import writer

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
    only(kit.judge(changed), "modes")


def test_truncated_library(kit: Kit) -> None:
    content = kit.library()
    finding = only(kit.judge(kit.package({"lib/libgood.so": content[: len(content) // 2]})), "broken-elf")
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
        finding = only(kit.judge(kit.package({"share/a": content})), "build-path")
        assert text in finding.message


def test_path_of_the_build_in_the_metadata(kit: Kit) -> None:
    path = kit.package({"share/a": "a"}, info={"recipe/log.txt": b"cd /srv/bld/rattler-build_good/work\n"})
    assert only(kit.judge(path), "build-path", "warning").where == "info/recipe/log.txt"


def test_declared_prefix_is_no_path_of_the_build(kit: Kit) -> None:
    placeholder = "/prefix" + "_placehold" * 8
    assert kit.judge(kit.package({"share/a": f"prefix={placeholder}\n"})) == []
    binary = kit.package({"share/a": f"\0prefix={placeholder}\0"})
    assert "patched on installation" in only(kit.judge(binary), "build-path", "warning").message


@pytest.mark.parametrize("text", ["/home/maria/src/good.c", "/Users/maria/src/good.c", "/home/builder-of-tests/x.c"])
def test_name_of_the_user(kit: Kit, text: str) -> None:
    finding = kit.judge(kit.package({"share/a": f'file "{text}"'}))[0]
    assert (finding.rule, finding.severity) == ("user-name", "error")
    assert text in finding.message


def test_home_folder_elsewhere(kit: Kit) -> None:
    kit.environ = {"HOME": "/var/lib/ci"}
    only(kit.judge(kit.package({"share/a": "see /var/lib/ci/notes"})), "user-name")
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
    finding = only(kit.judge(kit.package({"share/a": f"x {SECRETS[name]}\n"})), "secret")
    assert name in finding.message
    assert SECRETS[name].split()[-1][8:] not in finding.message, "a finding must not repeat the secret"


def test_secret_of_this_machine(kit: Kit) -> None:
    kit.environ |= {"UPLOAD_TOKEN": "0123456789abcdef", "SHORT_TOKEN": "abc"}
    finding = only(kit.judge(kit.package({"share/a": "\0 abc 0123456789abcdef\0"})), "secret")
    assert "$UPLOAD_TOKEN" in finding.message
    in_metadata = kit.package({"share/a": "a"}, info={"recipe/build.sh": b"curl -H 0123456789abcdef"})
    only(kit.judge(in_metadata), "secret")


def test_password_of_a_manual(kit: Kit) -> None:
    text = "http://username:password@" + "host.com:80/path and https://maria:secret@" + "example.org"
    assert kit.judge(kit.package({"share/a": text})) == []


def test_traces_far_apart_are_all_found(kit: Kit) -> None:
    """Only the surroundings of what a trace must hold are searched."""
    one = SECRETS["a token of GitHub"]
    content = "\n".join([one, "x" * 10_000, f"{one} {one}", "y" * 4096, one])
    assert "4 times" in only(kit.judge(kit.package({"share/a": content})), "secret").message


def test_marker_of_a_key_without_a_key(kit: Kit) -> None:
    """Cryptographic libraries and their manuals hold such lines."""
    assert (
        kit.judge(kit.package({"lib/a": "-----BEGIN PRIVATE " + "KEY-----\0-----END", "b": "AKIAIOSFODNN7EXAMPLE"}))
        == []
    )


def test_licence(kit: Kit) -> None:
    assert only(kit.judge(kit.package({"a": "a"}, about={})), "licence", "warning").where == "info/about.json"
    facts = replace(kit.facts(kit.package({"a": "a"})), licence_files=())
    only(kit.judge(facts), "licence", "warning")
    required = replace(kit.policies, licences=replace(kit.policies.licences, text_required_of=("go*",)))
    kit.policies = required
    only(kit.judge(facts), "licence", "error")
    assert kit.judge(replace(facts, files=(), about={})) == [], "a metapackage has nothing to license"


def test_file_of_two_packages(kit: Kit) -> None:
    facts = kit.facts(kit.package({"lib/a": "a", "lib/b": "b"}))
    findings = shared_files(facts, {"other-1-0.conda": frozenset({"lib/b"}), "third-1-0.conda": frozenset({"x"})})
    finding = only(findings, "shared-file")
    assert (finding.where, finding.message) == ("lib/b", "other-1-0.conda installs it too")


# ---------------------------------------------------------------------------------------------------- linking


@pytest.mark.parametrize("run_path", ["/opt/lib", "lib", "$ORIGIN/../..", "$ORIGIN/../../../etc"])
def test_run_path(kit: Kit, run_path: str) -> None:
    content = kit.library("int good(void) { return 1; }", f"-Wl,-rpath,{run_path}")
    finding = only(kit.judge(kit.package({"lib/libgood.so": content})), "run-path")
    assert f"`{run_path}`" in finding.message


def test_old_style_run_path_counts_too(kit: Kit) -> None:
    content = kit.library("int good(void) { return 1; }", "-Wl,-rpath,/opt/lib", "-Wl,--disable-new-dtags")
    only(kit.judge(kit.package({"lib/libgood.so": content})), "run-path")


@pytest.mark.parametrize("run_path", ["$ORIGIN", "$ORIGIN/", "$ORIGIN/../lib", "${ORIGIN}/x/.."])
def test_run_path_inside_the_prefix(kit: Kit, run_path: str) -> None:
    content = kit.library("int good(void) { return 1; }", f"-Wl,-rpath,{run_path}")
    assert kit.judge(kit.package({"lib/libgood.so": content})) == []


def test_library_that_nothing_brings(kit: Kit) -> None:
    path = kit.package({"lib/libgood.so": kit.user_of("libgone.so.1")}, depends=["zlib"])
    assert "needs libgone.so.1" in only(kit.judge(path), "linking").message
    driver = kit.package({"lib/libgood.so": kit.user_of("libcuda.so.1")})
    assert "comes with a driver" in only(kit.judge(driver), "linking", "warning").message


def test_libraries_that_are_there(kit: Kit, brings: Brings) -> None:
    own = kit.library("int used(void) { return 2; }", name="libown.so.1")
    files = {"lib/libgood.so": kit.user_of("libown.so.1"), "lib/libown.so.1": own}
    assert kit.judge(kit.package(files)) == []
    path = kit.package({"lib/libgood.so": kit.user_of("libz.so.1")}, depends=["zlib >=1.2"])
    assert kit.judge(path, {"zlib": brings("lib/libz.so.1", "include/zlib.h")}) == []


def test_linking_is_not_judged_alone(kit: Kit) -> None:
    from slipway.verify import Verifier

    facts = kit.facts(kit.package({"lib/libgood.so": kit.user_of("libgone.so.1")}))
    assert Verifier(kit.policies, kit.environ).judge(facts, None) == []


def test_library_of_an_undeclared_package(kit: Kit, brings: Brings) -> None:
    path = kit.package({"lib/libgood.so": kit.user_of("libz.so.1")}, depends=["png"])
    around = {"zlib": brings("lib/libz.so.1"), "png": brings("include/png.h")}
    assert "`zlib`, which is there by chance" in only(kit.judge(path, around), "undeclared").message
    around["png"] = brings("include/png.h", exports=["zlib"])
    assert kit.judge(path, around) == [], "what a dependency exports is promised"


def test_openmp_is_implied_by_the_compilers_library(kit: Kit, brings: Brings) -> None:
    path = kit.package({"lib/libgood.so": kit.user_of("libgomp.so.1")}, depends=["libgcc"])
    around = {"libgcc": brings("lib/libgcc_s.so.1"), "libgomp": brings("lib/libgomp.so.1")}
    assert kit.judge(path, around) == []


def test_unused_dependency(kit: Kit, brings: Brings) -> None:
    path = kit.package({"lib/libgood.so": kit.library()}, depends=["zlib", "libgcc", "tool"])
    around = {
        "zlib": brings("lib/libz.so", "lib/libz.so.1", "share/doc/zlib/README"),
        "libgcc": brings("lib/libgcc_s.so.1"),
        "tool": brings("bin/tool", "lib/libtool.so.1"),
    }
    assert "depends on `zlib`, but links to none" in only(kit.judge(path, around), "unused", "warning").message
    assert kit.judge(kit.package({"share/a": "a"}, depends=["zlib"]), around) == [], "nothing of it could link"


ONE = {"lib/libiomp5.so": "libomp.so", "lib/libgomp.so.1": "libomp.so"}


@pytest.mark.parametrize(
    ("around", "count"),
    [
        ({"libgomp": ("lib/libgomp.so.1",)}, 1),
        ({"libgomp": ("lib/libgomp.so.1",), "llvm-openmp": ("lib/libomp.so",)}, 2),
        ({"libgomp": ("lib/libgomp.so.1.0.0",), "llvm-openmp": ("lib/libomp.so",), "_openmp_mutex": ONE}, 1),
        (
            {
                "libgomp": ("lib/libgomp.so.1.0.0",),
                "llvm-openmp": ("lib/libomp.so",),
                "_openmp_mutex": {"lib/libgomp.so.1": "libgomp.so.1.0.0"},
            },
            2,
        ),
        ({}, 0),
    ],
)
def test_openmp(kit: Kit, brings: Brings, around: Mapping[str, tuple[str, ...] | dict[str, str]], count: int) -> None:
    path = kit.package({"lib/libgood.so": kit.library()})
    packages = {
        name: brings(links=found) if isinstance(found, dict) else brings(*found) for name, found in around.items()
    }
    findings = kit.judge(path, packages)
    if count > 1:
        assert "2 OpenMP runtimes are in its environment" in only(findings, "openmp").message
    else:
        assert findings == []


def test_openmp_of_its_own(kit: Kit, brings: Brings) -> None:
    files = {"lib/libgood.so": kit.library(), "lib/libiomp5.so": kit.library(name="libiomp5.so")}
    only(kit.judge(kit.package(files), {"libgomp": brings("lib/libgomp.so.1")}), "openmp")


def test_openmp_for_linkers_is_not_in_the_environment(kit: Kit, brings: Brings) -> None:
    around = {"libgomp": brings("lib/libgomp.so.1"), "gcc": brings("x86_64-conda-linux-gnu/lib/libgomp.so.1")}
    assert kit.judge(kit.package({"lib/libgood.so": kit.library()}), around) == []


def test_openmp_runtime_that_is_missing(kit: Kit) -> None:
    path = kit.package({"lib/libgood.so": kit.user_of("libgomp.so.1")}, depends=["libgcc"])
    assert [finding.rule for finding in kit.judge(path)] == ["linking", "openmp"]


@pytest.mark.parametrize(
    ("library", "version", "depends", "message"),
    [
        ("libc.so.6", "GLIBC_2.34", ["__glibc >=2.28"], "needs GLIBC_2.34 (__glibc 2.34), and __glibc 2.28 is allowed"),
        ("libc.so.6", "GLIBC_2.28", [], "and __glibc 2.17 is allowed"),
        ("libc.so.6", "GLIBC_2.34", ["__glibc >=2.34,<3.0.a0"], None),
        ("libc.so.6", "GLIBC_2.4", [], None),
        ("libstdc++.so.6", "GLIBCXX_3.4.33", ["libstdcxx >=12"], "GLIBCXX_3.4.33 (libstdcxx 14.1.0), and libstdcxx 12"),
        ("libstdc++.so.6", "GLIBCXX_3.4.30", ["libstdcxx >=13"], None),
        ("libstdc++.so.6", "GLIBCXX_3.4.99", ["libstdcxx >=13"], "which no known release has"),
        ("libstdc++.so.6", "CXXABI_1.3.14", ["libstdcxx >=12"], "CXXABI_1.3.14 (libstdcxx 13.1.0)"),
        ("libstdc++.so.6", "CXXABI_1.3.13", ["libstdcxx 12.*"], None),
        ("libstdc++.so.6", "GLIBCXX_3.4.21", ["libstdcxx"], None),
        ("libstdc++.so.6", "GLIBCXX_3.4.29", ["libstdcxx"], "and libstdcxx 7.2.0 is allowed"),
        ("libgcc_s.so.1", "GCC_14.0.0", ["libgcc >=12"], "GCC_14.0.0 (libgcc 14.1.0)"),
    ],
)
def test_version_floor(
    kit: Kit, brings: Brings, library: str, version: str, depends: list[str], message: str | None
) -> None:
    around = {"libstdcxx": brings("lib/libstdc++.so.6"), "libgcc": brings("lib/libgcc_s.so.1")}
    path = kit.package({"lib/libgood.so": kit.user_of(library, version=version)}, depends=depends)
    findings = kit.judge(path, around)
    if message is None:
        assert findings == []
    else:
        assert message in only(findings, "version-floor").message


# ---------------------------------------------------------------------------------------------------- device code


def _with_device_code(kit: Kit, content: bytes) -> bytes:
    numbers = ",".join(map(str, content))
    return kit.library(
        f'__attribute__((section(".nv_fatbin"), aligned(8), used)) static const unsigned char code[] = {{{numbers}}};'
    )


@pytest.mark.parametrize(
    ("present", "message"),
    [
        (("sm_80", "sm_90", "compute_90"), None),
        (("sm_80", "compute_90"), "has no code for sm_90, which is declared"),
        (("sm_80", "sm_90", "compute_90", "sm_70"), "has code for sm_70, which is not declared"),
    ],
)
def test_device_code(kit: Kit, fat_binary: Callable[..., bytes], present: tuple[str, ...], message: str | None) -> None:
    declared = DeviceList("good", ("sm_80", "sm_90", "compute_90"), "a test")
    kit.policies = replace(kit.policies, cuda=replace(kit.policies.cuda, lists=(declared,)))
    content = fat_binary(*present[:2]) + fat_binary(*present[2:])
    findings = kit.judge(kit.package({"lib/libgood.so": _with_device_code(kit, content)}))
    if message is None:
        assert findings == []
    else:
        assert only(findings, "device-code").message == message


def test_device_code_that_nobody_declared(kit: Kit, fat_binary: Callable[..., bytes]) -> None:
    path = kit.package({"lib/libgood.so": _with_device_code(kit, fat_binary("sm_80"))})
    assert "no list declares it" in only(kit.judge(path), "device-code", "warning").message


# ---------------------------------------------------------------------------------------------------- symbols


def _release(kit: Kit, source: str, version: str) -> Path:
    return kit.package({"lib/libgood.so": kit.library(source)}, version=version)


OLD = "int keep(void) { return 1; } int gone(void) { return 2; } int table[4] = {1}; static int own = 3; int *p = &own;"


@pytest.mark.parametrize(
    ("source", "diff", "severity"),
    [
        (OLD.replace("gone", "other"), ["- gone", "+ other"], "error"),
        (OLD.replace("table[4]", "table[8]"), ["~ table: 16 bytes, now 32"], "error"),
        (OLD.replace("int gone(void) { return 2; }", "int gone = 5;"), ["~ gone: function, now object"], "error"),
        (OLD + "int more(void) { return 4; }", ["+ more"], "note"),
    ],
)
def test_symbols(kit: Kit, source: str, diff: list[str], severity: str) -> None:
    findings = kit.judge(_release(kit, source, "1.0"), previous=_release(kit, OLD, "1.0"))
    assert [(finding.rule, finding.severity) for finding in findings] == [("symbols", severity)]
    assert findings[0].detail.splitlines() == diff
    assert findings[0].cure or severity == "note"


@pytest.mark.parametrize(("old", "new", "severity"), [("1.0", "1.1", "note"), ("2.2.0a0", "2.2.0a0", "warning")])
def test_symbols_of_another_version_and_of_a_pre_release(kit: Kit, old: str, new: str, severity: str) -> None:
    changed = OLD.replace("gone", "other")
    findings = kit.judge(_release(kit, changed, new), previous=_release(kit, OLD, old))
    only([replace(finding, cure="-") for finding in findings], "symbols", severity)


def test_symbols_of_a_library_that_is_gone(kit: Kit) -> None:
    findings = kit.judge(kit.package({"share/a": "a"}), previous=_release(kit, OLD, "1.0"))
    assert "it is gone" in only(findings, "symbols").message


def test_private_symbols_may_change(kit: Kit) -> None:
    source = "int keep(void) { return 1; } int _ZNSt6vectorIiE4pushEv(void) { return 2; }"
    assert kit.judge(_release(kit, "int keep(void) { return 1; }", "1.0"), previous=_release(kit, source, "1.0")) == []


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
        assert only(findings, "size").where == where


# ---------------------------------------------------------------------------------------------------- Python

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
    assert message in only(kit.judge(kit.package(files, depends=PYTHON)), "python-metadata").message


def test_python_module_that_pip_does_not_know(kit: Kit) -> None:
    path = kit.package({name: text for name, text in MODULE.items() if not name.startswith(INFO)}, depends=PYTHON)
    assert "good has no dist-info folder" in only(kit.judge(path), "python-metadata", "warning").message
    expected = PythonPackage("good", "good")
    kit.policies = replace(kit.policies, python=replace(kit.policies.python, packages=(expected,)))
    assert "good has no dist-info folder" in only(kit.judge(path), "python-metadata", "error").message


def test_python_distribution_of_another_name(kit: Kit) -> None:
    path = kit.package(MODULE, name="python-good", depends=PYTHON)
    assert "pip sees good, not python-good" in only(kit.judge(path), "python-metadata", "warning").message
    other = kit.package(MODULE, name="python-good", version="7", depends=PYTHON)
    assert {finding.severity for finding in kit.judge(other)} == {"warning"}
    expected = PythonPackage("python-good", "good")
    kit.policies = replace(kit.policies, python=replace(kit.policies.python, packages=(expected,)))
    assert kit.judge(path) == []


def test_python_programs_that_the_policy_declares(kit: Kit) -> None:
    expected = PythonPackage("good", "good", console_scripts=("good",))
    kit.policies = replace(kit.policies, python=replace(kit.policies.python, packages=(expected,)))
    assert "no entry point" in only(kit.judge(kit.package(MODULE, depends=PYTHON)), "python-metadata").message


def test_noarch_programs_are_made_when_it_is_installed(kit: Kit) -> None:
    files = {path.removeprefix("lib/python3.11/"): content for path, content in MODULE.items()}
    files["site-packages/good-1.0.dist-info/entry_points.txt"] = "[console_scripts]\ngood = good:main\n"
    link = b'{"noarch": {"type": "python", "entry_points": ["good = good:main"]}, "package_metadata_version": 1}'
    assert kit.judge(kit.package(files, depends=["python"], noarch=True, info={"link.json": link})) == []
    only(kit.judge(kit.package(files, depends=["python"], noarch=True)), "python-metadata")


def test_python_stubs(kit: Kit) -> None:
    stubs: dict[str, bytes | str | Path] = {**MODULE, f"{SITE}/good/__init__.pyi": "x: int\n"}
    assert "no py.typed" in only(kit.judge(kit.package(stubs, depends=PYTHON)), "python-stubs", "warning").message
    expected = PythonPackage("good", "good", stubs=("good/py.typed",))
    kit.policies = replace(kit.policies, python=replace(kit.policies.python, packages=(expected,)))
    assert only(kit.judge(kit.package(MODULE, depends=PYTHON)), "python-stubs").where == "good/py.typed"


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
    finding = only(kit.judge(kit.package({**MODULE, path: b"x"}, depends=PYTHON)), "python-version")
    assert "the package is for 3.11" in finding.message


def test_python_version_that_is_not_declared(kit: Kit) -> None:
    findings = kit.judge(kit.package(MODULE))
    assert {finding.rule for finding in findings} == {"python-version"}
    assert "no Python is declared" in findings[0].message


def test_python_version_of_a_package_for_all(kit: Kit) -> None:
    files = {path.removeprefix("lib/python3.11/"): content for path, content in MODULE.items()}
    files["site-packages/good/_c.so"] = kit.library(name="_c.so")
    finding = only(kit.judge(kit.package(files, depends=["python"], noarch=True)), "python-version")
    assert "compiled, in a package for every Python" in finding.message


def test_python_version_of_python_itself(kit: Kit) -> None:
    """Nobody declares a dependency on oneself; a file for another Python is wrong here, too."""
    files = {"lib/python3.11/abc.py": "a = 1\n"}
    assert kit.judge(kit.package(files, name="python", version="3.11.7")) == []
    files["lib/python3.12/abc.py"] = "a = 1\n"
    only(kit.judge(kit.package(files, name="python", version="3.11.7")), "python-version")
