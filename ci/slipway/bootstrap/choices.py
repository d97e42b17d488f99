"""What the embedded channel can be asked for, and what is: apart from its inventory, which rendering never reads."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - read when the settings are converted
from dataclasses import dataclass, field, fields
from pathlib import Path

from slipway.base.errors import ChannelError, VariantError
from slipway.base.platform import LINUX_64, Platform
from slipway.base.schema import read_yaml

DATA = Path(__file__).parent / "data"
"""``ci/slipway/bootstrap/data``, installed with the package."""


ON_DEMAND = "on_demand"
"""The folder of descriptions whose packages are made only where they are asked for; all others are in every channel."""


@dataclass(frozen=True)
class ChannelRequest:
    """Which packages the channel must offer.

    Attributes:
        cuda: CUDA versions X.Y; none for a channel without CUDA.
        blas: ``mkl`` or ``openblas``.
        python: Python versions X.Y; without any, only what is not made for a Python.
        build_tools: also the Python that build tools run with, which must not depend on `python`: what is built
            without Python would be another package for each. It is the first choice of the settings that this machine
            has, and solvers take it wherever nothing asks for another one.
        names: what is wanted of `names_on_demand`; it comes with all that it needs.
        platform: what is built for: another one than the channel's own is one of the settings' `targets`.
    """

    cuda: tuple[str, ...] = ()
    blas: str = "mkl"
    python: tuple[str, ...] = ("3.11",)
    build_tools: bool = False
    names: tuple[str, ...] = ()
    platform: Platform = LINUX_64


@dataclass(frozen=True)
class CPythonSource:
    """The sources of one CPython.

    Attributes:
        version: X.Y.Z.
        url: where the project offers the archive.
        debian: the suite whose source package holds the same archive.
    """

    version: str
    url: str
    sha256: str
    debian: str | None = None


@dataclass(frozen=True)
class SettingsFile:
    """``data/settings.yaml``: Debian's suite, its glibc and Python, and choices that a request has.

    Attributes:
        targets: other platforms that can be built for, and the packages that they have; what those need comes along.
        archives: Debian packages that the suite's ``main`` lacks, by where they are: ``trixie/non-free``.
        cpython: from which sources each of the `pythons` is built where the machine has none.
    """

    suite: str
    glibc: str
    pythons: tuple[str, ...]
    blas: tuple[str, ...]
    debian_python: str
    cpython: Mapping[str, CPythonSource]
    targets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    archives: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class CudaFile:
    """``data/cuda/X.Y.yaml``: the versions of its parts, by the names that descriptions fill in.

    Attributes:
        wheels: what names of NVIDIA's wheels end in (``-cu12``), but where they are alike for all versions.
    """

    versions: Mapping[str, str]
    wheels: str = ""


@dataclass(frozen=True)
class EmbeddedSettings(SettingsFile):
    """The same with the versions of CUDA that have a file in ``data/cuda``."""

    cudas: tuple[str, ...] = ()

    def check_python(self, version: str) -> None:
        """Raise VariantError, with the choices, for a Python that the channel does not have."""
        if version not in self.pythons:
            raise _no_such("Python", version, self.pythons)

    def check(self, request: ChannelRequest) -> None:
        """Raise VariantError, with the choices, for a request that cannot be served."""
        for cuda in request.cuda:
            if cuda not in self.cudas:
                raise _no_such("CUDA", cuda, self.cudas)
        if request.blas not in self.blas:
            raise _no_such("BLAS", request.blas, self.blas)
        if request.platform != LINUX_64 and request.platform.subdir not in self.targets:
            raise _no_such("platform", request.platform.subdir, (LINUX_64.subdir, *self.targets))
        for python in request.python:
            self.check_python(python)
        if request.platform != LINUX_64 and self.debian_python not in request.python:
            asked = ", ".join(request.python)
            raise _no_such(f"Python for {request.platform}", asked, (self.debian_python,))


def read_settings(path: Path) -> EmbeddedSettings:
    """Read ``settings.yaml``, and what lies beside it."""
    written = read_yaml(path, SettingsFile, error=ChannelError)
    cudas = sorted((file.stem for file in (path.parent / "cuda").glob("*.yaml")), key=_numbers)
    return EmbeddedSettings(**{key.name: getattr(written, key.name) for key in fields(written)}, cudas=tuple(cudas))


def read_cuda(version: str, data: Path = DATA) -> dict[str, str]:
    """What descriptions of CUDA's packages are filled in with.

    That is `version` as ``cuda``, and the versions of its parts; of each also the first number (``cuda_major``), which
    the names of libraries end in, and the one after it (``cuda_next``), which bounds what goes with it; and ``cu``.
    """
    written = read_yaml(data / "cuda" / f"{version}.yaml", CudaFile, error=ChannelError)
    versions = {"cuda": version, **written.versions}
    majors = {name: int(value.partition(".")[0]) for name, value in versions.items()}
    return {
        "cu": written.wheels,
        **versions,
        **{f"{name}_major": str(major) for name, major in majors.items()},
        **{f"{name}_next": str(major + 1) for name, major in majors.items()},
    }


def names_on_demand(data: Path = DATA) -> frozenset[str]:
    """The packages that a channel has only where they are asked for; read off the files' names, it costs nothing."""
    return frozenset(path.stem for path in (data / "packages" / ON_DEMAND).rglob("*.yaml"))


def names_for_cuda(data: Path = DATA) -> frozenset[str]:
    """The packages that a channel has only where a version of CUDA was asked for."""
    return frozenset(path.stem for path in (data / "packages" / "cuda").glob("*.yaml"))


def embedded_choices() -> EmbeddedSettings:
    """What the embedded channel can be asked for."""
    return read_settings(DATA / "settings.yaml")


def python_build(version: str) -> str:
    """What the build string of Python X.Y ends with, as conda-forge's: ``cpython``, and from 3.13 on ``cp313``."""
    return f"cp{version.replace('.', '')}" if _numbers(version) >= [3, 13] else "cpython"


def _no_such(what: str, value: str, choices: tuple[str, ...]) -> VariantError:
    return VariantError(
        f"the embedded channel has no {what} `{value}`",
        hint=f"choose from {', '.join(f'`{choice}`' for choice in choices)}, or use `--channel conda-forge`",
    )


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]
