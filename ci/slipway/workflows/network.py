"""What a scheduler, its workers and a run need of dask.distributed, an optional dependency: that it is there, and TLS.

Nothing here imports it. A folder of keys holds `ca.pem`, `cert.pem` and `key.pem`; one folder may serve all machines.
"""

from __future__ import annotations

import importlib.util
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from slipway.base.errors import HostError, UsageError

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

CERTIFICATES = ("ca.pem", "cert.pem", "key.pem")
LOCAL = ("127.0.0.1", "localhost", "::1")


def require_distributed() -> None:
    """See to it that dask.distributed can be imported.

    Raises:
        HostError: it is not installed.
    """
    if importlib.util.find_spec("distributed") is None:
        raise HostError(
            "builds on other machines need the Python package `distributed`",
            hint=f"`{sys.executable} -m pip install distributed`, here and where scheduler and workers run",
        )


def add_tls_argument(parser: argparse.ArgumentParser) -> None:
    """Where the keys lie; a `Path`, which this module only reads."""
    parser.add_argument(
        "--tls", metavar="DIR", help=f"speak TLS, with {', '.join(CERTIFICATES)} of that folder; the address is tls://"
    )


def security_words(folder: Path) -> dict[str, Any]:
    """What `distributed.Security` is made with: one certificate for all roles, and nothing without TLS.

    Raises:
        UsageError: a file is missing.
    """
    for name in CERTIFICATES:
        if not (folder / name).is_file():
            raise UsageError(
                f"the folder of keys lacks {name}", where=str(folder), hint="docs/ci.md tells how to make it"
            )
    authority, certificate, key = (str(folder / name) for name in CERTIFICATES)
    words: dict[str, Any] = {"tls_ca_file": authority, "require_encryption": True}
    for role in ("scheduler", "worker", "client"):
        words |= {f"tls_{role}_cert": certificate, f"tls_{role}_key": key}
    return words


def check_address(address: str, *, tls: bool) -> str | None:
    """See to it that `address` is a scheduler's; a warning if everybody who reaches it can run programs there.

    Raises:
        UsageError: it is not, or not of the kind that `tls` asks for.
    """
    parts = urlsplit(address)
    if parts.scheme not in ("tcp", "tls") or parts.hostname is None or parts.path or "@" in parts.netloc:
        raise UsageError(
            f"`{address}` is no scheduler's address", hint="such as tcp://127.0.0.1:8786, or tls://HOST:8786"
        )
    if tls != (parts.scheme == "tls"):
        raise UsageError(
            f"`{address}` and --tls do not go together" if tls else f"`{address}` needs --tls DIR",
            hint="an address that begins with tls:// is the one that takes keys",
        )
    if not tls and parts.hostname not in LOCAL:
        return f"warning: without TLS, whoever reaches {parts.netloc} can run programs on its workers (see --tls)"
    return None
