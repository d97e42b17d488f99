"""Jobs on other machines, by dask.distributed: what they need goes there by digest, and their packages come back.

`slipway.workflows.scheduler.Run` decides which job goes to which worker. What is done lies in this machine's handed
folder, so neither a worker nor the scheduler can lose it. A worker that goes, falls silent or has a full disk costs the
job that it does; another one does that again.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import socket
import time
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from distributed import Client, Security
from distributed.client import FutureCancelledError
from distributed.scheduler import KilledWorker

from slipway.base.errors import DiskFullError, HostError, IntegrityError
from slipway.base.files import hash_file, is_disk_full, replace_file
from slipway.workflows import worker as workers
from slipway.workflows.handing import record
from slipway.workflows.scheduler import Done, Machine, MachineLostError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
    from pathlib import Path

    from slipway.base.log import Reporter
    from slipway.workflows.graph import Job
    from slipway.workflows.scheduler import Share

Result = TypeVar("Result")

LOOK_SECONDS = 1.0
"""How often the scheduler is asked which workers there are."""

ANSWER_SECONDS = 10.0
"""How long it may take to answer; then it is taken for gone."""

FIRST_SECONDS = 10.0
"""How long a run looks for the scheduler at its start."""

PATIENCE_SECONDS = 300.0
"""How long it waits for a scheduler that has gone, or while there is no worker, before it gives up."""

GONE = (FutureCancelledError, asyncio.CancelledError, KilledWorker)
"""What dask says of a task whose worker or scheduler has gone."""


@dataclass
class _Peer:
    """A worker, as this run knows it."""

    address: str
    machine: Machine
    blobs: dict[str, int]
    built: set[str]
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    sending: dict[str, asyncio.Lock] = field(default_factory=dict)


@dataclass
class Fleet:
    """The workers of the scheduler at `address`.

    Attributes:
        folder: dist/ci.
        bundle: what was asked for, with its sources; see `slipway.pipeline.bundle.write_request`.
        words: what follows ``slipway ci job IDENTIFIER``, but the bundle.
        security: see `slipway.workflows.network.security_words`.
    """

    address: str
    folder: Path
    bundle: Path
    words: Sequence[str]
    security: Mapping[str, Any]
    reporter: Reporter
    peers: dict[str, _Peer] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)

    async def __aenter__(self) -> Fleet:
        workers.be_quiet()
        self._topic = f"slipway-{uuid.uuid4().hex}"
        self._run = hashlib.sha256(f"{socket.gethostname()}:{self.folder}".encode()).hexdigest()[:16]
        self._code = workers.code_digest()
        self._changed = asyncio.Event()
        self._listeners: dict[str, _Listener] = {}
        self._digests: dict[Path, str] = {}
        self._client: Client = await self._connect(FIRST_SECONDS)
        self._watcher = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, *error: object) -> None:
        self._watcher.cancel()
        await asyncio.gather(self._watcher, return_exceptions=True)
        await _close(self._client)

    @property
    def machines(self) -> Sequence[Machine]:
        """The workers that are there and of use."""
        return [peer.machine for peer in self.peers.values()]

    def warmth(self, job: Job, machine: Machine) -> tuple[float, ...]:
        """Whether the output was built there before, and how many bytes of what the job needs lie there."""
        peer = self._find(machine)
        digests = {self._digests.get(self.bundle), *map(self._digests.get, self._needed(job).values())}
        return (job.output.name in peer.built, sum(peer.blobs.get(digest, 0) for digest in digests if digest))

    async def change(self) -> None:
        """Come back when a worker came or went; see `slipway.workflows.scheduler.Hosts`."""
        changed = asyncio.create_task(self._changed.wait())
        try:
            await asyncio.wait({changed, self._watcher}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            changed.cancel()
        if self._watcher.done():
            self._watcher.result()
        self._changed.clear()

    async def do(self, share: Share, on_line: Callable[[str], None]) -> Done:
        """Do one job on its worker, and fetch its package."""
        peer = self._find(share.machine)
        job = share.job
        handed = self._needed(job)
        try:
            bundle = await self._send(peer, self.bundle)
            digests = {name: await self._send(peer, path) for name, path in handed.items()}
            token = f"{job.identifier}-{uuid.uuid4().hex}"
            order = workers.Order(
                run=self._run,
                identifier=job.identifier,
                output=job.output.name,
                words=tuple(self.words),
                bundle=bundle,
                handed=digests,
                package=job.file,
                cores=share.cores,
                topic=self._topic,
                token=token,
            )
            listener = self._listeners[token] = _Listener(on_line)
            try:
                outcome = await self._ask(peer, workers.do, order, key=token)
                await listener.wait_for(outcome.lines)
            finally:
                del self._listeners[token]
            if outcome.done.code == DiskFullError.exit_code:
                raise self._refuse(peer, "its disk is full")
            workers.unpack_returned(outcome.files, self.folder / job.identifier)
            if outcome.done.code == 0:
                await self._fetch(peer, outcome.digest, self.folder / "handed" / job.file)
                peer.built.add(job.output.name)
        except OSError as error:
            if is_disk_full(error):
                raise self._refuse(peer, "its disk is full") from error
            raise
        except IntegrityError as error:
            raise self._refuse(peer, error.message) from error
        return outcome.done

    def _needed(self, job: Job) -> dict[str, Path]:
        """The packages that go to the job, by their place: those that it needs, and its own of an earlier run."""
        places = (self.folder / "handed" / other.file for other in (*job.needs, job))
        return {str(path.relative_to(self.folder / "handed")): path for path in places if path.is_file()}

    def _find(self, machine: Machine) -> _Peer:
        for peer in self.peers.values():
            if peer.machine == machine:
                return peer
        raise MachineLostError(f"{machine.name} has gone")

    async def _send(self, peer: _Peer, path: Path) -> str:
        """Let a worker have a file, unless it does; its sha256."""
        digest = self._digests[path] = await asyncio.to_thread(hash_file, path)
        async with peer.sending.setdefault(digest, asyncio.Lock()):
            if digest not in peer.blobs:
                size, offset = path.stat().st_size, 0
                with path.open("rb") as stream:
                    while chunk := stream.read(workers.CHUNK_BYTES):
                        last = offset + len(chunk) >= size
                        await self._ask(peer, workers.put, digest, offset, chunk, last)
                        offset += len(chunk)
                peer.blobs[digest] = size
        return digest

    async def _fetch(self, peer: _Peer, digest: str, target: Path) -> None:
        """Take a package from a worker, and hold it to its digest; its record before it, as `handing.hand_on` does.

        Raises:
            IntegrityError: it is another one.
        """
        target.parent.mkdir(parents=True, exist_ok=True)
        with replace_file(target) as beside:
            known, offset = hashlib.sha256(), 0
            with beside.open("wb") as stream:
                while chunk := await self._ask(peer, workers.get, digest, offset):
                    stream.write(chunk)
                    known.update(chunk)
                    offset += len(chunk)
            if known.hexdigest() != digest:
                raise IntegrityError(f"what it sent has sha256 {known.hexdigest()} instead of {digest}")
        record(target)
        self._digests[target] = digest
        peer.blobs[digest] = offset

    async def _ask(
        self, peer: _Peer, function: Callable[..., Coroutine[Any, Any, Result]], *arguments: Any, key: str | None = None
    ) -> Result:
        """What `function` answers on a worker; its errors are raised here.

        Raises:
            MachineLostError: it went, or the scheduler did.
        """
        if peer.gone.is_set():
            raise MachineLostError(f"{peer.machine.name} has gone")
        future = self._client.submit(
            function,
            *arguments,
            key=key or f"slipway-{uuid.uuid4().hex}",
            workers=[peer.address],
            pure=False,
            retries=0,
        )
        gone = asyncio.create_task(peer.gone.wait())
        answer = asyncio.ensure_future(_result(future))
        try:
            await asyncio.wait({gone, answer}, return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                raise MachineLostError(f"{peer.machine.name} has gone")
            try:
                result: Result = answer.result()
                return result
            except GONE as error:
                raise MachineLostError(f"{peer.machine.name} or the scheduler has gone") from error
        finally:
            gone.cancel()
            answer.cancel()
            await asyncio.gather(gone, answer, return_exceptions=True)
            with contextlib.suppress(*GONE, OSError):
                future.release()

    def _refuse(self, peer: _Peer, reason: str) -> MachineLostError:
        """Give a worker no more jobs, for the rest of the run."""
        if peer.address not in self.refused:
            self.refused[peer.address] = f"{peer.machine.name}: {reason}"
            self.reporter.line(f"{peer.machine.name} gets no more jobs: {reason}")
        self._lose(peer.address)
        return MachineLostError(f"{peer.machine.name}: {reason}")

    def _lose(self, address: str) -> None:
        peer = self.peers.pop(address, None)
        if peer is not None:
            peer.gone.set()
            self._changed.set()

    async def _watch(self) -> None:
        """Keep `peers` what the scheduler says; look for it again if it goes."""
        empty_since = time.monotonic()
        while True:
            try:
                # Not asyncio.wait_for: before Python 3.12 that forgets to be cancelled if the answer comes just then.
                async with asyncio.timeout(ANSWER_SECONDS):
                    seen = await self._client.scheduler.identity(n_workers=-1)
            except (OSError, TimeoutError) as error:
                self.reporter.line(f"the scheduler at {self.address} has gone ({error}); waiting for it")
                for address in list(self.peers):
                    self._lose(address)
                await _close(self._client)
                self._client = await self._connect(PATIENCE_SECONDS)
                empty_since = time.monotonic()
                continue
            present = {str(address): str(facts["name"]) for address, facts in seen["workers"].items()}
            for address in self.peers.keys() - present.keys():
                self.reporter.line(f"{self.peers[address].machine.name} has gone")
                self._lose(address)
            for address in present.keys() - self.peers.keys() - self.refused.keys():
                await self._meet(address, present[address])
            if self.peers:
                empty_since = time.monotonic()
            elif time.monotonic() - empty_since > PATIENCE_SECONDS or (
                present and present.keys() <= self.refused.keys()
            ):
                raise HostError(
                    "there is no worker",
                    where=self.address,
                    detail="\n".join(self.refused.values()) or None,
                    hint=f"`slipway ci worker {self.address}` on each machine that is to build",
                )
            await asyncio.sleep(LOOK_SECONDS)

    async def _meet(self, address: str, name: str) -> None:
        """Ask a new worker what it has; it gets jobs if its slipway is this one."""
        peer = _Peer(address, Machine(0.0, 0, 0, name), {}, set())
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                found = await self._ask(peer, workers.describe)
        except (MachineLostError, TimeoutError):
            return  # and perhaps it is there when we look again
        except Exception as error:  # of a worker that is none of ours, whatever it makes of it
            self._refuse(peer, str(error))
            return
        if found.code != self._code:
            self._refuse(peer, "its slipway is another one than this")
            return
        machine = Machine(found.memory_gb, found.cores, found.cores, name)
        self.peers[address] = _Peer(address, machine, dict(found.blobs), set(found.built))
        self.reporter.line(f"{name}: {found.cores} cores, {found.memory_gb:.1f} GB")
        self._changed.set()

    async def _connect(self, patience: float) -> Client:
        """A client of the scheduler, as soon as there is one.

        Raises:
            HostError: there was none for too long.
        """
        since = time.monotonic()
        while True:
            try:
                client = await Client(
                    self.address, asynchronous=True, security=Security(**self.security), timeout=5, set_as_default=False
                )
            except (OSError, TimeoutError) as error:
                if time.monotonic() - since > patience:
                    raise HostError(f"there is no scheduler: {error}", where=self.address,
                                    hint="`slipway ci scheduler` starts one") from error  # fmt: skip
                await asyncio.sleep(LOOK_SECONDS)
                continue
            client.subscribe_topic(self._topic, self._on_lines)
            return client

    def _on_lines(self, event: tuple[float, Mapping[str, Any]]) -> None:
        message = event[1]
        listener = self._listeners.get(message["token"])
        if listener is not None:
            listener.take(message["first"], message["lines"])


class _Listener:
    """Gets the lines of one job, in whatever parts they come."""

    def __init__(self, on_line: Callable[[str], None]) -> None:
        self._on_line = on_line
        self._count = 0
        self._more = asyncio.Event()

    def take(self, first: int, lines: Sequence[str]) -> None:
        """Pass on the lines that come next; the network keeps their order."""
        for line in lines[max(0, self._count - first) :]:
            self._on_line(line)
        self._count = max(self._count, first + len(lines))
        self._more.set()

    async def wait_for(self, count: int) -> None:
        """Until all lines are there, or a while has gone by."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ANSWER_SECONDS):
                while self._count < count:
                    self._more.clear()
                    await self._more.wait()


async def _result(future: Awaitable[Any]) -> Any:
    return await future


async def _close(client: Client) -> None:
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(ANSWER_SECONDS):
            await client.close(timeout=2)
