"""Which builds stay."""

from __future__ import annotations

from slipway.channel.catalogue import Catalogue, CataloguedPackage
from slipway.channel.retention import find_old, variant_of


def package(name: str, version: str, build: str, *depends: str, time: int = 0) -> CataloguedPackage:
    number = int(build.rpartition("_")[2])
    record = {"name": name, "version": version, "build": build, "build_number": number, "subdir": "linux-64"}
    return CataloguedPackage({**record, "depends": list(depends), "timestamp": time})


def catalogue(*packages: CataloguedPackage) -> Catalogue:
    named = {
        f"linux-64/{one.record['name']}-{one.record['version']}-{one.record['build']}.conda": one for one in packages
    }
    return Catalogue().with_packages(named)


def old(known: Catalogue, keep: int) -> list[str]:
    return [path.removeprefix("linux-64/").removesuffix(".conda") for path in find_old(known, keep)]


def test_newest_of_each_variant_stays() -> None:
    known = catalogue(
        *(package("t", version, f"py311_h{number:07x}_0") for number, version in enumerate(["1.9", "1.10", "1.2"])),
        package("t", "1.2", "py312_h0000000_0"),
        package("u", "1", "0"),
        package("u", "1", "1"),
    )
    assert old(known, 1) == ["t-1.2-py311_h0000002_0", "t-1.9-py311_h0000000_0", "u-1-0"]
    assert old(known, 2) == ["t-1.2-py311_h0000002_0"]
    assert old(known, 3) == []


def test_what_a_kept_package_needs_stays() -> None:
    known = catalogue(
        package("app", "2", "h0000001_0", "lib 1.0 h000000a_0"),
        package("lib", "1.0", "h000000a_0", "base >=1,<2"),
        package("lib", "2.0", "h000000b_0"),
        package("base", "1.5", "0"),
        package("base", "1.4", "0"),
        package("base", "2.0", "0"),
    )
    assert old(known, 1) == ["base-1.4-0"]


def test_variant_is_the_build_without_hash_and_number() -> None:
    builds = {"py311_h439339d_0": "py311", "h439339d_3": "", "pyh439339d_0": "", "0": "", "mkl_habc_1": "mkl_habc"}
    assert {build: variant_of(package("x", "1", build))[2] for build in builds} == builds
