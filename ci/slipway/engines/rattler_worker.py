"""The process in which rattler-build runs: it has the trimmed environment, and it can be stopped as a whole.

Builds a recipe, or runs the tests that a package carries. Reads a job (JSON) and prints rattler-build's log as plain
lines; one that starts with `PHASE_MARK` opens a new phase. Ends by writing the answer (JSON) beside the job: the
package's path, or what kind of failure it was.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import rattler_build

from slipway.engines.worker_lines import PHASE_MARK

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SOLVE_SIGNS = ("cannot solve", "failed to solve", "no candidates were found", "is not installable")
"""What rattler's messages say when an environment has no solution; it has no error type of its own for that."""


class PrintingCallback:
    """Prints rattler-build's log events; the engine's Protocol asks for the other methods too."""

    def __init__(self) -> None:
        self.phase = ""

    def on_log(self, event: Any) -> None:
        """Print one message, after its phase if that changed."""
        phase = (event.span or "").removesuffix(" for").strip()
        if phase and phase != self.phase:
            self.phase = phase
            print(f"{PHASE_MARK}{phase}", flush=True)
        message = event.message.strip("\n")
        if message.strip():
            print(message if event.level == "info" else f"{event.level}: {message}", flush=True)

    def on_build_step(self, event: Any) -> None:
        """A named step begins."""
        print(f"{PHASE_MARK}{event.step_name}: {event.message}", flush=True)

    def on_download_start(self, event: Any) -> None:
        """A package or source is being fetched."""
        print(f"downloading {event.url}", flush=True)

    def on_download_progress(self, event: Any) -> None:
        """Too many to print."""

    def on_download_complete(self, event: Any) -> None:
        """It arrived."""
        print(f"downloaded {event.url}", flush=True)


def end_with_parent() -> int:
    """See to it that nothing of this process's group outlives slipway, however that ends: killed, too.

    Else compilers would go on writing where the next slipway builds. The kernel ends this process with its parent, and
    a small child, which learns of this process's end in the same way, then ends the group. Returns the child's number.
    """
    prctl, set_death_signal = ctypes.CDLL(None).prctl, 1  # PR_SET_PDEATHSIG
    parent, worker = os.getppid(), os.getpid()
    prctl(set_death_signal, signal.SIGKILL)
    watcher = os.fork()
    if watcher == 0:
        signal.signal(signal.SIGUSR1, lambda *_: os.killpg(worker, signal.SIGKILL))
        prctl(set_death_signal, signal.SIGUSR1)
        while os.getppid() == worker:
            signal.pause()
        os.killpg(worker, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before the kernel was told
        os.killpg(worker, signal.SIGKILL)
    return watcher


def main(job_path: str) -> int:
    """Run the job in the file `job_path`; returns the exit status."""
    watcher = end_with_parent() if os.getpgrp() == os.getpid() else None
    try:
        return build(job_path)
    finally:
        if watcher is not None:
            os.kill(watcher, signal.SIGKILL)
            os.waitpid(watcher, 0)


def build(job_path: str) -> int:
    """As `main`, in a process that may outlive its parent."""
    job = json.loads(Path(job_path).read_text(encoding="utf-8"))
    answer: dict[str, str] = {}
    try:
        if "package" in job:
            # rattler-build prints whatever Python's standard streams hold late; keep one order in the log.
            results = rattler_build.Package.from_file(job["package"]).run_tests(
                channel=job["channels"],
                channel_priority="strict",
                compression_threads=job["jobs"],
                use_sharded=False,
                progress_callback=PrintingCallback(),
            )
            if not all(result.success for result in results):
                raise RuntimeError("\n".join(line for result in results for line in result.output))
            answer["package"] = job["package"]
        elif job["platform"] != job["build_platform"]:
            answer["package"] = str(cross_build(job))
        else:
            recipe = rattler_build.Stage0Recipe.from_file(job["recipe"])
            platform = rattler_build.PlatformConfig(target_platform=job["platform"])
            rendered = recipe.render(rattler_build.VariantConfig(job["variants"]), rattler_build.RenderConfig(platform))
            if len(rendered) != 1:
                raise RuntimeError(f"expected one rendered output, got {len(rendered)}")
            how = {
                "output_dir": job["output_dir"],
                "channels": job["channels"],
                "tool_config": rattler_build.ToolConfiguration(
                    test_strategy="skip",
                    compression_threads=job["jobs"],
                    use_sharded=False,
                ),
                "progress_callback": PrintingCallback(),
            }
            if job.get("prepare_only"):
                session = rattler_build.DebugSession.create(rendered[0], **how)
                answer["package"] = str(session.paths.work_dir)
                Path(job["answer"]).write_text(json.dumps(answer), encoding="utf-8")
                return 0
            result = rendered[0].run_build(
                **how,
                no_build_id=True,
                package_format="conda:1",  # only for the test; `slipway.pipeline.packing` packs it for good
            )
            answer["package"] = str(result.packages[0])
    except (rattler_build.RattlerBuildError, RuntimeError) as error:
        text = str(error)
        print(f"error: {text}", flush=True)
        answer["error"] = text
        answer["kind"] = "solve" if any(sign in text.lower() for sign in SOLVE_SIGNS) else "build"
    Path(job["answer"]).write_text(json.dumps(answer), encoding="utf-8")
    return 0 if "package" in answer else 1


def cross_build(job: Mapping[str, Any]) -> Path:
    """As `build`, for another platform: `RenderedVariant.run_build` takes this one for the host environment, too."""
    with warnings.catch_warnings(), followed_log(Path(job["output_dir"])):
        warnings.simplefilter("ignore", DeprecationWarning)
        rattler_build.cli_api.build_recipes(
            [job["recipe"]],
            build_platform=job["build_platform"],
            host_platform=job["platform"],
            target_platform=job["platform"],
            channel=job["channels"],
            channel_priority="strict",
            variant_overrides=job["variants"],
            ignore_recipe_variants=True,
            output_dir=job["output_dir"],
            test="skip",
            no_build_id=True,
            package_format="conda:1",
            compression_threads=job["jobs"],
            use_sharded=False,
        )
    (package,) = Path(job["output_dir"]).glob("*/*.conda")
    return package


@contextmanager
def followed_log(output_dir: Path) -> Iterator[None]:
    """Print what a script's log gets while the block runs: `build_recipes` tells nobody else of it."""
    reading, writing = os.pipe()
    follower = os.fork()
    if follower == 0:
        os.close(writing)
        try:
            print_log(output_dir, reading)
        finally:
            os._exit(0)
    os.close(reading)
    try:
        yield
    finally:
        os.close(writing)
        os.waitpid(follower, 0)


def print_log(output_dir: Path, until: int) -> None:
    """Print the log of the build in `output_dir` as it grows, until the pipe `until` is closed."""
    log: BinaryIO | None = None
    ended = False
    while not ended:
        ended = bool(select.select([until], [], [], 0.05)[0])
        if log is None and (found := next(output_dir.glob("bld/*/work/conda_build.log"), None)) is not None:
            log = found.open("rb")  # its folder is removed with the build
            print(f"{PHASE_MARK}Running build script", flush=True)
        if log is not None:
            os.write(1, log.read())


if __name__ == "__main__":
    status = main(sys.argv[1])
    sys.stdout.flush()
    os._exit(status)  # the answer is written; to take the interpreter and rattler down would take as long as a solution
