"""Jobs on this machine, each a process of its own that ends with this one."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import json
import os
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slipway.base.proc import GRACE_SECONDS, own_python
from slipway.workflows.job import ANSWER
from slipway.workflows.scheduler import Done, Machine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from slipway.workflows.graph import Job
    from slipway.workflows.scheduler import Share

PR_SET_PDEATHSIG = 1
"""From the kernel's prctl.h: a signal for when the parent dies, so that a killed run leaves no compilers behind."""


@dataclass(frozen=True)
class Here:
    """This machine.

    Attributes:
        folder: dist/ci; each job's own is below it.
        words: what follows ``slipway ci job IDENTIFIER``: the recipe and the options that all jobs share.
    """

    folder: Path
    words: Sequence[str]
    machine: Machine

    async def __aenter__(self) -> Here:
        return self

    async def __aexit__(self, *error: object) -> None:
        pass

    @property
    def machines(self) -> Sequence[Machine]:
        """This one alone."""
        return (self.machine,)

    def warmth(self, job: Job, machine: Machine) -> tuple[float, ...]:
        """There is no choice."""
        return ()

    async def change(self) -> None:
        """It stays what it is."""
        await asyncio.Event().wait()

    async def do(self, share: Share, on_line: Callable[[str], None]) -> Done:
        """Do one job."""
        name = share.job.identifier
        return await do_job(name, self.words, self.folder / name, self.folder / "handed", share.cores, on_line)


async def do_job(
    identifier: str, words: Sequence[str], dist: Path, handed: Path, cores: int, on_line: Callable[[str], None]
) -> Done:
    """Run ``slipway ci job`` in the folder `dist`, with packages from `handed`."""
    answer = dist / ANSWER
    answer.unlink(missing_ok=True)
    command = [*own_python(), "-m", "slipway", "ci", "job", identifier, *words]
    command += ["--dist", str(dist), "--handed", str(handed), "--jobs", str(cores)]
    code = await _run(command, on_line)
    if code != 0:
        return Done(code)
    facts = json.loads(answer.read_text(encoding="utf-8"))
    return Done(0, bool(facts["reused"]), int(facts["size"]))


async def _run(command: Sequence[str], on_line: Callable[[str], None]) -> int:
    """Run one program; it ends when this process ends, however that comes about."""
    prctl = ctypes.CDLL(None).prctl
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=lambda: prctl(PR_SET_PDEATHSIG, signal.SIGTERM),
        limit=2**20,
    )
    assert process.stdout is not None
    try:
        async for raw in process.stdout:
            on_line(raw.decode("utf-8", "replace").rstrip("\n"))
        return await process.wait()
    except BaseException:
        await _stop(process)
        raise


async def _stop(process: asyncio.subprocess.Process) -> None:
    """End a job: politely, so that it stops its own compilers, then for good."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(2 * GRACE_SECONDS):
                await process.wait()
            return
