"""A machine that does jobs for others: what a run asks of it, and the dask.distributed worker that answers.

    FOLDER/blobs/SHA256          what was sent or made, by its sha256
    FOLDER/runs/RUN/IDENTIFIER   a job's own dist; the folder of its last time is its warm cache
    FOLDER/runs/RUN/handed       packages of other jobs

A run submits `describe`, `put`, `do` and `get`; each runs in the worker's own event loop, and the compilers in
processes, so that heartbeats go on. A job whose run has gone or was interrupted is stopped.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import io
import logging
import os
import socket
import tarfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dask
from distributed import Scheduler, Security, Worker, WorkerPlugin, get_worker

import slipway
from slipway.base.cache_room import mark_used, room_bytes, trim
from slipway.base.errors import IntegrityError
from slipway.base.files import hash_file, link_or_copy
from slipway.base.locks import hold_lock
from slipway.base.paths import PAGE
from slipway.workflows.handing import hand_on
from slipway.workflows.here import do_job
from slipway.workflows.job import ANSWER

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from slipway.base.log import Reporter
    from slipway.workflows.scheduler import Done

PLUGIN = "slipway"
CHUNK_BYTES = 4 * 2**20
"""How much goes over the network in one message."""

TASKS_AT_ONCE = 64
"""Of a worker; how many jobs run at once is the run's decision, and messages go between them."""

SILENCE_SECONDS = 20.0
"""A worker that the scheduler does not hear of for so long is cut off, and its jobs are given to others."""

RETRY_SECONDS = 2.0
"""How often a worker looks for its scheduler."""

KEPT_SECONDS = 2 * 24 * 3600
"""What was used so lately may belong to a run that goes on."""

LINES_SECONDS = 0.3
"""How often what a job prints is sent."""

RETURNED = ("logs", PAGE, ANSWER)
"""What comes back of a job's folder beside its package: the run's report and its next choices are made from it."""


@dataclass(frozen=True)
class Description:
    """What a worker has: its slipway, its size, blobs with their sizes, and the outputs that were built there."""

    code: str
    memory_gb: float
    cores: int
    blobs: Mapping[str, int]
    built: frozenset[str]


@dataclass(frozen=True)
class Order:
    """One job for a worker.

    Attributes:
        run: the folder of the run, the same for each run of the same dist.
        words: what follows ``slipway ci job IDENTIFIER``, but the bundle.
        bundle: sha256 of what was asked for, with its sources; it was put there, as was each of `handed`.
        handed: packages by their place in the handed folder, with their sha256.
        package: the place of the job's own.
        topic: where what the job prints is sent to.
    """

    run: str
    identifier: str
    output: str
    words: tuple[str, ...]
    bundle: str
    handed: Mapping[str, str]
    package: str
    cores: int
    topic: str
    token: str


@dataclass(frozen=True)
class Outcome:
    """What became of it; `lines` is how many it printed, `digest` its package's, `files` an archive of `RETURNED`."""

    done: Done
    lines: int
    digest: str
    files: bytes


class JobHost(WorkerPlugin):  # type: ignore[misc]
    """What makes a dask worker one of ours."""

    name = PLUGIN

    def __init__(self, folder: Path, memory_gb: float, cores: int) -> None:
        self.folder = folder
        self.memory_gb = memory_gb
        self.cores = cores
        self.running: dict[Any, asyncio.Task[Outcome]] = {}

    async def teardown(self, worker: Worker) -> None:
        """Stop what runs: whoever asked for it does not hear of it any more."""
        for task in self.running.values():
            task.cancel()
        await asyncio.gather(*self.running.values(), return_exceptions=True)

    def transition(self, key: Any, start: str, finish: str, **more: Any) -> None:
        """Stop a job that nobody waits for."""
        if finish in ("cancelled", "released", "forgotten") and key in self.running:
            self.running[key].cancel()

    def blob(self, digest: str) -> Path:
        """Where a blob lies."""
        return self.folder / "blobs" / digest

    def make_room(self) -> None:
        """Remove the oldest blobs and runs beyond what a cache may hold."""
        trim(self.folder, room_bytes(), shelves=("blobs", "runs"), locks=(), in_use=KEPT_SECONDS)

    def remember_built(self, output: str) -> None:
        """An output was built here: what its build keeps in caches is warm."""
        (self.folder / "built").mkdir(exist_ok=True)
        (self.folder / "built" / output).touch()


def _host() -> JobHost:
    plugin = get_worker().plugins.get(PLUGIN)
    if not isinstance(plugin, JobHost):
        raise RuntimeError("it was not started by `slipway ci worker`")
    return plugin


def code_digest() -> str:
    """What this slipway is known by: packages of another one may be others."""
    digest = hashlib.sha256(slipway.__version__.encode())
    root = Path(slipway.__file__).parent
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


async def describe() -> Description:
    """What this worker has."""
    host = _host()
    blobs = {path.name: path.stat().st_size for path in (host.folder / "blobs").iterdir()}
    built = frozenset(path.name for path in (host.folder / "built").glob("*"))
    return Description(code_digest(), host.memory_gb, host.cores, blobs, built)


async def put(digest: str, offset: int, chunk: bytes, last: bool) -> None:
    """Take the next part of a blob; the whole is held to its digest.

    Raises:
        IntegrityError: it is another one.
        OSError: it cannot be kept.
    """
    host = _host()
    partial = host.folder / "partial" / digest
    with partial.open("r+b" if offset else "wb") as stream:
        stream.seek(offset)
        stream.write(chunk)
    if last:
        found = await asyncio.to_thread(hash_file, partial)
        if found != digest:
            partial.unlink()
            raise IntegrityError(f"what arrived has sha256 {found} instead of {digest}")
        partial.replace(host.blob(digest))


async def get(digest: str, offset: int) -> bytes:
    """The part of a blob that begins there; nothing behind its end."""
    with _host().blob(digest).open("rb") as stream:
        stream.seek(offset)
        return stream.read(CHUNK_BYTES)


async def do(order: Order) -> Outcome:
    """Do one job; cancelled, it stops its compilers."""
    host = _host()
    task = asyncio.ensure_future(_do(host, order))
    host.running[order.token] = task
    try:
        return await task
    finally:
        del host.running[order.token]


async def _do(host: JobHost, order: Order) -> Outcome:
    run = host.folder / "runs" / order.run
    dist, handed = run / order.identifier, run / "handed"
    for name, digest in order.handed.items():
        (handed / name).parent.mkdir(parents=True, exist_ok=True)
        await asyncio.to_thread(hand_on, host.blob(digest), handed / name)
    words = [*order.words, "--bundle", str(host.blob(order.bundle))]
    lines: list[str] = []
    sent = 0

    async def send_lines() -> None:
        nonlocal sent
        while True:
            await asyncio.sleep(LINES_SECONDS)
            send()

    def send() -> None:
        nonlocal sent
        if lines:
            message = {"token": order.token, "first": sent, "lines": lines.copy()}
            get_worker().log_event(order.topic, message)
            sent += len(lines)
            lines.clear()

    dist.mkdir(parents=True, exist_ok=True)
    sender = asyncio.create_task(send_lines())
    try:
        done = await do_job(order.identifier, words, dist, handed, order.cores, lines.append)
    finally:
        sender.cancel()
    send()
    digest = ""
    if done.code == 0:
        package = handed / order.package
        digest = await asyncio.to_thread(hash_file, package)
        if not host.blob(digest).exists():
            link_or_copy(package, host.blob(digest))
        host.remember_built(order.output)
    for used in (run, *map(host.blob, (order.bundle, *order.handed.values()))):
        mark_used(used)
    await asyncio.to_thread(host.make_room)
    return Outcome(done, sent, digest, await asyncio.to_thread(_returned, dist))


def _returned(dist: Path) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name in RETURNED:
            if (dist / name).exists():
                archive.add(dist / name, name)
    return buffer.getvalue()


def unpack_returned(files: bytes, dist: Path) -> None:
    """Put what came back of a job into its folder here."""
    with tarfile.open(fileobj=io.BytesIO(files), mode="r:gz") as archive:
        archive.extractall(dist, filter="data")


def be_quiet() -> None:
    """What dask says of workers and connections that come and go is said by slipway, where it matters."""
    for name in ("distributed", "tornado"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


@dataclass
class WorkerServer:
    """A worker for as long as the block lasts, whatever becomes of its scheduler."""

    address: str
    folder: Path
    memory_gb: float
    cores: int
    reporter: Reporter
    security: Mapping[str, Any]
    name: str = field(default_factory=lambda: f"{socket.gethostname()}-{os.getpid()}")

    def serve(self) -> None:
        """Work until it is interrupted."""
        for name in ("blobs", "partial", "runs"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        with hold_lock(self.folder / ".lock"):
            for path in (self.folder / "partial").iterdir():
                path.unlink()
            asyncio.run(self._serve())

    async def _serve(self) -> None:
        be_quiet()
        lost = False
        while True:
            try:
                async with self._worker() as worker:
                    self.reporter.line(f"{self.name} at {worker.address}: {self.cores} cores, {self.memory_gb:.1f} GB")
                    lost = False
                    await worker.finished()
            except (OSError, TimeoutError) as error:
                if not lost:
                    self.reporter.line(f"no scheduler at {self.address}: {error}")
            if not lost:
                self.reporter.line("waiting for the scheduler")
            lost = True
            await asyncio.sleep(RETRY_SECONDS)

    @contextlib.asynccontextmanager
    async def _worker(self) -> AsyncIterator[Worker]:
        with dask.config.set({"distributed.comm.timeouts.connect": "5s"}):
            worker = await Worker(
                self.address,
                nthreads=TASKS_AT_ONCE,
                name=self.name,
                memory_limit=0,
                local_directory=str(self.folder / "dask"),
                security=Security(**self.security),
                dashboard=False,
                plugins=[JobHost(self.folder, self.memory_gb, self.cores)],
            )
        try:
            yield worker
        finally:
            await worker.close(timeout=5)


def serve_scheduler(host: str, port: int, security: Mapping[str, Any], reporter: Reporter) -> None:
    """A scheduler, until it is interrupted: workers and runs find each other there; it keeps nothing.

    Raises:
        OSError: it cannot listen there.
    """

    async def serve() -> None:
        be_quiet()
        async with Scheduler(
            host=host,
            port=port,
            protocol="tls" if security else "tcp",
            security=Security(**security),
            dashboard=False,
            dashboard_address=":0",
            worker_ttl=SILENCE_SECONDS,
            allowed_failures=0,
        ) as scheduler:
            reporter.line(f"scheduler at {scheduler.address}")
            await scheduler.finished()

    asyncio.run(serve())
