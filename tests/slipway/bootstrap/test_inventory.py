"""The data of the real channel: it loads, the lock covers it, and it is closed under dependencies."""

from __future__ import annotations

import itertools

import pytest
from rattler import MatchSpec

from slipway.base import errors
from slipway.base.platform import LINUX_64, find_platform
from slipway.bootstrap.choices import DATA, ChannelRequest, names_on_demand
from slipway.bootstrap.debs import architectures
from slipway.bootstrap.inventory import EmbeddedInventory, _needed_names, read_inventory
from slipway.bootstrap.lock import read_lock
from slipway.bootstrap.wheels import tag_of


@pytest.fixture(scope="module")
def inventory() -> EmbeddedInventory:
    return read_inventory(DATA)


def requests() -> list[ChannelRequest]:
    return [
        *(
            ChannelRequest(cuda, blas)
            for cuda, blas in itertools.product(((), ("12.4",), ("13.0",), ("13.5",)), ("mkl", "openblas"))
        ),
        *(ChannelRequest(python=(python,)) for python in ("3.10", "3.14")),
    ]


@pytest.mark.parametrize("request_", requests(), ids=str)
def test_every_dependency_is_in_the_channel(inventory: EmbeddedInventory, request_: ChannelRequest) -> None:
    chosen = inventory.select(request_, {python: f"{python}.7" for python in request_.python})
    versions = {description.name: description.version for description in chosen}
    for description in chosen:
        for text in (*description.depends, *description.run_exports.weak, *description.run_exports.strong):
            spec = MatchSpec(text)
            assert spec.name is not None
            name = spec.name.normalized
            assert name.startswith("__") or name in versions, f"{description.name} needs {text}"


@pytest.mark.parametrize(("from_debian", "kind"), [(frozenset(), "interpreter"), (frozenset({"3.11"}), "deb")], ids=str)
def test_one_python_however_it_is_made(inventory: EmbeddedInventory, from_debian: frozenset[str], kind: str) -> None:
    chosen = inventory.select(ChannelRequest(), {"3.11": "3.11.2"}, from_debian)
    (python,) = [description for description in chosen if description.name == "python"]
    assert (python.version, python.sources[0].kind) == ("3.11.2", kind)


@pytest.mark.parametrize("from_debian", [False, True])
@pytest.mark.parametrize("python", ["3.12", "3.13"])
def test_a_python_and_its_abi_allow_each_other(inventory: EmbeddedInventory, python: str, from_debian: bool) -> None:
    debian = frozenset({python}) if from_debian else frozenset[str]()
    chosen = inventory.select(ChannelRequest(python=(python,)), {python: f"{python}.7"}, debian)
    (one,) = [description for description in chosen if description.name == "python"]
    (abi,) = [description for description in chosen if description.name == "python_abi"]
    assert abi.constrains == (f"python {python}.* *{one.build_suffix}",)
    assert one.constrains == (f"python_abi {python}.* *{abi.build_suffix}",)
    assert one.build_suffix == {"3.12": "_cpython", "3.13": "_cp313"}[python]


def test_what_is_made_on_demand_comes_with_what_it_needs(inventory: EmbeddedInventory) -> None:
    def names(*asked: str) -> set[str]:
        request = ChannelRequest(names=asked)
        return {description.name for description in inventory.select(request, {"3.11": "3.11.7"})}

    assert not names() & {"requests", "idna", "zlib"}
    assert names("requests") - names() == {"requests", "idna", "urllib3", "certifi", "charset-normalizer"}
    assert names("numpy", "nothing of the kind") == names()
    assert {"openssl", "libzlib"} <= names(), "every channel has what every package of it needs"


def test_a_channel_of_everything_is_closed(inventory: EmbeddedInventory) -> None:
    for blas in ("mkl", "openblas"):
        request = ChannelRequest(("12.4", "13.0", "13.5"), blas, names=tuple(names_on_demand()))
        chosen = inventory.select(request, {"3.11": "3.11.7"})
        names = {description.name for description in chosen}
        assert names_on_demand() <= names
        for description in chosen:
            needed = {name for name in _needed_names(description) if not name.startswith("__")}
            assert needed <= names, description.name


def test_cuda_is_only_in_a_channel_for_cuda(inventory: EmbeddedInventory) -> None:
    names = {description.name for description in inventory.select(ChannelRequest(), {"3.11": "3.11.7"})}
    assert not {name for name in names if name.startswith(("cuda", "libcublas"))}
    assert "mkl" in names
    assert "openblas" not in names


def test_the_lock_covers_everything_and_nothing_else(inventory: EmbeddedInventory) -> None:
    lock = read_lock(inventory.lock_path)
    assert lock.suite == inventory.settings.suite
    wheels, debs = set(), set()
    for description in inventory.everything():
        for source in description.sources:
            if source.kind == "wheel":
                assert source.pin is not None
                wheel = lock.wheel(source.name, source.pin, description.python, description.platform)
                wheels.add((wheel.project, wheel.version, wheel.tag))
                assert len(wheel.sha256) == 64
                assert wheel.size > 0
            elif source.kind == "deb":
                name = lock.deb_name(source.name, description.platform)
                debs.add(name)
                assert len(lock.deb(name).sha256) == 64
                assert lock.deb(name).file.startswith(f"{name.partition(':')[0]}_")
    assert wheels == set(lock.wheels)
    assert debs == set(lock.debs)


def test_a_target_has_its_own_packages_beside_those_that_run_here(inventory: EmbeddedInventory) -> None:
    asked = ChannelRequest(blas="openblas", names=("gxx_linux-aarch64",), platform=find_platform("linux-aarch64"))
    chosen = inventory.select(asked, {"3.11": "3.11.7"}, target_python="3.11.2")
    by_subdir = {(one.name, one.version): one.subdir for one in chosen}
    assert by_subdir["python", "3.11.7"] == "linux-64"
    assert by_subdir["python", "3.11.2"] == "linux-aarch64"
    assert by_subdir["gcc_impl_linux-aarch64", "12.2.0"] == "linux-64"
    here = {one.name for one in chosen if one.subdir == "linux-aarch64"}
    assert {"libhwy", "openblas", "libopenblas", "libgcc", "numpy", "libzlib"} <= here
    assert not here & {"mkl", "cmake", "gcc_impl_linux-64", "pytest"}
    libgcc = next(one for one in chosen if (one.name, one.subdir) == ("libgcc", "linux-aarch64"))
    assert "lib/aarch64-linux-gnu/libgcc_s.so.1" in [rule.take.text for s in libgcc.sources for rule in s.files]
    assert "libquadmath0" not in {source.name for source in libgcc.sources}


def test_without_a_target_nothing_of_it_is_there(inventory: EmbeddedInventory) -> None:
    chosen = inventory.select(ChannelRequest(), {"3.11": "3.11.7"})
    assert {one.subdir for one in chosen} == {"linux-64", "noarch"}
    assert not [one.name for one in chosen if "aarch64" in one.name]


def test_apt_names_packages_for_another_processor(inventory: EmbeddedInventory) -> None:
    lock, target = read_lock(inventory.lock_path), find_platform("linux-aarch64")
    assert lock.deb_name("libc6", LINUX_64) == "libc6"
    assert lock.deb_name("libhwy1", target) == "libhwy1:arm64"
    assert lock.deb_name("libeigen3-dev", target) == "libeigen3-dev"  # it is for every processor
    assert lock.deb_name("libc6:arm64", LINUX_64) == "libc6:arm64"  # part of a package that runs here
    assert architectures(["libc6", "libhwy1:arm64"]) == ("amd64", "arm64")
    wheel = lock.wheel("numpy", "2.3.5", "3.11", target)
    assert wheel.tag == tag_of(wheel.file, "3.11") == "cp311-aarch64"


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (ChannelRequest(cuda=("13.0", "9.0")), "the embedded channel has no CUDA `9.0`"),
        (ChannelRequest(blas="atlas"), "the embedded channel has no BLAS `atlas`"),
        (ChannelRequest(platform=find_platform("osx-64")), "the embedded channel has no platform `osx-64`"),
        (
            ChannelRequest(python=("3.12",), platform=find_platform("linux-aarch64")),
            "the embedded channel has no Python for linux-aarch64 `3.12`",
        ),
        (ChannelRequest(python=("2.7",)), "the embedded channel has no Python `2.7`"),
    ],
)
def test_what_is_not_there(inventory: EmbeddedInventory, request_: ChannelRequest, message: str) -> None:
    with pytest.raises(errors.VariantError) as caught:
        inventory.settings.check(request_)
    assert caught.value.message == message


def test_the_overlay_asks_for_what_is_there(inventory: EmbeddedInventory) -> None:
    """conda_build_config.yaml's pins select the channel's one version of each package."""
    import yaml

    pins = yaml.safe_load((DATA / "conda_build_config.yaml").read_text())
    versions = {
        description.name.replace("-", "_"): description.version
        for description in inventory.select(ChannelRequest(("13.5",)), {"3.11": "3.11.7"})
    } | {"openblas": "0.3.21"}
    versions |= {"c_compiler_version": versions["gcc_linux_64"], "c_stdlib_version": versions["sysroot_linux_64"]}
    versions |= {"cxx_compiler_version": versions["gxx_linux_64"], "cuda_compiler_version": versions["cuda_nvcc"]}
    checked = 0
    for key, values in pins.items():
        if key in versions:
            value = str(values[-1]).split(".*")[0]
            assert versions[key] == value or versions[key].startswith(f"{value}."), key
            checked += 1
    assert checked >= 8
