"""`slipway channel repair`: the indexes of a channel, written again from its catalogue where they differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slipway.channel import publishing, stores

if TYPE_CHECKING:
    import argparse

    from slipway.base.log import Reporter
    from slipway.channel.catalogue import Catalogue
    from slipway.channel.publishing import PublishPlan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("address", metavar="ADDRESS", help="the channel, as `slipway publish --to` takes it")
    parser.add_argument("--alone", action="store_true", help="nobody else publishes there, see `slipway publish`")


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Write them."""
    with stores.open_store(arguments.address, alone=arguments.alone) as store:

        def plan(catalogue: Catalogue) -> PublishPlan:
            return publishing.plan_removal(store.address, catalogue, ())

        with reporter.step(f"repair {store.address}"):
            done = publishing.carry_out(store, plan, reporter)
        reporter.line(f"{len(done.catalogue.packages)} package(s) in {store.address}")
    return 0
