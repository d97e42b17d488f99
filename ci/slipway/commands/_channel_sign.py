"""`slipway channel sign`: one more signature of a channel's catalogue."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from slipway.channel import stores
from slipway.proof import keys
from slipway.proof.channels import sign_channel

if TYPE_CHECKING:
    import argparse

    from slipway.base.log import Reporter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("address", metavar="ADDRESS", help="the channel, as `slipway publish --to` takes it")
    parser.add_argument("--key", type=Path, required=True, metavar="FILE", help="the private key, in PEM's form")
    parser.add_argument("--alone", action="store_true", help="nobody else publishes there, see `slipway publish`")


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Sign."""
    key = keys.load_signer(arguments.key)
    with stores.open_store(arguments.address, alone=arguments.alone) as store:
        sign_channel(store, key)
        reporter.line(f"{store.address} is signed by {key.public}")
    return 0
