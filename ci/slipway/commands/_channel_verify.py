"""`slipway channel verify`: a channel held to what those who are trusted have signed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from slipway.channel import stores
from slipway.commands._options import ROLLBACK_HELP
from slipway.proof import keys
from slipway.proof.channels import check_channel

if TYPE_CHECKING:
    import argparse

    from slipway.base.log import Reporter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("address", metavar="ADDRESS", help="the channel, as `slipway publish --to` takes it")
    parser.add_argument("--keys", type=Path, required=True, metavar="FILE", help="YAML: whose signatures count")
    parser.add_argument("--contents", action="store_true", help="read the packages, too")
    parser.add_argument("--allow-rollback", action="store_true", help=ROLLBACK_HELP)


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Verify."""
    trust = keys.load_trust(arguments.keys)
    store = stores.find_store(arguments.address)
    with reporter.step(f"verify {store.address}"):
        found = check_channel(store, trust, contents=arguments.contents, allow_rollback=arguments.allow_rollback)
    reporter.line(f"{found.packages} package(s) are as {', '.join(found.signers)} signed them")
    return 0
