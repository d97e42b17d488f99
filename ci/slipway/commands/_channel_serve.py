"""`slipway channel serve`: a channel's folder over HTTP, until it is interrupted."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.errors import ChannelError, HostError, UsageError
from slipway.base.paths import Workspace
from slipway.base.secrets import remember_secret
from slipway.channel import serving

if TYPE_CHECKING:
    import argparse

    from slipway.base.log import Reporter

TOKENS = "SLIPWAY_CHANNEL_TOKENS"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("folder", nargs="?", type=Path, metavar="DIR", help="the channel (default: dist/channel)")
    parser.add_argument("--host", default="127.0.0.1", metavar="ADDRESS",
                        help="where to listen; 0.0.0.0 is everywhere (default: this machine alone)")  # fmt: skip
    parser.add_argument("--port", type=int, default=8000, metavar="N", help="default: 8000; 0 is any that is free")
    parser.add_argument("--tls", nargs=2, type=Path, metavar=("CERTIFICATE", "KEY"), help="serve over TLS")
    parser.epilog = f"{TOKENS}, a variable with words between blanks, says which tokens open it; else all may read."


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Serve."""
    folder = (arguments.folder or Workspace.of_checkout().channel).resolve()
    if not (folder / "noarch").is_dir():
        raise ChannelError("there is no channel", where=str(folder), hint="`slipway publish --to DIR` makes one")
    if not 0 <= arguments.port < 65536:
        raise UsageError(f"--port: {arguments.port} is no port")
    tokens = frozenset(os.environ.get(TOKENS, "").split())
    for token in tokens:
        remember_secret(token, TOKENS)
    place = (arguments.host, arguments.port)
    try:
        server = serving.make_server(folder, place, tokens=tokens, certificate=arguments.tls, on_answer=reporter.line)
    except OSError as error:
        raise HostError(f"cannot serve there: {error.strerror or error}", where=f"{place[0]}:{place[1]}") from error
    scheme = "https" if arguments.tls else "http"
    who = "who says a token" if tokens else "everybody"
    reporter.line(f"{folder} at {scheme}://{arguments.host}:{server.server_port}, for {who}")
    try:
        server.serve_forever()
    finally:
        server.server_close()
    return 0
