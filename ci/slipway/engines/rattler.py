"""Builds with rattler-build, through its Python binding: it solves, isolates, builds, relinks, packs and tests.

rattler-build runs in a process of its own (`rattler_worker`), because it takes PATH and the rest of its environment
from the process, and because Ctrl-C must stop the whole tree of compilers at once.
"""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import shutil
import sys
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from slipway import source as fetch
from slipway.base import proc
from slipway.base.checkout import PACKAGE_ROOT
from slipway.base.errors import BuildError, DiskFullError, NetworkError, SolveError
from slipway.base.events import Phase, Stage, StageKey
from slipway.base.files import copy_file
from slipway.base.json_file import read_json
from slipway.base.links import read_links
from slipway.base.paths import cache_folder
from slipway.base.platform import this_platform
from slipway.channel.folder import Channel
from slipway.channel.limited_access import LimitedAccess, limited_access
from slipway.channel.taken import fill_linked_cache, take_packages
from slipway.engines.build_folder import build_place, check_writable
from slipway.engines.build_script import SCRIPT_NAME, build_script
from slipway.engines.compiler_cache.server import CompilerCache, wants_cache
from slipway.engines.compiler_cache.store import check_store, choose_store, fresh_store
from slipway.engines.host_tools import make_host_tools
from slipway.engines.rattler_recipe import to_v1_recipe
from slipway.engines.rattler_worker import PHASE_MARK
from slipway.engines.staging import Staged, as_package, find_built, staged
from slipway.observe.build import BuildObserver
from slipway.recipe.defaults import target_of
from slipway.source.leaves_out import reads_of
from slipway.source.patches import check_patch_links
from slipway.source.tree import read_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from slipway.base.log import Reporter, Task
    from slipway.base.platform import Platform
    from slipway.engines.engine import BuildContext
    from slipway.model import RenderedOutput, Source

PASSED_ON = re.compile(
    r"CONDA_OVERRIDE_\w+|(https?|no|all|ftp)_proxy|SSL_CERT_(FILE|DIR)|RATTLER_AUTH_FILE", re.IGNORECASE
)
"""Variables of the caller that a build may see: facts about the machine's network and what it pretends to be."""

FULL_DISK_SIGNS = (
    *(os.strerror(number) for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)),
    "No usable temporary directory found",
)
"""How shells, compilers, Python and rattler-build say that nothing more can be written."""

COULD_NOT_WRITE = "Could not open or create, or write to file"
"""What rattler-build says of a temporary file, whatever the reason."""

LITTLE_ROOM = 64 << 20
"""Bytes: a disk with less was full a moment ago, when a program could not write."""

NINJA_COUNT = re.compile(r"^\[(\d+)/(\d+)\]\s+(.*)$")

PHASES = {
    "Fetching source code": Phase.FETCH,
    "Running build": Phase.SOLVE,
    "Running build script": Phase.SCRIPT,
    "Packaging new files": Phase.PACK,
    "Running script test": Phase.TEST,
}
"""What rattler-build calls its phases."""

BEFORE_THE_SCRIPT = (Phase.PREPARE, Phase.FETCH, Phase.SOLVE)
"""While these last, rattler-build makes the environments; the sources lie ready."""


class RattlerEngine:
    """rattler-build, in process isolation."""

    name = "rattler"

    def build(self, output: RenderedOutput, context: BuildContext, reporter: Reporter) -> Path:
        """See `slipway.engines.engine.Engine.build`."""
        taken = self._stage(output, context, reporter)
        check_writable(Path(context.environ.get("TMPDIR") or "/tmp"), "TMPDIR")
        check_writable(cache_folder(context.environ), "XDG_CACHE_HOME")
        waiting = partial(reporter.line, f"waiting for another slipway that builds `{output.name}` in the same folder")
        with build_place(output.name, context.environ, waiting) as folder, limited_access(context.channels) as access:
            package = self._build_in(folder, output, context, reporter, taken, access)
            target = context.workspace.work / "built" / output.subdir / package.name
            copy_file(package, target)
            return target

    def _stage(self, output: RenderedOutput, context: BuildContext, reporter: Reporter) -> Staged | None:
        """Bring the top level up to date that `output` takes its files from, where it does."""
        if output.staging is None or not output.takes_files:
            return None
        channel = Channel(context.workspace.staged)
        built = find_built(channel, output.staging, context.staging)
        if built is None:
            digest = context.staging or secrets.token_hex()
            with reporter.step(Stage(StageKey.TOP_LEVEL, output.staging.name)):
                within = replace(context, digest=digest, staging=None, test=False)
                package = self.build(as_package(output.staging), within, reporter)
                channel.publish([(output.staging.subdir, package)])
                package.unlink()
            built = channel.folder / output.staging.subdir / package.name
        return staged(output, channel, built)

    def _build_in(
        self,
        folder: Path,
        output: RenderedOutput,
        context: BuildContext,
        reporter: Reporter,
        taken: Staged | None,
        access: LimitedAccess,
    ) -> Path:
        recipe_folder = folder / "recipe"
        read_tree(output.recipe_dir).copy_to(recipe_folder)  # what the digest covers, and nothing beside it
        for name in ("recipe.yaml", "meta.yaml"):  # kept under another name: the engine's own is what it reads
            if (recipe_folder / name).exists():
                (recipe_folder / name).rename(recipe_folder / f"{name}.in")
        sources = [
            _v1_source(source, output, folder, index, context.environ) for index, source in enumerate(output.sources)
        ]
        script = build_script(output, recipe=recipe_folder, jobs=context.jobs)
        (recipe_folder / SCRIPT_NAME).write_text(script, encoding="utf-8")
        recipe = to_v1_recipe(output, sources, context.digest, taken)
        recipe_path = recipe_folder / "recipe.yaml"
        recipe_path.write_text(json.dumps(recipe, indent=1), encoding="utf-8")  # JSON is YAML, and has no surprises
        job = {
            "recipe": str(recipe_path),
            "platform": _target(output).subdir,
            "variants": {key: [value] for key, value in output.variant.items()},
            "output_dir": str(folder / "output"),
            "channels": [*([taken.channel] if taken is not None else ()), *map(access.address_of, context.channels)],
            "jobs": context.jobs,
            "test": context.test,
            "answer": str(folder / "answer.json"),
        }
        job_path = folder / "job.json"
        job_path.write_text(json.dumps(job, indent=1), encoding="utf-8")
        return self._run(output, context, reporter, job_path, Path(str(job["answer"])))

    def _run(
        self, output: RenderedOutput, context: BuildContext, reporter: Reporter, job: Path, answer_path: Path
    ) -> Path:
        answer_path.unlink(missing_ok=True)
        log = context.workspace.log(output.key)
        with ExitStack() as stack:
            observer = BuildObserver(output.key, output.name, context.jobs, context.journal)
            stack.callback(observer.finish, job.parent / "output", log.parent)
            progress = _Progress(output, stack, reporter, observer)
            cache = _compiler_cache(output, context, job.parent)
            if cache is not None:
                cache.on_start = observer.sampler.watch
                stack.enter_context(cache)
                progress.listeners.append(cache.on_line)
            completed = proc.run(
                [sys.executable, "-P", "-s", "-m", "slipway.engines.rattler_worker", job],
                env=_environment(context, job.parent),
                what=f"building `{output.name}`",
                log=log,
                on_line=progress.on_line,
                on_start=observer.started,
                check=False,
            )
        if cache is not None:
            if cache.error is not None:
                raise cache.error
            _report_compiler_cache(cache, output, context, reporter)
        answer = read_json(answer_path) or {}  # none, or cut off: on a full disk
        if "package" in answer:
            return Path(answer["package"])
        tail = "\n".join(completed.tail)
        places = (job.parent, Path(context.environ.get("TMPDIR") or "/tmp"))
        if progress.disk_is_full or (progress.could_not_write and any(map(_is_almost_full, places))):
            raise DiskFullError(
                f"the disk is full, so `{output.key}` could not be built",
                where=str(log),
                hint="make room in the folders to build in, for temporary files and for output, "
                "and run the same command again: it goes on",
                detail=tail,
            )
        if progress.phase in BEFORE_THE_SCRIPT and answer.get("kind") != "solve" and _any_remote(context.channels):
            raise NetworkError(
                f"`{output.key}`: the packages that it is built with could not be fetched",
                where=str(log),
                hint="the lines above are the end of that log; is the network up?",
                detail=tail,
            )
        kind = SolveError if answer.get("kind") == "solve" else BuildError
        what = {
            Phase.TEST: "its test failed",
            Phase.SCRIPT: "its build script failed",
            Phase.PREPARE: "failed",
        }.get(progress.phase, f"failed while {progress.phase}")
        raise kind(
            f"`{output.key}`: {'no environment satisfies its requirements' if kind is SolveError else what}",
            where=str(log),
            hint="the lines above are the end of that log; fix the cause and run the same command again",
            detail=tail,
        )


class _Progress:
    """Follows the worker's lines: which phase, which of Ninja's steps."""

    def __init__(self, output: RenderedOutput, stack: ExitStack, reporter: Reporter, observer: BuildObserver) -> None:
        self.phase = Phase.PREPARE
        self.disk_is_full = False
        self.could_not_write = False
        self.observer = observer
        self.listeners: list[Callable[[str], None]] = []
        self.task: Task = stack.enter_context(reporter.task(output.name))
        self.task.update(text="starting")

    def on_line(self, line: str) -> None:
        """Take one line of the log."""
        if line.startswith(PHASE_MARK):
            name = line.removeprefix(PHASE_MARK)
            if name in PHASES:
                self.phase = PHASES[name]
                self.task.update(text=self.phase)
        if any(sign in line for sign in FULL_DISK_SIGNS):
            self.disk_is_full = True  # compilers say so long before the build ends
        self.could_not_write = self.could_not_write or COULD_NOT_WRITE in line
        self.observer.line(line, self.phase)
        for listener in self.listeners:
            listener(line)
        match = NINJA_COUNT.match(line)
        if match:
            done, total, text = match.groups()
            self.task.update(completed=int(done), total=int(total), text=text)


def _target(output: RenderedOutput) -> Platform:
    return target_of(output.variant, this_platform())


def _is_almost_full(folder: Path) -> bool:
    return shutil.disk_usage(folder).free < LITTLE_ROOM


def _any_remote(channels: Sequence[str]) -> bool:
    return any(not url.startswith("file:") for url in channels)


def _compiler_cache(output: RenderedOutput, context: BuildContext, place: Path) -> CompilerCache | None:
    """The cache of a build whose recipe asks for one, its store checked."""
    if not wants_cache(output):
        return None
    if context.compile_all:
        store = fresh_store(place / "empty-store", context.environ)
    else:
        store = choose_store(context.environ)
        check_store(store)
    return CompilerCache(place, store, _target(output))


def _report_compiler_cache(
    cache: CompilerCache, output: RenderedOutput, context: BuildContext, reporter: Reporter
) -> None:
    if not cache.started:
        return  # the build ended before it compiled
    compiled = cache.statistics(output.key)
    if compiled is None:
        reporter.line("sccache: its server died during the build, which went on without the store")
        return
    context.journal.add(compiled)
    reporter.line(f"sccache: {compiled.sentence}")


def _v1_source(
    source: Source, output: RenderedOutput, folder: Path, index: int, environ: Mapping[str, str]
) -> Mapping[str, Any]:
    """One source entry in v1 form; local folders become a snapshot, patches become part of the recipe's folder."""
    entry: dict[str, Any] = {}
    reads = reads_of(output, source)
    if source.path is not None:
        assert reads.tree is not None
        snapshot = folder / f"source-{index}"
        reads.tree.copy_to(snapshot)
        single = reads.tree.root.is_file()
        # Relative to the recipe: the package carries this, and where it was built is nobody's business.
        entry["path"] = (PurePosixPath("..") / snapshot.name / (reads.tree.files[0] if single else "")).as_posix()
        entry["use_gitignore"] = False
    else:
        snapshot = folder / f"source-{index}"
        fetch.put(source, snapshot, where=str(output.recipe_dir / "meta.yaml"), environ=environ)
        entry["path"] = (PurePosixPath("..") / snapshot.name).as_posix()
        entry["use_gitignore"] = False
    if source.folder:
        entry["target_directory"] = source.folder
    links = read_links(snapshot) if reads.patches else {}
    for patch in reads.patches:
        check_patch_links(patch, links)
    patches = [_take_patch(patch, folder / "recipe", index) for patch in reads.patches]
    if patches:
        entry["patches"] = patches
    return entry


def _take_patch(path: Path, recipe_folder: Path, index: int) -> str:
    target = Path("applied-patches") / f"{index}-{path.name}"
    (recipe_folder / target.parent).mkdir(exist_ok=True)
    shutil.copyfile(path, recipe_folder / target)
    return target.as_posix()


def _environment(context: BuildContext, folder: Path) -> dict[str, str]:
    """What the worker, and so every build script, may see of this machine; paths are in the build's own `folder`."""
    tools = make_host_tools(folder / "host-tools")
    # rattler-build makes run paths relative itself where there is room for that, and otherwise runs this.
    (tools / "patchelf").symlink_to(proc.own_program("patchelf"))
    home = folder / "home"
    home.mkdir()
    environment = {key: value for key, value in context.environ.items() if PASSED_ON.fullmatch(key)}
    return environment | {
        "PATH": str(tools),
        "PYTHONPATH": str(PACKAGE_ROOT),
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TMPDIR": context.environ.get("TMPDIR") or "/tmp",
        "RATTLER_CACHE_DIR": str(_make_cache(context, folder / "rattler-cache")),
        "NO_COLOR": "1",
        "USER": context.environ.get("USER", "slipway"),
    }


def _make_cache(context: BuildContext, folder: Path) -> Path:
    """A cache for rattler-build, of this build alone: packages that were checked just now, and no others.

    What else a build takes is unpacked for it: above all the package that it makes and tests, of whose name there may
    be others, from earlier builds and from builds beside this one.
    """
    (folder / "pkgs").mkdir(parents=True)
    fill_linked_cache(take_packages(context.packages, context.environ), folder / "pkgs")
    return folder
