"""An index of wheels that pip reads (PEP 503), beside a published channel: plain files below ``simple/``.

A wheel goes there before the page that names it, and never changes; two who add wheels lose nothing, because a page is
exchanged only if it is still what was read.
"""

from __future__ import annotations

import hashlib
import html
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from slipway.base.errors import ChannelError
from slipway.base.files import hash_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from slipway.channel.stores import ChannelStore

FOLDER = "simple"
ATTEMPTS = 5
"""How often a page is read again that somebody else exchanged meanwhile."""

_LINK = re.compile(r'<a href="([^"#]+)(#[^"]*)?">([^<]*)</a>')


def project_of(wheel: str) -> str:
    """The project whose page names a wheel, as pip writes it."""
    return re.sub(r"[-_.]+", "-", wheel.partition("-")[0]).lower()


def add_wheels(store: ChannelStore, wheels: Sequence[Path]) -> list[str]:
    """Put wheels into the index; returns the names of those that were not there.

    Raises:
        ChannelError: another wheel of that name is there.
        NetworkError: see `slipway.channel.stores.ChannelStore`.
    """
    added = [wheel.name for wheel in wheels if store.exchange(_place_of(wheel), wheel, None)]
    refuse_changed(store, wheels)
    for project in sorted({project_of(wheel.name) for wheel in wheels}):
        links = {
            quote(wheel.name): f"#sha256={hash_file(wheel)}" for wheel in wheels if project_of(wheel.name) == project
        }
        _add_links(store, f"{FOLDER}/{project}/index.html", links)
        _add_links(store, f"{FOLDER}/index.html", {f"{project}/": ""})
    return added


def refuse_changed(store: ChannelStore, wheels: Sequence[Path]) -> None:
    """See to it that of each wheel, no other one is there.

    Raises:
        ChannelError: one is.
        NetworkError: see `slipway.channel.stores.ChannelStore`.
    """
    for wheel in wheels:
        there = store.read(_place_of(wheel))
        if there is not None and hashlib.sha256(there.content).hexdigest() != hash_file(wheel):
            raise ChannelError(
                f"another wheel is published as {wheel.name}", where=store.address,
                hint="a published wheel never changes; give the new one another version",
            )  # fmt: skip


def _place_of(wheel: Path) -> str:
    return f"{FOLDER}/{project_of(wheel.name)}/{wheel.name}"


def _add_links(store: ChannelStore, name: str, links: dict[str, str]) -> None:
    """Let a page name `links`, too: addresses relative to it, and what stands behind them."""
    for _ in range(ATTEMPTS):
        before = store.read(name)
        text = before.content.decode() if before is not None else ""
        known = {address: mark for address, mark, _ in _LINK.findall(text)}
        if links.items() <= known.items():
            return
        if store.exchange(name, _page(known | links).encode(), before):
            return
    raise ChannelError("the index changes all the time", where=f"{store.address}/{name}", hint="try again later")


def _page(links: dict[str, str]) -> str:
    lines = [
        f'<a href="{address}{mark}">{html.escape(address.rstrip("/"))}</a><br>'
        for address, mark in sorted(links.items())
    ]
    version = '<meta name="pypi:repository-version" content="1.0">'
    head = f"<!DOCTYPE html>\n<html><head>{version}<title>index</title></head><body>"
    return "\n".join([head, *lines, "</body></html>\n"])
