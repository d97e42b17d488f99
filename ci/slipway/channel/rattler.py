"""rattler: the solver, the installer and the reader of packages, which most commands need late or not at all.

It is one of `slipway.LATE`, so nobody else imports the library: `from slipway.channel import rattler`.
"""

from asyncio import run

from rattler import (
    BuildString,
    Client,
    Gateway,
    GenericVirtualPackage,
    MatchSpec,
    PackageName,
    PackageRecord,
    PrefixRecord,
    RepoDataRecord,
    Subdir,
    Version,
    VersionSpec,
    VirtualPackage,
    VirtualPackageOverrides,
    exceptions,
    install,
    package_streaming,
    solve,
)
from rattler.index import index_fs
from rattler.install import InstallerReporter
from rattler.networking import AuthenticationMiddleware, MirrorMiddleware

__all__ = [
    "AuthenticationMiddleware",
    "BuildString",
    "Client",
    "Gateway",
    "GenericVirtualPackage",
    "InstallerReporter",
    "MatchSpec",
    "MirrorMiddleware",
    "PackageName",
    "PackageRecord",
    "PrefixRecord",
    "RepoDataRecord",
    "Subdir",
    "Version",
    "VersionSpec",
    "VirtualPackage",
    "VirtualPackageOverrides",
    "exceptions",
    "index_fs",
    "install",
    "package_streaming",
    "run",
    "solve",
]
