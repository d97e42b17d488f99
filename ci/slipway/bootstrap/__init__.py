"""The embedded channel: conda packages under conda-forge's names, assembled from wheels and Debian packages.

    settings, packages/*.yaml -> inventory -> PackageDescription        (what there is; pure)
    lock, apt's index         -> ResolvedSource                         (what goes in, by sha256)
    wheels, debs, interpreter -> sources -> assemble -> writer          (a .conda file in the cache)
    index                     -> EmbeddedChannel                        (a folder that solvers read)

`ensure_channel` does all of it, or nothing when the cache already holds the answer.
"""

from __future__ import annotations

from slipway.bootstrap.ensure import DATA, ChannelPackage, EmbeddedChannel, ensure_channel
from slipway.bootstrap.inventory import ChannelRequest, Settings, read_settings

__all__ = [
    "DATA",
    "ChannelPackage",
    "ChannelRequest",
    "EmbeddedChannel",
    "embedded_choices",
    "ensure_channel",
]


def embedded_choices() -> Settings:
    """What the embedded channel can be asked for."""
    return read_settings(DATA / "settings.yaml")
