"""Recipes of others, from source to use: of many kinds, on the embedded channel alone but for our torch."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from slipway.base.files import hash_file
from slipway.channel.package import read_info

from .conftest import RECIPES, ShipTorch, Slipway

if TYPE_CHECKING:
    from pathlib import Path

LIBRARY = ("libeditdistance", "libeditdistance-devel", "libeditdistance-static", "editdistance")


@pytest.fixture(scope="module")
def torch_channel(ship_torch: ShipTorch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A channel with this checkout's torch packages."""
    channel = tmp_path_factory.mktemp("torch") / "channel"
    with ship_torch("--no-install") as dist:
        shutil.copytree(dist / "channel", channel)
    return channel


def succeed(answer: subprocess.CompletedProcess[str]) -> str:
    """What it printed, if all went well."""
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return answer.stdout


def index(dist: Path, subdir: str = "linux-64") -> dict[str, dict[str, Any]]:
    """The channel's records, by the package's name."""
    content = json.loads((dist / "channel" / subdir / "repodata.json").read_text(encoding="utf-8"))
    return {record["name"]: record | {"file": name} for name, record in content["packages.conda"].items()}


def installs(dist: Path, record: dict[str, Any]) -> set[str]:
    """The files that a package installs; not those that its tests bring along."""
    package = dist / "channel" / record["subdir"] / record["file"]
    paths = json.loads(read_info(package, "paths.json") or b"{}")["paths"]
    return {entry["_path"] for entry in paths if not entry["_path"].startswith("etc/conda/test-files/")}


def test_headers_alone(slipway: Slipway, tmp_path: Path) -> None:
    dist = tmp_path / "dist"
    succeed(slipway("ship", RECIPES / "headers", "--dist", dist))
    record = index(dist, "noarch")["small-vector"]
    assert record["noarch"] == "generic"
    assert record["depends"] == []
    assert "include/small_vector.hpp" in installs(dist, record)


def test_a_library_and_its_binding_with_pins_between_them(slipway: Slipway, tmp_path: Path) -> None:
    dist = tmp_path / "dist"
    succeed(slipway("ship", RECIPES / "binding", "--dist", dist))
    records = index(dist)
    library, binding, both = (records[name] for name in ("libweights", "weights", "weights-all"))
    assert "libweights >=3.2.1,<3.3.0a0" in binding["depends"], "the library's run_exports, for an exact pin in host"
    assert set(both["depends"]) == {
        f"weights ==3.2.1 {binding['build']}",
        f"libweights ==3.2.1 {library['build']}",
    }
    assert len([path for path in installs(dist, binding) if path.endswith(".so")]) == 1


def test_recipe_yaml_with_a_staging_output(slipway: Slipway, tmp_path: Path) -> None:
    dist, recipe = tmp_path / "dist", RECIPES / "v1_library"
    shipped = succeed(slipway("ship", recipe, "--dist", dist))
    assert shipped.count("top level compiled, whose files its outputs take\n") == 1, "it is compiled once"
    records = index(dist) | index(dist, "noarch")
    library, program = records["libeditdistance"], records["editdistance"]
    assert installs(dist, library) == {"lib/libeditdistance.so.1", "lib/libeditdistance.so.1.4.2"}
    assert f"libeditdistance ==1.4.2 {library['build']}" in program["depends"]
    assert any(spec.startswith("libgcc") for spec in library["depends"]), "run_exports of what it was compiled with"
    assert installs(dist, records["editdistance-words"]) == {"share/words"}
    states = [row["state"] for row in json.loads(succeed(slipway("plan", recipe, "--dist", dist, "--json")))]
    assert states == ["up to date"] * 3
    succeed(slipway("rebuild", "editdistance", "--recipe", recipe, "--dist", dist))


def test_fortran_with_lapack_by_its_standard_names(slipway: Slipway, tmp_path: Path) -> None:
    dist = tmp_path / "dist"
    succeed(slipway("ship", RECIPES / "fortran_lapack", "--dist", dist))
    depends = index(dist)["liblinefit"]["depends"]
    assert "liblapack >=3.9.0,<4.0a0" in depends, "its run_exports: any LAPACK will do, though it is linked with one"
    assert not {spec.split()[0] for spec in depends} & {"libblas", "libgfortran5"}, "which the recipe does not want"
    assert "0 finding(s)" in succeed(slipway("verify", "--dist", dist))


def test_rust_extension(slipway: Slipway, tmp_path: Path) -> None:
    dist = tmp_path / "dist"
    succeed(slipway("ship", RECIPES / "rust_extension", "--dist", dist))
    record = index(dist)["tallyrs"]
    assert [path for path in installs(dist, record) if "tally" in path] == [
        "lib/python3.11/site-packages/tally.abi3.so"
    ]
    assert not [spec for spec in record["depends"] if spec.startswith("rust")]


def test_meson_finds_a_library_by_pkg_config(slipway: Slipway, tmp_path: Path) -> None:
    dist = tmp_path / "dist"
    succeed(slipway("ship", RECIPES / "meson_program", "--dist", dist))
    record = index(dist)["crcsum"]
    assert "libzlib >=1.2.13,<2.0a0" in record["depends"], "zlib's run_exports"
    assert installs(dist, record) == {"bin/crcsum"}
    # What an installed package needs of the embedded channel comes with it, without being named.
    succeed(slipway("install", "crcsum", "--dist", dist))
    answer = subprocess.run([dist / "env/bin/crcsum"], input=b"a", env={}, capture_output=True, check=True)
    assert answer.stdout == b"e8b7be43\n"


def test_cuda_library_with_a_matrix_of_its_own(slipway: Slipway, tmp_path: Path) -> None:
    dist, recipe = tmp_path / "dist", RECIPES / "cuda_library"
    cuda = ("--variant", "cuda_compiler_version=13.0")
    succeed(slipway("ship", recipe, "--dist", dist, "--variant", "cuda_compiler_version=None"))
    plain = index(dist)["libaxpy"]
    assert plain["build"].startswith("cpu_h")
    succeed(slipway("ship", recipe, "--dist", dist, *cuda))
    content = json.loads((dist / "channel/linux-64/repodata.json").read_text(encoding="utf-8"))["packages.conda"]
    assert len(content) == 2, "the one beside the other"
    (other,) = [record for record in content.values() if record["build"] != plain["build"]]
    assert other["build"].startswith("cuda130_h")
    assert {spec.split()[0] for spec in other["depends"]} >= {"cuda-cudart", "cuda-version"}
    assert not [spec for spec in plain["depends"] if "cuda" in spec]


def test_archive_with_patches_and_a_repository(slipway: Slipway, tmp_path: Path) -> None:
    """One source by `url`, with a patch, and one by `git_url`, both made here; each is a package of its own."""
    work = tmp_path / "greeter-1.0"
    work.mkdir()
    (work / "LICENSE").write_text("Do as you like.\n", encoding="utf-8")
    (work / "greeter").write_text("#!/bin/sh\necho hello\n", encoding="utf-8")
    subprocess.run(["tar", "czf", tmp_path / "greeter-1.0.tar.gz", "-C", tmp_path, work.name], check=True)
    identity = ["-c", "user.name=somebody", "-c", "user.email=nobody@example.org"]
    for command in (
        ["init", "-q", "-b", "main"],
        ["add", "."],
        [*identity, "commit", "-qm", "A start"],
        ["tag", "v1.0"],
    ):
        subprocess.run(["git", "-C", work, *command], check=True, capture_output=True)
    archive = tmp_path / "greeter-1.0.tar.gz"
    sources = {
        "archive": f"  url: {archive.as_uri()}\n  sha256: {hash_file(archive)}\n  patches:\n    - louder.patch\n",
        "repository": f"  git_url: {work.as_uri()}\n  git_rev: v1.0\n",
    }
    for name, source in sources.items():
        recipe, dist = tmp_path / name, tmp_path / f"dist-{name}"
        recipe.mkdir()
        (recipe / "meta.yaml").write_text(GREETER.replace("SOURCE", source).replace("NAME", name), encoding="utf-8")
        (recipe / "louder.patch").write_text(LOUDER, encoding="utf-8")
        succeed(slipway("ship", recipe, "--dist", dist))
        succeed(slipway("install", f"greeter-{name}", "--dist", dist))
        said = subprocess.run([dist / "env/bin/greeter"], capture_output=True, text=True, check=True).stdout
        assert said == {"archive": "HELLO\n", "repository": "hello\n"}[name]


GREETER = """\
package:
  name: greeter-NAME
  version: "1.0"
source:
SOURCE
build:
  number: 0
  script:
    - mkdir -p $PREFIX/bin
    - install -m 755 greeter $PREFIX/bin/greeter
test:
  commands:
    - greeter
about:
  license: MIT
  license_file: LICENSE
  summary: Greets
"""
LOUDER = """\
Louder, for those who sit in the last row.
--- a/greeter
+++ b/greeter
@@ -1,2 +1,2 @@
 #!/bin/sh
-echo hello
+echo HELLO
"""


def test_c_library_with_split_outputs(slipway: Slipway, tmp_path: Path) -> None:
    dist, recipe = tmp_path / "dist", RECIPES / "c_library"
    shipped = succeed(slipway("ship", recipe, "--dist", dist))
    assert shipped.count("top level editdistance-split, whose files its outputs take\n") == 1, "it is compiled once"
    records = index(dist)
    assert set(records) == set(LIBRARY)
    library = records["libeditdistance"]
    exact = f"libeditdistance ==1.4.2 {library['build']}"
    assert exact in records["libeditdistance-devel"]["depends"]
    assert exact in records["editdistance"]["depends"]
    assert {spec.split()[0] for spec in library["depends"]} == {"__glibc", "libgcc"}
    for name in ("libeditdistance", "libeditdistance-devel"):
        assert records[name]["run_exports"] == {"weak": ["libeditdistance >=1.4.2,<2.0a0"]}
    assert {name: installs(dist, record) for name, record in records.items()} == {
        "libeditdistance": {"lib/libeditdistance.so.1", "lib/libeditdistance.so.1.4.2"},
        "libeditdistance-devel": {
            "include/editdistance.h",
            "lib/libeditdistance.so",
            "lib/pkgconfig/editdistance.pc",
            "lib/cmake/editdistance/editdistanceConfig.cmake",
            "lib/cmake/editdistance/editdistanceConfig-release.cmake",
            "lib/cmake/editdistance/editdistanceConfigVersion.cmake",
        },
        "libeditdistance-static": {"lib/libeditdistance.a"},
        "editdistance": {"bin/editdistance", "share/man/man1/editdistance.1"},
    }
    succeed(slipway("install", "editdistance", "--dist", dist))
    program = [dist / "env/bin/editdistance", "saturday", "sunday"]
    assert subprocess.run(program, env={}, capture_output=True, text=True, check=True).stdout == "3\n"
    assert not (dist / "env/include/editdistance.h").exists()
    succeed(slipway("verify", "--dist", dist))
    room = succeed(slipway("cleanroom", "editdistance", "libeditdistance-devel", "--dist", dist))
    assert "editdistance: its own tests           passed" in room
    assert "libeditdistance-devel: its own tests  passed" in room
    assert succeed(slipway("ship", recipe, "--dist", dist)).count("up to date: made from the same") == 4
    for name in ("libeditdistance-devel", "libeditdistance-static"):
        assert "the same bytes" in succeed(slipway("rebuild", name, "--recipe", recipe, "--dist", dist))


def test_noarch_python_package(slipway: Slipway, tmp_path: Path) -> None:
    dist, recipe = tmp_path / "dist", RECIPES / "pure"
    succeed(slipway("ship", recipe, "--dist", dist))
    record = index(dist, "noarch")["pure"]
    assert record["noarch"] == "python"
    assert {spec.split()[0] for spec in record["depends"]} == {"python"}
    assert "python >=3.9" in record["depends"], "for any Python, not the one it was built with"
    log = next((dist / "logs").glob("pure-*.log")).read_text(encoding="utf-8")
    assert "pure works" in log, "run_test.py is a test without being named"
    succeed(slipway("verify", "--dist", dist))
    room = succeed(slipway("cleanroom", "pure", "--dist", dist))
    assert "pure: its own tests  passed" in room
    succeed(slipway("install", "pure", "python 3.11.*", "--dist", dist))
    program = subprocess.run([dist / "env/bin/pure"], env={}, capture_output=True, text=True, check=True)
    assert program.stdout == "hello, world\n"
    assert "up to date: made from the same" in succeed(slipway("ship", recipe, "--dist", dist))


def test_extension_of_our_torch(slipway: Slipway, tmp_path: Path, torch_channel: Path) -> None:
    dist, recipe = tmp_path / "dist", RECIPES / "torch_extension"
    options = ("--dist", dist, "--channel", torch_channel, "--channel", "embedded")
    succeed(slipway("ship", recipe, *options))
    depends = index(dist)["softsum"]["depends"]
    assert "libtorch >=2.13.0a0,<2.14.0a0" in depends, "libtorch's run_exports"
    assert "pytorch >=2.13.0a0,<2.14.0a0" in depends, "pytorch's"
    assert "python >=3.11,<3.12.0a0" in depends
    succeed(slipway("install", "softsum", *options))
    assert not any(spec.startswith("pybind11") for spec in depends), "its headers are used up"
    program = (
        "import torch, softsum; x = torch.zeros(2, requires_grad=True); y = softsum.softsum(x); y.backward(); "
        "print(y.detach(), x.grad)"
    )
    python = [dist / "env/bin/python", "-c", program]
    answer = subprocess.run(python, env={}, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert answer.stdout == "tensor(1.3863) tensor([0.5000, 0.5000])\n"
    assert "0 finding(s)" in succeed(slipway("verify", *options))
    room = succeed(slipway("cleanroom", "softsum", *options))
    assert "softsum works" in room
    assert "softsum: its own tests  passed" in room
    assert "up to date: made from the same" in succeed(slipway("ship", recipe, *options))
    assert "the same bytes" in succeed(slipway("rebuild", "softsum", "--recipe", recipe, *options))


def test_channel_that_lacks_what_the_recipe_needs(slipway: Slipway, tmp_path: Path) -> None:
    """Without torch's channel the solver says what is missing, before anything is built."""
    answer = slipway("ship", RECIPES / "torch_extension", "--dist", tmp_path / "dist")
    assert answer.returncode == 7, answer.stdout + answer.stderr
    assert "libtorch" in answer.stderr


CONSUMER = """\
package:
  name: consumer
  version: "1.0"
build:
  number: 0
  script:
    - mkdir $PREFIX/share
    - grep distance $PREFIX/include/editdistance.h | md5sum > $PREFIX/share/consumer
requirements:
  host:
    - libeditdistance-devel
about:
  license: MIT
"""


def test_what_moved_in_another_channel_is_named(slipway: Slipway, tmp_path: Path) -> None:
    """A package is built again when one that it was built with is another one, and `plan` says which and from what."""
    library, consumer = tmp_path / "library", tmp_path / "consumer"
    shutil.copytree(RECIPES / "c_library", library)
    consumer.mkdir()
    (consumer / "meta.yaml").write_text(CONSUMER, encoding="utf-8")
    first, dist = tmp_path / "first", tmp_path / "dist"
    options = ("--dist", dist, "--channel", first / "channel", "--channel", "embedded")

    def plan() -> tuple[str, list[str]]:
        (row,) = json.loads(succeed(slipway("plan", consumer, *options, "--json")))
        return row["state"], row["changes"]

    def seen() -> str:
        succeed(slipway("ship", consumer, *options))
        succeed(slipway("install", "consumer", *options))
        return (dist / "env/share/consumer").read_text(encoding="utf-8")

    succeed(slipway("ship", library, "--dist", first))
    before = seen()
    build = index(first)["libeditdistance"]["build"]
    assert plan() == ("up to date", [])

    header = library / "src/editdistance.h"
    header.write_text(header.read_text(encoding="utf-8").replace("one text", "one distance"), encoding="utf-8")
    succeed(slipway("ship", library, "--dist", first))
    state, changes = plan()
    assert state == "changed"
    assert f"host libeditdistance-devel 1.4.2 {build}: same name, other content" in changes
    after = seen()
    assert after != before, "it is built with the package as it is now"

    meta = library / "meta.yaml"
    meta.write_text(meta.read_text(encoding="utf-8").replace('"1.4.2"', '"1.4.3"'), encoding="utf-8")
    text = library / "src/CMakeLists.txt"
    text.write_text(text.read_text(encoding="utf-8").replace("1.4.2", "1.4.3"), encoding="utf-8")
    succeed(slipway("ship", library, "--dist", first))
    state, changes = plan()
    assert state == "changed"
    assert f"host libeditdistance-devel: 1.4.2 {build} -> 1.4.3 {build}" in changes
