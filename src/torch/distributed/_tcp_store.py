"""TCPStore: a store that one process serves and all reach.

The server is one thread that waits for all its connections at once (epoll) and never for one of them. A message, either
way, is a length and parts; the first bytes of a connection are GREETING. Whoever says anything else is disconnected,
and so is who announces more than a message may hold; memory is taken for bytes that have come, not for announced ones.
A client asks again when it has its answer: the server reads nothing from one that does not take its answers, and
disconnects one that speaks while it waits. A client that waits no longer closes its connection: that is how the server
knows.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import struct
import threading
import time
from typing import TYPE_CHECKING, Any

from torch.distributed._errors import DistNetworkError, DistStoreError
from torch.distributed._store import DEFAULT_TIMEOUT, Store, Table, late

if TYPE_CHECKING:
    import datetime

__all__ = ["TCPStore"]

GREETING = b"torch.distributed store 1\n"
LENGTH = struct.Struct("<Q")
MOST_BYTES = 1 << 32
PIECE = 1 << 20


def pack(parts: list[bytes]) -> list[bytes]:
    """A message: its length, then each part's length and bytes."""
    pieces = [piece for part in parts for piece in (LENGTH.pack(len(part)), part)]
    return [LENGTH.pack(sum(map(len, pieces))), *pieces]


def unpack(body: bytes | bytearray) -> list[bytes]:
    """The parts of a message. ValueError if their lengths are not the message's."""
    parts, at = [], 0
    while at < len(body):
        if at + LENGTH.size > len(body):
            raise ValueError("a part without its length")
        (size,) = LENGTH.unpack_from(body, at)
        at += LENGTH.size
        if at + size > len(body):
            raise ValueError("a part longer than its message")
        parts.append(bytes(body[at : at + size]))
        at += size
    return parts


def check_answer(command: str, parts: list[bytes], answer: list[bytes]) -> None:
    """Raises ValueError unless a server may answer so."""
    expected = {"get": len(parts), "set": 0, "wait": 0, "append": 0, "keys": len(answer)}.get(command, 1)
    if len(answer) != expected:
        raise ValueError(f"{len(answer)} values in answer to {command!r}, which has {expected}")
    if command == "add":
        int(answer[0])


class Client:
    """What the server knows of one connection."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.received = bytearray()
        self.greeted = False
        self.waiting: tuple[str, list[bytes]] | None = None
        self.unsent: list[memoryview] = []

    def next_message(self) -> list[bytes] | None:
        """The first whole message of what was received, if there is one. ValueError for rubbish."""
        if not self.greeted:
            if not GREETING.startswith(self.received[: len(GREETING)]):
                raise ValueError("no greeting")
            if len(self.received) < len(GREETING):
                return None
            del self.received[: len(GREETING)]
            self.greeted = True
        if len(self.received) < LENGTH.size:
            return None
        (size,) = LENGTH.unpack_from(self.received)
        if size > MOST_BYTES:
            raise ValueError("too long")
        end = LENGTH.size + size
        if len(self.received) < end:
            return None
        body = self.received[LENGTH.size : end]
        del self.received[:end]
        return unpack(body)

    def send(self) -> None:
        """Sends what can be sent without waiting."""
        while self.unsent:
            sent = self.connection.send(self.unsent[0])
            if sent < len(self.unsent[0]):
                self.unsent[0] = self.unsent[0][sent:]
            else:
                self.unsent.pop(0)


class Server:
    """The thread that serves a table."""

    def __init__(self, listener: socket.socket) -> None:
        listener.setblocking(False)
        self.listener, self.table = listener, Table()
        self.selector = selectors.DefaultSelector()
        self.selector.register(listener, selectors.EVENT_READ)
        self.waking, self.woken = socket.socketpair()
        self.selector.register(self.woken, selectors.EVENT_READ)
        self.waiters: dict[bytes, set[Client]] = {}
        self.thread = threading.Thread(target=self.serve, name="torch-store", daemon=True)
        self.thread.start()

    def stop(self) -> None:
        """Ends the thread and closes all connections."""
        self.waking.close()
        if threading.current_thread() is not self.thread:
            self.thread.join()

    def serve(self) -> None:
        while True:
            for key, events in self.selector.select():
                if key.fileobj is self.woken:
                    self.close()
                    return
                if key.fileobj is self.listener:
                    self.accept()
                elif key.data.connection.fileno() >= 0:  # not dropped in this round
                    self.attend(key.data, events)

    def close(self) -> None:
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]
        self.selector.close()

    def accept(self) -> None:
        try:
            connection, _ = self.listener.accept()
        except OSError:
            time.sleep(0.01)  # it has gone again, or there are too many
            return
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.selector.register(connection, selectors.EVENT_READ, Client(connection))

    def attend(self, client: Client, events: int) -> None:
        try:
            if events & selectors.EVENT_READ:
                piece = client.connection.recv(PIECE)
                if not piece:
                    self.drop(client)
                    return
                if client.waiting is not None:
                    raise ValueError("a request before the answer to the last one")
                client.received += piece
            self.flush(client)
            while client.waiting is None and not client.unsent and (message := client.next_message()) is not None:
                self.handle(client, message)
        except BlockingIOError:
            pass
        except (OSError, ValueError, TypeError, UnicodeDecodeError, IndexError):
            self.drop(client)  # it has died, or speaks something else

    def handle(self, client: Client, message: list[bytes]) -> None:
        command, parts = message[0].decode(), message[1:]
        answer = self.table.answer(command, parts)
        if answer is None:
            client.waiting = (command, parts)
            for key in parts:
                self.waiters.setdefault(key, set()).add(client)
            return
        self.reply(client, answer)
        if self.waiters and command in ("set", "add", "append", "compare_set"):
            for key in parts:
                for waiter in list(self.waiters.get(key, ())):
                    self.retry(waiter)

    def retry(self, client: Client) -> None:
        """Answers a client that waits, if it can be now."""
        assert client.waiting is not None
        command, parts = client.waiting
        answer = self.table.answer(command, parts)
        if answer is not None:
            self.forget(client)
            self.reply(client, answer)

    def reply(self, client: Client, answer: list[bytes]) -> None:
        client.unsent += [memoryview(b"".join(pack(answer)))]
        try:
            self.flush(client)
        except OSError:
            self.drop(client)

    def flush(self, client: Client) -> None:
        """Sends, and has the thread woken for the rest when there is room."""
        with contextlib.suppress(BlockingIOError):
            client.send()
        wanted = selectors.EVENT_WRITE if client.unsent else selectors.EVENT_READ
        if client.connection.fileno() >= 0 and self.selector.get_key(client.connection).events != wanted:
            self.selector.modify(client.connection, wanted, client)

    def forget(self, client: Client) -> None:
        """It waits no longer."""
        for key in client.waiting[1] if client.waiting else ():
            waiters = self.waiters.get(key, set())
            waiters.discard(client)
            if not waiters:
                self.waiters.pop(key, None)
        client.waiting = None

    def drop(self, client: Client) -> None:
        self.forget(client)
        if client.connection.fileno() >= 0:
            self.selector.unregister(client.connection)
            client.connection.close()


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens on all addresses. DistNetworkError, with the port, where that cannot be."""
    try:
        listener = socket.create_server(("", port), backlog=1024)
    except (OSError, OverflowError) as error:
        code = error.errno if isinstance(error, OSError) else None
        raise DistNetworkError(
            "The server socket has failed to listen on any local network address. "
            f"port: {port}, code: {code}, message: {error}"
        ) from None
    return listener


class TCPStore(Store):
    """A store that one process (`is_master`) serves, and that all reach at `host_name` and `port` (0: any free one).

    The master waits for `world_size` processes if that is said, itself included. With `multi_tenant` several of one
    process share a server. DistNetworkError where the port is taken or nobody answers in time.
    """

    _servers: dict[int, Any] = {}  # noqa: RUF012 - by port, for multi_tenant

    def __init__(
        self,
        host_name: str,
        port: int,
        world_size: int | None = None,
        is_master: bool = False,
        timeout: datetime.timedelta = DEFAULT_TIMEOUT,
        wait_for_workers: bool = True,
        multi_tenant: bool = False,
        master_listen_fd: int | None = None,
        use_libuv: bool = True,
    ) -> None:
        super().__init__()
        self.timeout, self.host, self.port = timeout, host_name, int(port)
        self.use_libuv = self.libuvBackend = use_libuv
        self._world_size = world_size
        self._server: Server | None = None
        self._pid, self._idle = os.getpid(), []  # type: ignore[var-annotated]
        if is_master:
            shared = TCPStore._servers.get(self.port) if multi_tenant else None
            if shared is None:
                listener = socket.socket(fileno=master_listen_fd) if master_listen_fd is not None else None
                shared = Server(listener or listen(host_name, self.port))
                if multi_tenant:
                    TCPStore._servers[shared.listener.getsockname()[1]] = shared
                else:
                    self._server = shared
            self.port = shared.listener.getsockname()[1]
        self._idle.append(self._connect(timeout.total_seconds()))
        if world_size is not None and world_size > 0:
            self._join(world_size, is_master and wait_for_workers)

    def _join(self, world_size: int, wait: bool) -> None:
        joined = self.add("init/", 1)
        if joined == world_size:
            self.set("init/ready", b"1")
        if not wait:
            return
        try:
            self.wait(["init/ready"])
        except DistStoreError:
            seconds = self.timeout.total_seconds()
            joined = self.add("init/", 0)
            raise DistStoreError(
                f"Timed out after {seconds:g} seconds waiting for clients. {joined}/{world_size} clients joined."
            ) from None

    @property
    def world_size(self) -> int | None:
        """How many processes are to join."""
        return self._world_size

    def _connect(self, timeout: float) -> socket.socket:
        end, pause = time.monotonic() + timeout, 0.005
        while True:
            try:
                connection = socket.create_connection((self.host, self.port), max(end - time.monotonic(), 0.001))
            except (OSError, OverflowError) as error:
                if isinstance(error, socket.gaierror | OverflowError) and error.args[0] != socket.EAI_AGAIN:
                    raise DistNetworkError(f"The address ({self.host}, {self.port}) is none: {error}") from None
                if time.monotonic() + pause > end:
                    raise DistNetworkError(
                        f"The client socket has timed out after {round(timeout * 1000)}ms while trying to connect to "
                        f"({self.host}, {self.port})."
                    ) from None
                time.sleep(pause)
                pause = min(2 * pause, 0.25)
            else:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connection.sendall(GREETING)
                return connection

    def _request(self, command: str, parts: list[bytes], timeout: float) -> list[bytes]:
        if self._pid != os.getpid():  # forked: the connections are the parent's
            self._pid, self._idle, self._server = os.getpid(), [], None
        connection = self._idle.pop() if self._idle else self._connect(self.timeout.total_seconds())
        seconds = max(timeout, 0.001) if command in ("get", "wait") else self.timeout.total_seconds()
        end = time.monotonic() + seconds
        place = f"({self.host}, {self.port})"
        try:
            connection.settimeout(seconds)
            connection.sendall(b"".join(pack([command.encode(), *parts])))
            (size,) = LENGTH.unpack(self._receive(connection, LENGTH.size, end))
            if size > MOST_BYTES:
                raise ValueError(f"{size} bytes")
            answer = unpack(self._receive(connection, size, end))
            check_answer(command, parts, answer)
        except TimeoutError:
            connection.close()
            if command in ("get", "wait"):
                raise late(parts, timeout) from None
            raise DistNetworkError(f"the store at {place} has not answered within {round(seconds * 1000)}ms") from None
        except ValueError as error:
            connection.close()
            raise DistNetworkError(f"what answers at {place} is no store of this torch's: {error}") from None
        except OSError as error:
            connection.close()
            raise DistNetworkError(f"the store at {place} is gone: {error}") from None
        except BaseException:
            connection.close()  # interrupted: an answer may be on its way
            raise
        self._idle.append(connection)
        return answer

    @staticmethod
    def _receive(connection: socket.socket, size: int, end: float) -> bytearray:
        """So many bytes; TimeoutError if they are not all there at `end`. Takes memory for those that have come."""
        received = bytearray()
        while len(received) < size:
            connection.settimeout(max(end - time.monotonic(), 0.001))
            piece = connection.recv(min(size - len(received), PIECE))
            if not piece:
                raise ConnectionError("the connection has ended")
            if time.monotonic() > end:
                raise TimeoutError
            received += piece
        return received

    def __del__(self) -> None:
        if getattr(self, "_pid", None) != os.getpid():
            return
        for connection in self._idle:
            connection.close()
        if self._server is not None:
            self._server.stop()
