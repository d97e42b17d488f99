"""`slipway ci scheduler`: where workers and `slipway ci run --on` find each other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.errors import HostError
from slipway.workflows import worker
from slipway.workflows.network import add_tls_argument, check_address, require_distributed, security_words

if TYPE_CHECKING:
    import argparse

    from slipway.base.log import Reporter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--host", default="127.0.0.1", metavar="ADDRESS",
                        help="where to listen; 0.0.0.0 is everywhere (default: this machine alone)")  # fmt: skip
    parser.add_argument("--port", type=int, default=8786, metavar="N", help="default: 8786")
    add_tls_argument(parser)


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Serve until it is interrupted."""
    require_distributed()
    security = security_words(Path(arguments.tls)) if arguments.tls else {}
    place = f"{'tls' if security else 'tcp'}://{arguments.host}:{arguments.port}"
    warning = check_address(place, tls=bool(security))
    if warning:
        reporter.line(warning)
    try:
        worker.serve_scheduler(arguments.host, arguments.port, security, reporter)
    except OSError as error:
        raise HostError(f"cannot listen there: {error.strerror or error}", where=place) from error
    return 0
