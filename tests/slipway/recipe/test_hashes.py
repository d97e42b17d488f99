from __future__ import annotations

import pytest

from slipway.recipe import hashes

NONE: dict[str, list[str]] = {}


@pytest.mark.parametrize(
    ("contents", "digits"),
    [  # Hashes of conda-forge's own packages, whose info/hash_input.json anyone can read.
        ({"channel_targets": "conda-forge main"}, "d8ed1ab"),
        ({"channel_targets": "conda-forge main", "__unix": "__unix"}, "707e725"),
        ({"channel_targets": "conda-forge main", "target_platform": "linux-64"}, "a770c72"),
        (
            {"channel_targets": "conda-forge main", "target_platform": "linux-64", "python": "3.11.* *_cpython"},
            "38be061",
        ),
        (
            {
                "channel_targets": "conda-forge main", "target_platform": "linux-64", "c_compiler": "gcc",
                "c_compiler_version": "13", "c_stdlib": "sysroot", "c_stdlib_version": "2.17",
                "__glibc": "__glibc >=2.17,<3.0.a0",
            },
            "b9d3cd8",
        ),
    ],
)  # fmt: skip
def test_digest(contents: dict[str, str], digits: str) -> None:
    assert hashes.digest(contents) == f"h{digits}"
    assert hashes.digest(dict(reversed(contents.items()))) == f"h{digits}"


def test_no_contents_no_digest() -> None:
    assert hashes.digest({}) == ""


def test_languages_stay_out_unless_their_value_names_a_build() -> None:
    variant = {"python": "3.11.*", "python_min": "3.9", "perl": "5.32", "lua": "5.4", "r_base": "4.3", "mpi": "mpich"}
    assert hashes.hash_input(variant, variant, NONE) == {"mpi": "mpich"}
    assert hashes.hash_input({"python"}, {"python": "3.11.* *_cpython"}, NONE) == {"python": "3.11.* *_cpython"}


def test_the_platform_alone_makes_no_hash() -> None:
    variant = {"target_platform": "linux-64", "mpi": "mpich", "python": "3.11.*"}
    assert hashes.hash_input({"target_platform", "python"}, variant, NONE) == {}
    assert hashes.hash_input({"target_platform", "mpi"}, variant, NONE) == {
        "target_platform": "linux-64",
        "mpi": "mpich",
    }


def test_virtual_packages_of_run_count_with_their_spec() -> None:
    requirements = {"run": ["__cuda >=12", "python"], "run_constrained": ["__glibc >=2.17"]}
    assert hashes.hash_input({"target_platform"}, {"target_platform": "linux-64"}, requirements) == {
        "__cuda": "__cuda >=12"
    }


def test_run_only_requirements_stay_out() -> None:
    variant = {"zlib": "1.3", "boost": "1.8", "cmake": "4"}
    requirements = {"build": ["cmake"], "host": ["boost 1.8.*"], "run": ["zlib", "boost"]}
    assert hashes.trim_build_only(variant, requirements, []) == {"boost", "cmake"}
    assert hashes.trim_build_only(variant, requirements, ["cmake"]) == {"boost"}
    assert hashes.trim_build_only(variant, {"run": ["zlib >=1.2"]}, []) == set(variant), "only the bare key is the key"
    assert hashes.hash_input(["boost", "cmake"], variant, requirements, ignore_version=["boost"]) == {"cmake": "4"}


@pytest.mark.parametrize(
    ("host", "run", "noarch", "expected"),
    [
        ([], [], None, "7"),
        (["python 3.11.*"], ["python"], None, "py311_7"),
        (["python 3.11.*"], [], None, "7"),
        ([], ["python"], None, "7"),
        (["python >=3.9"], ["python >=3.9"], "python", "py_7"),
        (["python 3.11.*"], ["python"], "generic", "py311_7"),
        (["perl"], ["perl"], None, "pl5321_7"),
        (["lua", "python"], ["lua", "python"], None, "py311lua54_7"),
        (["r-base"], ["r-base"], None, "r43_7"),
        (["python", "numpy"], ["python", "numpy"], None, "py311_7"),
    ],
)
def test_default_build_string(host: list[str], run: list[str], noarch: str | None, expected: str) -> None:
    variant = {"python": "3.11.* *_cpython", "perl": "5.32.1", "lua": "5.4", "r_base": "4.3", "numpy": "1.26"}
    found = hashes.default_build_string(
        variant, {"host": host, "run": run}, number=7, noarch=noarch, numpy_in_build_string=False
    )
    assert found == expected


def test_build_string_names_a_pinned_numpy() -> None:
    requirements = {"host": ["python", "numpy"], "run": ["python", "numpy"]}
    found = hashes.default_build_string(
        {"python": "3.11", "numpy": "1.26"}, requirements, number=0, noarch=None, numpy_in_build_string=True
    )
    assert found == "np126py311_0"


@pytest.mark.parametrize(
    ("written", "contents", "expected"),
    [
        ("py311_0", {}, "py311_0"),
        ("0", {}, "0"),
        ("py311_0", {"channel_targets": "conda-forge main"}, "py311hd8ed1ab_0"),
        ("0", {"channel_targets": "conda-forge main"}, "hd8ed1ab_0"),
        ("mkl_h1234567_3", {"channel_targets": "conda-forge main"}, "mkl_hd8ed1ab_3"),
        ("mkl_h1234567_3", {}, "mkl__3"),
    ],
)
def test_with_hash(written: str, contents: dict[str, str], expected: str) -> None:
    assert hashes.with_hash(written, contents) == expected
