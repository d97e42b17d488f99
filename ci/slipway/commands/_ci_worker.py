"""`slipway ci worker`: a machine that does jobs for `slipway ci run --on`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.errors import UsageError
from slipway.base.memory import available_memory
from slipway.base.platform import usable_cpus
from slipway.base.user_folders import cache_folder
from slipway.commands._parsers import count
from slipway.workflows import worker
from slipway.workflows.network import add_tls_argument, check_address, require_distributed, security_words

if TYPE_CHECKING:
    import argparse

    from slipway.base.log import Reporter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("scheduler", metavar="ADDRESS", help="tcp://HOST:PORT, or tls://HOST:PORT with --tls")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="where it works (default: in the cache)")
    parser.add_argument("--jobs", type=count, default=usable_cpus(), metavar="N", help="cores to give away")
    parser.add_argument("--memory", type=float, metavar="GB", help="memory to give away (default: what is free)")
    parser.add_argument("--name", metavar="NAME", help="how runs call it (default: the machine's, and a number)")
    add_tls_argument(parser)


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Work until it is interrupted."""
    require_distributed()
    if arguments.jobs < 1:
        raise UsageError("--jobs must be at least 1")
    security = security_words(Path(arguments.tls)) if arguments.tls else {}
    warning = check_address(arguments.scheduler, tls=bool(security))
    if warning:
        reporter.line(warning)
    memory = available_memory() / 1e9 if arguments.memory is None else arguments.memory
    folder = (arguments.folder or cache_folder() / "worker").resolve()
    named = {"name": arguments.name} if arguments.name else {}
    worker.WorkerServer(arguments.scheduler, folder, memory, arguments.jobs, reporter, security, **named).serve()
    return 0
