"""What commands that build wrap themselves in: a journal of the run, and the report at its end."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from slipway.base.errors import SlipwayError
from slipway.base.events import Failed, RunStarted
from slipway.base.files import write_file
from slipway.base.journal import Journal, JournalingReporter, keep_journal
from slipway.base.paths import PAGE, RUNS
from slipway.report import jobs_page, jobs_report, page
from slipway.report.run_report import collect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from slipway.base.log import Reporter
    from slipway.base.paths import Workspace


@contextmanager
def open_journal(
    workspace: Workspace, command: str, jobs: int, reporter: Reporter
) -> Iterator[tuple[Journal, Reporter]]:
    """The journal of this run, and a reporter whose steps become its stages; however it ends, the report is written."""
    with _open_journal(workspace, command, jobs, _write_report) as journal:
        yield journal, JournalingReporter(reporter, journal)


@contextmanager
def open_jobs_journal(workspace: Workspace, command: str, jobs: int) -> Iterator[Journal]:
    """The journal of a run over many jobs, each of which has a workspace of its own below that of the run."""
    with _open_journal(workspace, command, jobs, _write_jobs_report) as journal:
        yield journal


@contextmanager
def _open_journal(
    workspace: Workspace, command: str, jobs: int, write: Callable[[Workspace], None]
) -> Iterator[Journal]:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    started = RunStarted(command, jobs, len(os.sched_getaffinity(0)), memory)
    try:
        with keep_journal(workspace.dist / RUNS, started) as journal:
            try:
                yield journal
            except BaseException as error:
                journal.add(_failure(error))
                raise
    except BaseException:
        with suppress(OSError):  # the cause is what counts: on a full disk there is no room for a report either
            write(workspace)
        raise
    write(workspace)


def _failure(error: BaseException) -> Failed:
    if isinstance(error, SlipwayError):
        return Failed(error.message, error.where or "", error.hint or "", error.detail or "")
    if isinstance(error, KeyboardInterrupt):
        return Failed("it was interrupted", hint="run the same command again and it goes on from there")
    return Failed(f"{type(error).__name__}: {error}")


def _write_jobs_report(workspace: Workspace) -> None:
    write_file(workspace.dist / PAGE, jobs_page.render_jobs_page(jobs_report.collect_jobs(workspace)))


def _write_report(workspace: Workspace) -> None:
    page.write_page(collect(workspace), workspace.dist / PAGE)
