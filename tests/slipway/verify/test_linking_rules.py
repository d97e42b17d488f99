"""The rules of linking, device code and symbols; see test_rules.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from slipway.verify.facts import Inventory
from slipway.verify.policies import DeviceList

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Kit

Brings = Callable[..., Inventory]

# ---------------------------------------------------------------------------------------------------- linking


@pytest.mark.parametrize("run_path", ["/opt/lib", "lib", "$ORIGIN/../..", "$ORIGIN/../../../etc"])
def test_run_path(kit: Kit, run_path: str) -> None:
    content = kit.library("int good(void) { return 1; }", f"-Wl,-rpath,{run_path}")
    finding = kit.only(kit.judge(kit.package({"lib/libgood.so": content})), "run-path")
    assert f"`{run_path}`" in finding.message


def test_old_style_run_path_counts_too(kit: Kit) -> None:
    content = kit.library("int good(void) { return 1; }", "-Wl,-rpath,/opt/lib", "-Wl,--disable-new-dtags")
    kit.only(kit.judge(kit.package({"lib/libgood.so": content})), "run-path")


@pytest.mark.parametrize("run_path", ["$ORIGIN", "$ORIGIN/", "$ORIGIN/../lib", "${ORIGIN}/x/.."])
def test_run_path_inside_the_prefix(kit: Kit, run_path: str) -> None:
    content = kit.library("int good(void) { return 1; }", f"-Wl,-rpath,{run_path}")
    assert kit.judge(kit.package({"lib/libgood.so": content})) == []


def test_library_that_nothing_brings(kit: Kit) -> None:
    path = kit.package({"lib/libgood.so": kit.user_of("libgone.so.1")}, depends=["zlib"])
    assert "needs libgone.so.1" in kit.only(kit.judge(path), "linking").message
    driver = kit.package({"lib/libgood.so": kit.user_of("libcuda.so.1")})
    assert "comes with a driver" in kit.only(kit.judge(driver), "linking", "warning").message


def test_libraries_that_are_there(kit: Kit, brings: Brings) -> None:
    own = kit.library("int used(void) { return 2; }", name="libown.so.1")
    files = {"lib/libgood.so": kit.user_of("libown.so.1"), "lib/libown.so.1": own}
    assert kit.judge(kit.package(files)) == []
    path = kit.package({"lib/libgood.so": kit.user_of("libz.so.1")}, depends=["zlib >=1.2"])
    assert kit.judge(path, {"zlib": brings("lib/libz.so.1", "include/zlib.h")}) == []


def test_linking_is_not_judged_alone(kit: Kit) -> None:
    from slipway.verify.verifier import Verifier

    facts = kit.facts(kit.package({"lib/libgood.so": kit.user_of("libgone.so.1")}))
    assert Verifier(kit.policies, kit.environ).judge(facts, None) == []


def test_library_of_an_undeclared_package(kit: Kit, brings: Brings) -> None:
    path = kit.package({"lib/libgood.so": kit.user_of("libz.so.1")}, depends=["png"])
    around = {"zlib": brings("lib/libz.so.1"), "png": brings("include/png.h")}
    assert "`zlib`, which is there by chance" in kit.only(kit.judge(path, around), "undeclared").message
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
    assert "depends on `zlib`, but links to none" in kit.only(kit.judge(path, around), "unused", "warning").message
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
        assert "2 OpenMP runtimes are in its environment" in kit.only(findings, "openmp").message
    else:
        assert findings == []


def test_openmp_of_its_own(kit: Kit, brings: Brings) -> None:
    files = {"lib/libgood.so": kit.library(), "lib/libiomp5.so": kit.library(name="libiomp5.so")}
    kit.only(kit.judge(kit.package(files), {"libgomp": brings("lib/libgomp.so.1")}), "openmp")


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
        assert message in kit.only(findings, "version-floor").message


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
    names = ("sm_80", "sm_90", "compute_90")
    content = fat_binary(*present[:2]) + fat_binary(*present[2:])
    said = f'set(GOOD_ARCHITECTURES "{" ".join(names)}")\n'.encode()
    package = kit.package({"lib/libgood.so": _with_device_code(kit, content), "share/cmake/Good.cmake": said})
    for where in (
        DeviceList("good", "a test", names),
        DeviceList("good", "a test", declared_in="share/cmake/Good.cmake"),
    ):
        kit.policies = replace(kit.policies, cuda=replace(kit.policies.cuda, lists=(where,)))
        findings = kit.judge(package)
        if message is None:
            assert findings == []
        else:
            assert kit.only(findings, "device-code").message == message


def test_a_file_that_says_nothing_of_device_code(kit: Kit, fat_binary: Callable[..., bytes]) -> None:
    declared = DeviceList("good", "a test", declared_in="share/cmake/Good.cmake")
    kit.policies = replace(kit.policies, cuda=replace(kit.policies.cuda, lists=(declared,)))
    package = kit.package({"lib/libgood.so": _with_device_code(kit, fat_binary("sm_80"))})
    assert "does not say which device code" in kit.only(kit.judge(package), "device-code").message


def test_device_code_that_nobody_declared(kit: Kit, fat_binary: Callable[..., bytes]) -> None:
    path = kit.package({"lib/libgood.so": _with_device_code(kit, fat_binary("sm_80"))})
    assert "no list declares it" in kit.only(kit.judge(path), "device-code", "warning").message


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
    kit.only([replace(finding, cure="-") for finding in findings], "symbols", severity)


def test_symbols_of_a_library_that_is_gone(kit: Kit) -> None:
    findings = kit.judge(kit.package({"share/a": "a"}), previous=_release(kit, OLD, "1.0"))
    assert "it is gone" in kit.only(findings, "symbols").message


def test_private_symbols_may_change(kit: Kit) -> None:
    source = "int keep(void) { return 1; } int _ZNSt6vectorIiE4pushEv(void) { return 2; }"
    assert kit.judge(_release(kit, "int keep(void) { return 1; }", "1.0"), previous=_release(kit, source, "1.0")) == []
