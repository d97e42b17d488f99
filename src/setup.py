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
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))  # a build front end runs this file without its folder on the path
from build_requirements import (  # noqa: E402
    PreflightError,
    find_missing,
    find_missing_setuptools,
    has_gloo,
    preflight,
)

if any(find_missing_setuptools()):  # named together with all else that is missing, before the imports below fail
    raise SystemExit(str(PreflightError(list(find_missing(os.environ)))))

import setuptools  # noqa: E402
from setuptools.command.bdist_wheel import bdist_wheel  # noqa: E402
from setuptools.command.build import build  # noqa: E402
from setuptools.command.build_ext import build_ext  # noqa: E402
from setuptools.command.build_py import build_py  # noqa: E402
from setuptools.command.install import install  # noqa: E402
from setuptools.dist import Distribution  # noqa: E402
from setuptools.warnings import SetuptoolsDeprecationWarning  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Mapping

PACKAGE = ROOT / "torch"
BUILD = ROOT / "build"
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
    """TORCH_BUILD_VERSION if it is set, else version.txt's with the commit: `2.13.0a0+git0123abc`."""
    release = environment.get("TORCH_BUILD_VERSION")
    if release:
        return release
    version = (root / "version.txt").read_text(encoding="utf-8").strip()
    return f"{version}+git{commit[:7]}" if commit else version


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
        "TORCH_BUILD_DISTRIBUTED": "ON" if has_gloo(environment) else "OFF",
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
    """Ends the program with the list of what is missing, if something is."""
    try:
        preflight(os.environ)
    except PreflightError as error:
        raise SystemExit(str(error)) from None
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


def build_collectives() -> None:
    if has_gloo(os.environ):
        compile_targets("torch_distributed")
        install_component("distributed")


def build_everything() -> None:
    configure()
    build_core()
    build_bindings()
    build_collectives()


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


class BuildExt(build_ext):
    description = "build the bindings (libtorch_python and torch._C) against the libraries built before"

    def run(self) -> None:
        configure()
        build_bindings()


class Build(build):
    description = "build everything in place, then copy the package to build_lib"

    def initialize_options(self) -> None:
        super().initialize_options()
        self.build_base = str(BUILD)
        self.build_lib = str(BUILD / "package")

    def run(self) -> None:
        build_everything()
        self.run_command("build_py")

    def get_sub_commands(self) -> list[str]:
        return ["build_py"]


class BuildPy(build_py):
    """Copies the package with what was built into it."""

    def run(self) -> None:
        if self.editable_mode:  # nothing is copied: the package is used where it lies
            build_everything()
            return
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
        install_component("distributed")


class Develop(Command):
    description = "build everything, and make this Python import torch from here"

    def run(self) -> None:
        build_everything()
        self.distribution.metadata.version = package_version(os.environ, git_commit())
        link = link_checkout(Path(sysconfig.get_paths()["purelib"]), self.distribution)
        print(f"{sys.executable} now imports torch from {PACKAGE} ({link})")


class Install(install):
    description = "build a wheel and install it with pip"

    def initialize_options(self) -> None:
        with warnings.catch_warnings():  # it advises pip, which does the work here
            warnings.simplefilter("ignore", SetuptoolsDeprecationWarning)
            super().initialize_options()
        self.given_prefix: str | None = None

    def finalize_options(self) -> None:
        self.given_prefix = self.prefix  # the ordinary command fills in the default
        super().finalize_options()

    def run(self) -> None:
        if self.root is not None:  # bdist_wheel gathers a wheel's files with this command
            super().run()
            return
        with tempfile.TemporaryDirectory() as folder:
            run([sys.executable, str(ROOT / "setup.py"), "bdist_wheel", "--dist-dir", folder])
            (file,) = Path(folder).glob("*.whl")
            command = [sys.executable, "-m", "pip", "install", "--no-deps", "--force-reinstall", str(file)]
            run(command + (["--prefix", self.given_prefix] if self.given_prefix else []))


class Clean(Command):
    description = "remove everything that was built, in place, in build/ and in dist/"
    user_options = [("all", "a", "the same: nothing is kept")]  # noqa: RUF012
    boolean_options = ["all"]  # noqa: RUF012

    def initialize_options(self) -> None:
        self.all = False

    def run(self) -> None:
        for path in [BUILD, ROOT / "dist", *ROOT.glob("*.egg-info"), *products()]:
            if not path.exists() and not path.is_symlink():
                continue
            print(f"removing {path.relative_to(ROOT)}")
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()


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
        include=["torch", "torch.*", "functorch", "functorch.*"], exclude=["torch.csrc*", "torch.lib*", "torch._C*"]
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
    setuptools.setup(
        name="torch",
        version=package_version(os.environ, git_commit()),
        description="Tensors and neural networks with automatic differentiation",
        license="BSD-3-Clause",
        python_requires=">=3.11",
        install_requires=["typing_extensions>=4.8"],
        packages=packages,
        entry_points={
            "console_scripts": [
                "torchrun = torch.distributed.run:main",
                "torch-onnx-export = torch.onnx._commands:export_main",
                "torch-from-onnx = torch.onnx._commands:import_main",
            ]
        },
        package_data=package_data(),
        distclass=BinaryDistribution,
        cmdclass=commands,
        zip_safe=False,
    )


if __name__ == "__main__":
    main()
