"""`slipway channel prune`: keep the last builds of each variant, and what they need."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.channel import publishing, stores
from slipway.channel.retention import find_old
from slipway.commands._parsers import count
from slipway.proof import keys
from slipway.proof.channels import check_change, sign_channel

if TYPE_CHECKING:
    import argparse

    from slipway.base.log import Reporter
    from slipway.channel.catalogue import Catalogue
    from slipway.channel.publishing import PublishPlan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("address", metavar="ADDRESS", help="the channel, as `slipway publish --to` takes it")
    parser.add_argument("--keep", type=count, required=True, metavar="N", help="how many builds of each variant stay")
    parser.add_argument("--dry-run", action="store_true", help="print the plan, and change nothing")
    parser.add_argument("--alone", action="store_true", help="nobody else publishes there, see `slipway publish`")
    parser.add_argument("--key", type=Path, metavar="FILE", help="sign what is left with this private key")
    parser.add_argument("--json", action="store_true", help="print the plan as JSON")


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Take packages out: of the indexes first, then their files."""
    key = keys.load_signer(arguments.key) if arguments.key else None
    with stores.open_store(arguments.address, alone=arguments.alone) as store:

        def plan(catalogue: Catalogue) -> PublishPlan:
            made = publishing.plan_removal(store.address, catalogue, find_old(catalogue, arguments.keep))
            if made.removed and not arguments.dry_run:
                check_change(store, catalogue, signed=key is not None)
            return made

        if arguments.dry_run:
            done = plan(publishing.read_catalogue(store)[0])
        else:
            with reporter.step(f"prune {store.address}"):
                done = publishing.carry_out(store, plan, reporter)
                if key is not None:
                    sign_channel(store, key)
    if arguments.json:
        print(json.dumps(done.to_json(), indent=2))
        return 0
    for line in done.lines():
        reporter.line(line)
    return 0
