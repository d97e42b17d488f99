"""What a report of a mistake should say about a machine: `python -m torch.utils.collect_env`."""

from __future__ import annotations

import platform
import sys
from typing import NamedTuple

import torch

__all__ = ["SystemEnv", "get_env_info", "get_pretty_env_info", "main", "pretty_str"]


class SystemEnv(NamedTuple):
    """The facts that are reported."""

    torch_version: str
    is_debug_build: str
    cuda_compiled_version: str
    is_cuda_available: str
    cuda_unavailable_reason: str
    os: str
    libc_version: str
    python_version: str
    python_platform: str
    numpy_version: str
    threads: int
    build: str


def _numpy_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("numpy")
    except PackageNotFoundError:
        return "not installed"


def get_env_info() -> SystemEnv:
    """The facts of this machine and this process."""
    available = torch.cuda.is_available()
    return SystemEnv(
        torch_version=str(torch.__version__),
        is_debug_build=str(torch.version.debug),
        cuda_compiled_version=str(torch.version.cuda),
        is_cuda_available=str(available),
        cuda_unavailable_reason="" if available else str(torch.cuda.unavailable_reason()),
        os=platform.platform(),
        libc_version=" ".join(filter(None, platform.libc_ver())),
        python_version=sys.version.replace("\n", " "),
        python_platform=platform.machine(),
        numpy_version=_numpy_version(),
        threads=torch.get_num_threads(),
        build=torch.__config__.show(),
    )


def pretty_str(envinfo: SystemEnv) -> str:
    """The facts as lines of text."""
    lines = [f"{name.replace('_', ' ')}: {value}" for name, value in envinfo._asdict().items() if name != "build"]
    return "\n".join([*lines, "", envinfo.build])


def get_pretty_env_info() -> str:
    """The facts of this machine as lines of text."""
    return pretty_str(get_env_info())


def main() -> None:
    """Prints them."""
    print("Collecting environment information...")
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
