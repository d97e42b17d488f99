"""What one job does, on a hosted runner or on this machine: take what was handed on, build one output, hand it on.

Handed packages lie in a folder, below their subdir. Those that the job needs are put into its own channel as they are;
its own package of an earlier run, if that came back from a cache, too: when its digest is still right, nothing is
built. The answer of the job is `dist/job.json`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from slipway.base.errors import IntegrityError, VariantError
from slipway.base.files import write_file
from slipway.channel.folder import Channel
from slipway.pipeline.context import RunContext
from slipway.pipeline.finalize import finalize, find_channels
from slipway.pipeline.run import run
from slipway.report.journaling import open_journal
from slipway.workflows.graph import Job, make_jobs, select_job
from slipway.workflows.handing import check_handed, hand_on

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from slipway.base.log import Reporter
    from slipway.engines.engine import Engine, Isolation
    from slipway.model import Artifact
    from slipway.request import Request

ANSWER = "job.json"


def local_jobs(request: Request) -> tuple[Job, ...]:
    """The jobs of the recipe on this machine: all of them, or those that belong to what was asked for."""
    return make_jobs(request.matching(), request.platform.subdir)


def find_job(jobs: Sequence[Job], identifier: str) -> Job:
    """The job of that identifier.

    Raises:
        VariantError: there is none.
    """
    job = select_job(jobs, identifier)
    if job is None:
        known = ", ".join(job.identifier for job in jobs)
        raise VariantError(
            f"there is no job `{identifier}`", hint=f"there is {known}; if that changed, run `slipway ci write`"
        )
    return job


def run_job(
    request: Request,
    job: Job,
    handed: Path,
    engine: Engine,
    reporter: Reporter,
    *,
    jobs: int,
    isolation: Isolation,
    rebuild: bool,
) -> Artifact:
    """Do one job.

    Args:
        handed: folder of handed packages; the job's own is put there.
        jobs: compilers that may run at once.
        isolation: whether scripts run in a sandbox.
        rebuild: build even if nothing changed.

    Raises:
        ChannelError: a package that the job needs was not handed on.
        IntegrityError: one is not as it was handed on.
        BuildError, SolveError, VerifyError: see `slipway.pipeline.run`.
    """
    workspace = request.workspace
    with workspace.lock(), open_journal(workspace, f"ci job {job.name}", jobs, reporter) as (journal, reporter):
        channels = find_channels(request, job.outputs[::-1], reporter)
        outputs = finalize(request, job.outputs, channels)
        Channel(workspace.channel).publish(_take(job, handed, reporter))
        context = RunContext(
            workspace,
            engine,
            channels,
            reporter,
            jobs=jobs,
            isolation=isolation,
            rebuild=rebuild,
            only=frozenset([outputs[-1].key]),
            journal=journal,
        )
        artifact = run(outputs, context)[-1]
        hand_on(artifact.path, handed / job.file)
        _answer(workspace.dist / ANSWER, artifact)
    return artifact


def _take(job: Job, handed: Path, reporter: Reporter) -> Iterator[tuple[str, Path]]:
    """The packages that were handed on, each as it was, and the job's own of an earlier run if it still is so."""
    for other in job.needs:
        if (handed / other.file).is_file():
            check_handed(handed / other.file)
            yield other.output.subdir, handed / other.file
    own = handed / job.file
    if own.is_file():
        try:
            check_handed(own)
        except IntegrityError as error:
            reporter.line(f"{own.name} of an earlier run is not used: {error.message}")
        else:
            yield job.output.subdir, own


def _answer(path: Path, artifact: Artifact) -> None:
    answer: dict[str, Any] = {
        "package": f"{artifact.output.subdir}/{artifact.path.name}",
        "sha256": artifact.sha256,
        "size": artifact.size,
        "seconds": round(artifact.seconds, 3),
        "reused": artifact.reused,
    }
    write_file(path, json.dumps(answer, indent=1) + "\n")
