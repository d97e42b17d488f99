"""From a request to a channel on disk, with the least work that the cache allows."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
from contextlib import suppress
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from slipway.base import errors, log
from slipway.base.platform import LINUX_64
from slipway.base.proc import Processes
from slipway.base.user_folders import cache_folder
from slipway.bootstrap import cpython, making
from slipway.bootstrap.cache import Cache, typed_disk_errors
from slipway.bootstrap.choices import DATA, ChannelRequest, EmbeddedSettings, names_on_demand, read_settings
from slipway.bootstrap.code import code_digest
from slipway.bootstrap.interpreter import Interpreter, find_interpreter
from slipway.bootstrap.stored import load_channel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from slipway.bootstrap.download import Host
    from slipway.bootstrap.stored import EmbeddedChannel


def ensure_channel(
    request: ChannelRequest,
    reporter: log.Reporter,
    *,
    cache: Path | None = None,
    offline: bool = False,
    refresh: bool = False,
    data: Path = DATA,
    host: Host | None = None,
) -> EmbeddedChannel:
    """Make the channel that `request` asks for, or find it in the cache.

    Args:
        cache: the cache folder; None for `slipway.base.user_folders.cache_folder`.
        offline: never use the network.
        refresh: take what Debian's index offers today, whatever the lock says.
        data: the folder of descriptions and lock.
        host: where the machine's own description lies.

    Raises:
        UsageError: the request is for something that the channel does not have.
        NetworkError, IntegrityError, DiskFullError, HostError, BusyError, ChannelError: see `slipway.base.errors`.
    """
    store = Cache(cache or cache_folder())
    settings = read_settings(data / "settings.yaml")
    settings.check(request)
    check_machine(settings.glibc, machine=platform.machine(), library=os.confstr("CS_GNU_LIBC_VERSION"))
    processes = Processes()

    def build(version: str) -> Interpreter:
        """One that this machine has not; its tools come from a channel without any."""

        def find_tools() -> str:
            tools = ChannelRequest(python=(), names=cpython.NEEDS)
            return ensure_channel(tools, reporter, cache=store.root, offline=offline, data=data, host=host).url

        source = settings.cpython[version]
        return cpython.SourceBuild(version, source, store.root, find_tools, reporter, host, offline).interpreter()

    pythons = _find_pythons(request, settings, processes, build)
    request = replace(
        request,
        python=tuple(pythons),
        build_tools=request.build_tools and len(pythons) > 1,
        names=tuple(sorted(names_on_demand(data).intersection(request.names))),
    )
    stamp = _stamp(request, pythons, data)
    if not refresh and (found := load_channel(store, stamp)):
        return found
    with typed_disk_errors(store.root), store.exclusive(reporter):
        if not refresh and (found := load_channel(store, stamp)):
            return found
        place = making.make_workplace(store, data, pythons, processes, reporter, host=host, offline=offline)
        return making.make_channel(request, place, stamp=stamp, refresh=refresh)


def check_machine(glibc: str, *, machine: str, library: str | None) -> None:
    """Raise HostError where the channel's packages cannot run.

    Args:
        glibc: the oldest glibc that they run with, X.Y.
        machine: the processor's name, as ``uname -m`` prints it.
        library: the C library and its version, as ``getconf GNU_LIBC_VERSION`` prints them; None for another one.
    """
    if machine != LINUX_64.cpu:
        raise errors.HostError(
            f"the embedded channel is for {LINUX_64.cpu}, and this machine is {machine}",
            hint="use `--channel conda-forge` on another processor",
        )
    name, _, version = (library or "").partition(" ")
    numbers = [int(part) for part in re.findall(r"\d+", version)]
    if name != "glibc" or numbers < [int(part) for part in glibc.split(".")]:
        raise errors.HostError(
            f"the embedded channel needs glibc {glibc} or newer, and this machine has {library or 'another C library'}",
            hint="use Debian 12 or newer, or `--channel conda-forge`",
        )


def _find_pythons(
    request: ChannelRequest, settings: EmbeddedSettings, processes: Processes, build: Callable[[str], Interpreter]
) -> dict[str, Interpreter]:
    """Those that are asked for; before them that of build tools, where that is asked for, too.

    Args:
        build: makes what is asked for and not here.
    """

    def find(version: str) -> Interpreter:
        return find_interpreter(version, processes, debian_python=settings.debian_python)

    found = {}
    for version in request.python:
        try:
            found[version] = find(version)
        except errors.HostError:
            found[version] = build(version)
    for version in settings.pythons if request.build_tools else ():
        with suppress(errors.HostError):  # this machine may lack it; it has what was asked for
            return {version: found.get(version) or find(version)} | found
    return found


def _stamp(request: ChannelRequest, pythons: Mapping[str, Interpreter], data: Path) -> str:
    """The fingerprint of everything that decides what the channel holds."""
    contents = hashlib.sha256()
    for path in sorted(path for path in data.rglob("*") if path.is_file()):
        own = hashlib.sha256(path.read_bytes()).hexdigest()
        contents.update(f"{path.relative_to(data).as_posix()} {own}\n".encode())
    interpreters = {version: python.fingerprint for version, python in pythons.items()}
    facts = [asdict(request), contents.hexdigest(), interpreters, code_digest()]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
