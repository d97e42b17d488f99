"""Builds torch in a checkout or into a wheel: a thin front on CMake, which does the work.

    python setup.py develop       build everything and use the package where it lies
    python setup.py build_deps    the C++ libraries only (libc10, libtorch_cpu, libtorch, libshm)
    python setup.py build_ext     the bindings only, against the libraries built before
    python setup.py rebuild       compile what changed since, without configuring again
    python setup.py build         everything, in place
    python setup.py install       everything, into this Python, by way of a wheel
    python setup.py bdist_wheel   a wheel in dist/
    python setup.py clean         remove everything that was built

Libraries land in torch/lib, headers in torch/lib/include, the CMake package in torch/lib/share: `$ORIGIN` run paths
hold them together, wherever the folder `torch` goes.

Environment: TORCH_BUILD_VERSION (the version of a release; otherwise version.txt's with `+git` and the commit),
TORCH_BLAS (MKL, OpenBLAS, Generic), DEBUG=1, MAX_JOBS, CMAKE_GENERATOR, CMAKE_PREFIX_PATH, CXX, VERBOSE=1, CMAKE_ARGS:
words that are passed to CMake as they are.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import setuptools
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

try:
    from setuptools.command.bdist_wheel import bdist_wheel  # setuptools 70.1 and later
except ImportError:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # it says that setuptools has it; this one has not
        from wheel.bdist_wheel import bdist_wheel

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).resolve().parent
PACKAGE = ROOT / "torch"
BUILD = ROOT / "build"
CMAKE_MINIMUM = (3, 24)
# What a build leaves in the package's folder, relative to it.
PRODUCTS = ("lib/*.so*", "lib/*.dylib", "lib/bin", "lib/include", "lib/share", "_C", "_C.*", "version.py")


# ---------------------------------------------------------------------------------------------------- version


def git_commit(root: Path = ROOT) -> str | None:
    """The commit that is checked out, None outside of a checkout or without git."""
    try:
        answer = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return answer.stdout.strip()


def package_version(environment: Mapping[str, str], commit: str | None, root: Path = ROOT) -> str:
    """TORCH_BUILD_VERSION if it is set, else version.txt's with the commit: `2.2.0a0+git0123abc`."""
    release = environment.get("TORCH_BUILD_VERSION")
    if release:
        return release
    version = (root / "version.txt").read_text(encoding="utf-8").strip()
    return f"{version}+git{commit[:7]}" if commit else version


# ---------------------------------------------------------------------------------------------------- pre-flight


@dataclass(frozen=True)
class Missing:
    """Something that the build needs and this machine lacks, and what to do about it."""

    what: str
    hint: str

    def __str__(self) -> str:
        return f"{self.what}\n  hint: {self.hint}"


class PreflightError(Exception):
    """The build cannot succeed here. The message lists everything that is missing, each with a hint."""

    def __init__(self, missing: list[Missing]) -> None:
        self.missing = missing
        super().__init__("torch cannot be built here:\n" + "\n".join(f"- {item}" for item in missing))


def find_missing(environment: Mapping[str, str]) -> Iterator[Missing]:
    """Everything that is missing, in the order in which a build would stumble over it. Takes under a second."""
    path = environment.get("PATH")
    cmake = shutil.which("cmake", path=path)
    if cmake is None:
        yield Missing("cmake is not on PATH", "pip install cmake, or your system's package `cmake`")
    elif (version := cmake_version(cmake)) < CMAKE_MINIMUM:
        wanted, found = (".".join(map(str, numbers)) for numbers in (CMAKE_MINIMUM, version))
        yield Missing(f"cmake {found} is too old: {wanted} or later is needed", "pip install --upgrade cmake")
    if shutil.which("ninja", path=path) is None and shutil.which("make", path=path) is None:
        yield Missing("neither ninja nor make is on PATH", "pip install ninja")
    try:
        import yaml  # noqa: F401 - the generator imports it
    except ImportError:
        yield Missing(f"{sys.executable} has no PyYAML, which the code generator reads with", "pip install PyYAML")
    if not (Path(sysconfig.get_paths()["include"]) / "Python.h").is_file():
        yield Missing(f"the headers of {sys.executable} are not installed", "your system's package `python3-dev`")
    compiler = shlex.split(environment.get("CXX", "c++"))
    program = shutil.which(compiler[0], path=path)
    if program is None:
        yield Missing(f"the C++ compiler `{compiler[0]}` is not on PATH", "your system's package `g++`, or set CXX")
        return
    compiler[0] = program
    folders = [Path(entry) / "include" for entry in environment.get("CMAKE_PREFIX_PATH", "").split(os.pathsep) if entry]
    folders += [Path(sys.prefix) / "include"]
    blas = {"MKL": ["mkl.h"], "OpenBLAS": ["cblas.h"], "Generic": ["cblas.h"]}.get(
        environment.get("TORCH_BLAS", ""), ["mkl.h", "cblas.h"]
    )
    if not any(has_header(compiler, name, folders) for name in blas):
        yield Missing(
            f"no BLAS: none of {', '.join(blas)} is found", "`libopenblas-dev` or `mkl-devel`; set CMAKE_PREFIX_PATH"
        )
    if not has_header(compiler, "hwy/highway.h", folders):
        yield Missing("Google Highway (hwy/highway.h) is not found", "`libhwy-dev` or `libhwy`; set CMAKE_PREFIX_PATH")


def cmake_version(cmake: str) -> tuple[int, ...]:
    """(3, 24, 1), or (0,) when it does not say."""
    try:
        answer = subprocess.run([cmake, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return (0,)
    match = re.search(r"(\d+)\.(\d+)\.(\d+)", answer)
    return tuple(int(part) for part in match.groups()) if match else (0,)


def has_header(compiler: list[str], name: str, folders: list[Path]) -> bool:
    """Whether the compiler finds `#include <name>`, by itself, in one of `folders` or one folder below (openblas/)."""
    if any((folder / name).is_file() or any(folder.glob(f"*/{name}")) for folder in folders):
        return True
    for prefix in ("", "openblas/", "mkl/"):
        source = f"#if !__has_include(<{prefix}{name}>)\n#error not found\n#endif\n"
        command = [*compiler, "-x", "c++", "-E", "-"]
        answer = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
        if answer.returncode == 0:
            return True
    return False


def preflight(environment: Mapping[str, str]) -> None:
    """Raises PreflightError unless everything is there."""
    missing = list(find_missing(environment))
    if missing:
        raise PreflightError(missing)


# ---------------------------------------------------------------------------------------------------- CMake


def run(command: list[str]) -> None:
    """Shows and runs a command; ends the program with its code when it fails (it has said why)."""
    print("+", shlex.join(command), flush=True)
    code = subprocess.run(command, check=False).returncode
    if code != 0:
        raise SystemExit(code)


def configure_command(environment: Mapping[str, str], commit: str | None) -> list[str]:
    """The call of CMake that a plain checkout needs: everything into torch/ and torch/lib."""
    options = {
        "CMAKE_BUILD_TYPE": "Debug" if environment.get("DEBUG") == "1" else "Release",
        "CMAKE_INSTALL_PREFIX": str(PACKAGE / "lib"),
        "CMAKE_INSTALL_LIBDIR": ".",
        "CMAKE_INSTALL_INCLUDEDIR": "include",
        "CMAKE_INSTALL_BINDIR": "bin",
        "TORCH_BUILD_CORE": "ON",
        "TORCH_BUILD_PYTHON": "ON",
        "TORCH_PYTHON_INSTALL_DIR": "..",
        "TORCH_PYTHON_INSTALL_SOURCES": "OFF",
        "TORCH_BUILD_VERSION": environment.get("TORCH_BUILD_VERSION", ""),
        "TORCH_GIT_VERSION": commit or "",
        "TORCH_BLAS": environment.get("TORCH_BLAS", ""),
        "Python_EXECUTABLE": sys.executable,
        "Python3_EXECUTABLE": sys.executable,
    }
    has_ninja = shutil.which("ninja", path=environment.get("PATH")) is not None
    generator = environment.get("CMAKE_GENERATOR") or ("Ninja" if has_ninja else "")
    command = ["cmake", "-S", str(ROOT), "-B", str(BUILD)]
    if generator:
        command += ["-G", generator]
    command += [f"-D{name}={value}" for name, value in options.items()]
    if environment.get("CMAKE_PREFIX_PATH"):
        command.append(f"-DCMAKE_PREFIX_PATH={environment['CMAKE_PREFIX_PATH'].replace(os.pathsep, ';')}")
    return command + shlex.split(environment.get("CMAKE_ARGS", ""))


def configure() -> None:
    preflight(os.environ)
    run(configure_command(os.environ, git_commit()))


def compile_targets(*targets: str) -> None:
    """Builds the named targets, or all."""
    command = ["cmake", "--build", str(BUILD)]
    if jobs := os.environ.get("MAX_JOBS"):
        command += ["--parallel", jobs]
    else:
        command.append("--parallel")
    if targets:
        command += ["--target", *targets]
    if os.environ.get("VERBOSE") == "1":
        command.append("--verbose")
    run(command)


def install_component(name: str) -> None:
    run(["cmake", "--install", str(BUILD), "--component", name])


def build_core() -> None:
    compile_targets("torch", *shm_targets())
    install_component("core")


def shm_targets() -> tuple[str, ...]:
    return ("shm", "torch_shm_manager") if (PACKAGE / "lib" / "libshm" / "CMakeLists.txt").is_file() else ()


def build_bindings() -> None:
    compile_targets("torch_python", "torch_stub")
    install_component("python")


def build_everything() -> None:
    configure()
    build_core()
    build_bindings()


# ---------------------------------------------------------------------------------------------------- commands


class Command(setuptools.Command):
    """A command without options."""

    user_options: list[tuple[str, str | None, str]] = []  # noqa: RUF012 - setuptools reads it from the class

    def initialize_options(self) -> None: ...

    def finalize_options(self) -> None: ...


class BuildDeps(Command):
    description = "configure, and build the C++ libraries into torch/lib"

    def run(self) -> None:
        configure()
        build_core()


class BuildExt(Command):
    description = "build the bindings (libtorch_python and torch._C) against the libraries built before"
    # bdist_wheel, install and editable installs of setuptools set these.
    user_options = [("inplace", "i", "ignored: it is always in place")]  # noqa: RUF012
    boolean_options = ["inplace"]  # noqa: RUF012

    def initialize_options(self) -> None:
        self.inplace = True
        self.editable_mode = False
        self.build_lib: str | None = None

    def run(self) -> None:
        configure()
        build_bindings()

    def get_outputs(self) -> list[str]:
        return []


class Build(Command):
    description = "build everything in place, then copy the package to build_lib"
    user_options = [("build-lib=", None, "where a wheel's files are gathered")]  # noqa: RUF012

    def initialize_options(self) -> None:
        self.build_base = str(BUILD)
        self.build_lib = str(BUILD / "package")
        self.build_platlib = self.build_lib
        self.build_purelib = self.build_lib
        self.build_scripts = str(BUILD / "scripts")
        self.build_temp = str(BUILD / "temp")
        self.plat_name: str | None = None
        self.executable: str | None = None
        self.parallel: int | None = None
        self.force = False
        self.compiler: str | None = None

    def run(self) -> None:
        build_everything()
        self.run_command("build_py")

    def get_sub_commands(self) -> list[str]:
        return ["build_py"]


class BuildPy(build_py):
    """Copies the package with what was built into it."""

    def run(self) -> None:
        if not (PACKAGE / "version.py").is_file():
            raise SystemExit("torch/version.py is missing: run `python setup.py build` first")
        shutil.rmtree(self.build_lib, ignore_errors=True)  # nothing of an older build may get into a wheel
        # The list of files was made when setup() began; the build has added to it since.
        self.distribution.package_data = package_data()
        self.package_data = self.distribution.package_data
        self.__dict__.pop("data_files", None)
        super().run()


class Rebuild(Command):
    description = "compile what changed since the last build, without configuring again"

    def run(self) -> None:
        if not (BUILD / "CMakeCache.txt").is_file():
            raise SystemExit("nothing was built yet: run `python setup.py develop` first")
        compile_targets()
        install_component("core")
        install_component("python")


class Develop(Command):
    description = "build everything, and make this Python import torch from here"

    def run(self) -> None:
        build_everything()
        self.distribution.metadata.version = package_version(os.environ, git_commit())
        link = link_checkout(Path(sysconfig.get_paths()["purelib"]), self.distribution)
        print(f"{sys.executable} now imports torch from {PACKAGE} ({link})")


class Install(Command):
    description = "build a wheel and install it with pip"
    user_options = [("prefix=", None, "where to install instead of this Python")]  # noqa: RUF012

    def initialize_options(self) -> None:
        self.prefix: str | None = None

    def run(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            wheel = self.get_finalized_command("bdist_wheel")
            wheel.dist_dir = folder
            wheel.run()
            (file,) = Path(folder).glob("*.whl")
            command = [sys.executable, "-m", "pip", "install", "--no-deps", "--force-reinstall", str(file)]
            run(command + (["--prefix", self.prefix] if self.prefix else []))


class Clean(Command):
    description = "remove everything that was built, in place and in build/"
    user_options = [("all", "a", "the same: nothing is kept")]  # noqa: RUF012
    boolean_options = ["all"]  # noqa: RUF012

    def initialize_options(self) -> None:
        self.all = False

    def run(self) -> None:
        for path in [BUILD, *ROOT.glob("*.egg-info"), *products()]:
            print(f"removing {path.relative_to(ROOT)}")
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)


def products() -> list[Path]:
    """What builds have left in the package's folder."""
    return sorted({path for pattern in PRODUCTS for path in PACKAGE.glob(pattern)})


def link_checkout(site_packages: Path, distribution: Distribution) -> Path:
    """Makes `site_packages` find the checkout, in a way that `pip list` shows and `pip uninstall torch` undoes."""
    version = distribution.get_version()
    for old in site_packages.glob("torch-*.dist-info"):
        if (old / "direct_url.json").is_file():
            shutil.rmtree(old)
        else:
            raise SystemExit(f"{old.name} is installed in {site_packages}: run `pip uninstall torch` first")
    info = site_packages / f"torch-{version}.dist-info"
    info.mkdir(parents=True)
    link = site_packages / "torch-checkout.pth"
    link.write_text(f"{ROOT}\n", encoding="utf-8")
    with (info / "METADATA").open("w", encoding="utf-8") as file:
        distribution.metadata.write_pkg_file(file)
    (info / "INSTALLER").write_text("setup.py develop\n", encoding="utf-8")
    (info / "direct_url.json").write_text(
        f'{{"dir_info": {{"editable": true}}, "url": "{ROOT.as_uri()}"}}', encoding="utf-8"
    )
    files = [link, *(info / name for name in ("METADATA", "INSTALLER", "direct_url.json", "RECORD"))]
    rows = [f"{path.relative_to(site_packages).as_posix()},," for path in files]
    (info / "RECORD").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return link


class BinaryDistribution(Distribution):
    """A wheel for one platform and one Python, though setuptools knows of no extension."""

    def has_ext_modules(self) -> bool:
        return True


def package_data() -> dict[str, list[str]]:
    """Every file of the package that is no module: libraries, headers, the CMake package, stubs."""
    folders = ("lib/include", "lib/share", "lib/bin")
    files = [path for folder in folders for path in (PACKAGE / folder).rglob("*") if path.is_file()]
    for pattern in ("lib/*.so*", "lib/*.dylib", "_C.*", "_C/*.pyi", "py.typed"):
        files += [path for path in PACKAGE.glob(pattern) if path.is_file()]
    return {"torch": sorted(path.relative_to(PACKAGE).as_posix() for path in files)}


def main() -> None:
    os.chdir(ROOT)  # setuptools takes paths relative to where it runs
    packages = setuptools.find_packages(
        include=["torch", "torch.*"], exclude=["torch.csrc*", "torch.lib*", "torch._C*"]
    )
    commands: dict[str, Any] = {
        "bdist_wheel": bdist_wheel,
        "build": Build,
        "build_deps": BuildDeps,
        "build_ext": BuildExt,
        "build_py": BuildPy,
        "clean": Clean,
        "develop": Develop,
        "install": Install,
        "rebuild": Rebuild,
    }
    try:
        setuptools.setup(
            name="torch",
            version=package_version(os.environ, git_commit()),
            description="Tensors and neural networks with automatic differentiation",
            license="BSD-3-Clause",
            python_requires=">=3.11",
            install_requires=["typing_extensions>=4.8"],
            packages=packages,
            package_data=package_data(),
            distclass=BinaryDistribution,
            cmdclass=commands,
            zip_safe=False,
        )
    except PreflightError as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()
