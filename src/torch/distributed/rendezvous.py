"""How processes find one another: `env://`, `tcp://HOST:PORT` or `file:///PATH` becomes a store and a rank."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from torch.distributed._file_store import FileStore
from torch.distributed._store import DEFAULT_TIMEOUT, PrefixStore, Store
from torch.distributed._tcp_store import TCPStore
from torch.distributed.constants import default_pg_timeout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import timedelta
    from urllib.parse import SplitResult

__all__ = ["default_pg_timeout", "register_rendezvous_handler", "rendezvous"]

Found = tuple[Store, int, int]
_handlers: dict[str, Callable[..., Iterator[Found]]] = {}


def register_rendezvous_handler(scheme: str, handler: Callable[..., Iterator[Found]]) -> None:
    """Has `handler(url, timeout=...)` give (store, rank, world_size) for addresses that begin with `scheme`."""
    if scheme in _handlers:
        raise RuntimeError(f"Rendezvous handler for {scheme}:// already registered")
    _handlers[scheme] = handler


def rendezvous(url: str, rank: int = -1, world_size: int = -1, **kwargs: Any) -> Iterator[Found]:
    """Gives (store, rank, world_size) for an address; rank and size come from it unless they are said here."""
    if not isinstance(url, str):
        raise RuntimeError(f"`url` must be a string. {type(url)}: {url}")
    if not isinstance(rank, int):
        raise RuntimeError(f"`rank` must be an integer. {rank}")
    if not isinstance(world_size, int):
        raise RuntimeError(f"`world_size` must be an integer. {world_size}")
    parts = urlsplit(url)
    if parts.scheme not in _handlers:
        raise RuntimeError(f"No rendezvous handler for {parts.scheme}://")
    said = {key: values[-1] for key, values in parse_qs(parts.query).items()}
    if rank != -1:
        said["rank"] = str(rank)
    if world_size != -1:
        said["world_size"] = str(world_size)
    url = parts._replace(query="&".join(f"{key}={value}" for key, value in said.items())).geturl()
    return _handlers[parts.scheme](url, **kwargs)


def _mistake(scheme: str, text: str) -> ValueError:
    return ValueError(f"Error initializing torch.distributed using {scheme} rendezvous: {text}")


def _number(scheme: str, said: dict[str, list[str]], name: str) -> int:
    if name not in said:
        raise _mistake(scheme, f"{name.replace('_', ' ')} parameter missing")
    try:
        return int(said[name][0])
    except ValueError:
        raise _mistake(scheme, f"{name.replace('_', ' ')} {said[name][0]!r} is no number") from None


def check_rank(rank: int, size: int) -> None:
    """ValueError unless a group of this size has such a member: before anybody is waited for."""
    if not 0 <= rank < size:
        raise ValueError(f"rank {rank} is not in the range 0 to {size - 1}: world_size is {size}")


def _file(url: str, timeout: timedelta = DEFAULT_TIMEOUT, **kwargs: Any) -> Iterator[Found]:
    parts: SplitResult = urlsplit(url)
    said = parse_qs(parts.query)
    if not parts.path:
        raise _mistake("file://", "path missing")
    rank, size = _number("file://", said, "rank"), _number("file://", said, "world_size")
    check_rank(rank, size)
    store = FileStore(parts.path, size)
    store.set_timeout(timeout)
    yield store, rank, size
    raise RuntimeError("Unable to perform rerendezvous using file:// method")


def _tcp(url: str, timeout: timedelta = DEFAULT_TIMEOUT, **kwargs: Any) -> Iterator[Found]:
    parts = urlsplit(url)
    said = parse_qs(parts.query)
    try:
        port = parts.port
    except ValueError as error:
        raise _mistake("tcp://", str(error)) from None
    if port is None or not parts.hostname:
        raise _mistake("tcp://", "port number missing" if port is None else "host name missing")
    rank, size = _number("tcp://", said, "rank"), _number("tcp://", said, "world_size")
    check_rank(rank, size)
    yield _served_store(parts.hostname, port, rank, size, timeout), rank, size
    raise RuntimeError("Unable to perform re-rendezvous using tcp:// method")


def _env(url: str, timeout: timedelta = DEFAULT_TIMEOUT, **kwargs: Any) -> Iterator[Found]:
    said = parse_qs(urlsplit(url).query)

    def variable(name: str) -> str:
        value = os.environ.get(name)
        if value is None:
            raise _mistake("env://", f"environment variable {name} expected, but not set")
        return value

    def number(name: str) -> int:
        if name.lower() in said:
            return _number("env://", said, name.lower())
        value = variable(name)
        try:
            return int(value)
        except ValueError:
            raise _mistake("env://", f"environment variable {name} is {value!r}, which is no number") from None

    rank, size = number("RANK"), number("WORLD_SIZE")
    check_rank(rank, size)
    host, port = variable("MASTER_ADDR"), number("MASTER_PORT")
    yield _served_store(host, port, rank, size, timeout), rank, size
    raise RuntimeError("Unable to perform re-rendezvous using env:// method")


def _served_store(host: str, port: int, rank: int, size: int, timeout: timedelta) -> Store:
    """The TCPStore of rank 0, or of the launcher (torchrun), which keeps it while workers come and go."""
    if not 0 <= port < 1 << 16:
        raise ValueError(f"port must have value from 0 to 65535 but was {port}.")
    if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True":
        attempt = os.environ.get("TORCHELASTIC_ROUND", os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))
        return PrefixStore(
            f"/worker/attempt_{attempt}", TCPStore(host, port, size, timeout=timeout, wait_for_workers=False)
        )
    return TCPStore(host, port, size, rank == 0, timeout, wait_for_workers=False, multi_tenant=True)


register_rendezvous_handler("tcp", _tcp)
register_rendezvous_handler("env", _env)
register_rendezvous_handler("file", _file)
