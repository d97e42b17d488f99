"""Builds with rattler-build, through its Python binding: it solves, isolates, builds, relinks, packs and tests.

rattler-build runs in a process of its own (`rattler_worker`), because it takes PATH and the rest of its environment
from the process, and because Ctrl-C must stop the whole tree of compilers at once.
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from slipway import source as fetch
from slipway.base import proc
from slipway.base.checkout import PACKAGE_ROOT
from slipway.base.errors import BuildError
from slipway.base.events import Phase, Stage, StageKey
from slipway.base.files import copy_file
from slipway.base.json_file import read_json
from slipway.base.links import read_links
from slipway.base.platform import NOARCH, this_platform
from slipway.base.user_folders import cache_folder
from slipway.channel.folder import Channel
from slipway.channel.taken import BUILDS
from slipway.engines.build_folder import build_place, check_writable
from slipway.engines.build_script import SCRIPT_NAME, build_script
from slipway.engines.compiler_cache.server import CompilerCache, wants_cache
from slipway.engines.compiler_cache.store import check_store, choose_store, fresh_store
from slipway.engines.emulation import find_emulation
from slipway.engines.failure import FailedBuild
from slipway.engines.host_tools import make_host_tools
from slipway.engines.isolation import Isolator
from slipway.engines.locked_channel import LockedChannel
from slipway.engines.prepared_sources import check_licence_files
from slipway.engines.progress import BuildProgress
from slipway.engines.rattler_recipe import test_tools, to_v1_recipe
from slipway.engines.staging import SUFFIX, Staged, as_package, find_built, staged
from slipway.model import META_NAME, V1_NAME
from slipway.observe.build import BuildObserver
from slipway.recipe import load_recipe_settings
from slipway.recipe.defaults import target_of
from slipway.recipe.outputs import required_by_tests
from slipway.source.leaves_out import reads_of
from slipway.source.patches import check_patch_links
from slipway.source.tree import read_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from slipway.base.log import Reporter
    from slipway.base.platform import Platform
    from slipway.engines.debugging import PreparedBuild
    from slipway.engines.emulation import Emulation
    from slipway.engines.engine import BuildContext
    from slipway.engines.isolation import Sandbox
    from slipway.model import RenderedOutput, Source

PASSED_ON = re.compile(r"CONDA_OVERRIDE_\w+")
"""Variables of the caller that a build may see: what the machine pretends to be."""

PASSED_TO_NETWORK = re.compile(r"(https?|no|all|ftp)_proxy|SSL_CERT_(FILE|DIR)", re.IGNORECASE)
"""Further ones for builds that have a network."""

CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")

MERGED = "merge_build_and_host_envs"
"""The key of a v1 recipe that makes one environment of two."""


class RattlerEngine:
    """rattler-build, in a process and, where that can be had, a sandbox of its own."""

    name = "rattler"

    def __init__(self) -> None:
        self._isolator = Isolator()

    def build(self, output: RenderedOutput, context: BuildContext, reporter: Reporter) -> Path:
        """See `slipway.engines.engine.Engine.build`."""
        taken = self._stage(output, context, reporter)
        check_writable(Path(context.environ.get("TMPDIR") or "/tmp"), "TMPDIR")
        check_writable(cache_folder(context.environ), "XDG_CACHE_HOME")
        waiting = partial(reporter.line, f"waiting for another slipway that builds `{output.name}` in the same folder")
        with (
            build_place(output.name, context.environ, waiting) as folder,
            self._isolator.sandbox(context.isolation, context.channels, context.environ, reporter) as sandbox,
        ):
            kept: list[Path] = []

            def keep(package: Path) -> None:
                kept.append(context.workspace.work / "built" / output.subdir / package.name)
                copy_file(package, kept[0])
                context.on_built(kept[0])

            _Build(output, context, reporter, folder, taken, sandbox).run(keep)
            with context.journal.stage(Stage(StageKey.CLEAR, output.key)):
                shutil.rmtree(folder)
            return kept[0]

    def test(self, package: Path, output: RenderedOutput, context: BuildContext, reporter: Reporter) -> None:
        """See `slipway.engines.engine.Engine.test`."""
        waiting = partial(reporter.line, f"waiting for another slipway that builds `{output.name}` in the same folder")
        with (
            build_place(output.name, context.environ, waiting) as folder,
            self._isolator.sandbox(context.isolation, context.channels, context.environ, reporter) as sandbox,
        ):
            _Build(output, context, reporter, folder, None, sandbox).test(package)

    def prepare(self, output: RenderedOutput, context: BuildContext, reporter: Reporter) -> None:
        """Bring a build of `output` so far that its script could run, and leave it there; see `debugging`.

        Raises:
            BuildError, SolveError, HostError: as for `build`.
        """
        taken = self._stage(output, context, reporter)
        with (
            build_place(output.name, context.environ, keep=True) as folder,
            self._isolator.sandbox(context.isolation, context.channels, context.environ, reporter) as sandbox,
        ):
            _Build(output, context, reporter, folder, taken, sandbox).prepare()

    def run_in(
        self, prepared: PreparedBuild, output: RenderedOutput, context: BuildContext, words: Sequence[str],
        reporter: Reporter,
    ) -> int:  # fmt: skip
        """Run a program where the script of `prepared` runs, with this process's input and output; its exit status."""
        with self._isolator.sandbox(context.isolation, context.channels, context.environ, reporter) as sandbox:
            home = prepared.place / "home"
            home.mkdir(exist_ok=True)
            environment = {"PATH": str(prepared.place / "host-tools"), "HOME": str(home), "LANG": "C.UTF-8"}
            environment |= {"TERM": context.environ.get("TERM", "dumb"), "TMPDIR": "/tmp"}
            if sandbox is not None:
                readable = cache_folder(context.environ) / BUILDS
                sandbox = replace(
                    sandbox, writable=(prepared.place,), readable=(readable,), network=_uses_network(output)
                )
            program = [shutil.which(words[0]) or words[0], *words[1:]]
            return proc.hand_over(sandbox.command(program) if sandbox is not None else program, env=environment)

    def _stage(self, output: RenderedOutput, context: BuildContext, reporter: Reporter) -> Staged | None:
        """Bring the top level up to date that `output` takes its files from, where it does."""
        if output.staging is None or not output.takes_files:
            return None
        channel = Channel(context.workspace.staged)
        built = find_built(channel, output.staging, context.staging)
        if built is None:
            digest = context.staging or secrets.token_hex()
            with reporter.step(Stage(StageKey.TOP_LEVEL, output.staging.name)):
                within = replace(context, digest=digest, staging=None, test=False, on_built=lambda package: None)
                package = self.build(as_package(output.staging), within, reporter)
                channel.publish([(output.staging.subdir, package)])
                package.unlink()
            built = channel.folder / output.staging.subdir / package.name
        return staged(output, channel, built)


class _Build:
    """One build of `output` in the empty folder `place`: it is prepared, made in a sandbox, and tested in one."""

    def __init__(
        self,
        output: RenderedOutput,
        context: BuildContext,
        reporter: Reporter,
        place: Path,
        taken: Staged | None,
        sandbox: Sandbox | None,
    ) -> None:
        self.output = output
        self.context = context
        self.reporter = reporter
        self.place = place
        self.taken = taken
        self.log = context.workspace.log(output.key)
        self.channels = (*([taken.channel] if taken is not None else ()), *context.channels)
        self.target = _target(output)
        self.is_cross = self.target.subdir not in (this_platform().subdir, NOARCH)
        self.locked = LockedChannel(place, self.channels, context.environ, what=output.key, target=self.target)
        network = _uses_network(output)
        self.environment = _environment(context, place, self.locked.cache, network=network)
        self.emulation: Emulation | None = None
        self.sandbox = sandbox
        if sandbox is not None:
            certificates = [Path(self.environment[name]) for name in CERTIFICATES if name in self.environment]
            unpacked = cache_folder(context.environ) / BUILDS
            unpacked.mkdir(parents=True, exist_ok=True)
            readable = (unpacked, *(path for path in certificates if path.exists()))
            self.sandbox = replace(sandbox, writable=(place,), readable=readable, network=network)

        temporary = Path(context.environ.get("TMPDIR") or "/tmp")
        is_shut_off = self.sandbox is not None and not self.sandbox.network
        self._failed = FailedBuild(output, place, self.log, temporary, is_shut_off)

    def run(self, keep: Callable[[Path], None]) -> None:
        """Build, have the package kept, and test it."""
        self._run(keep)

    def prepare(self) -> None:
        """Bring the build so far that its script could run."""
        self._run(None)

    def _run(self, keep: Callable[[Path], None] | None) -> None:
        with ExitStack() as stack:
            observer = BuildObserver(self.output.key, self.output.name, self.context.jobs, self.context.journal)
            stack.callback(observer.finish, self.place / "output", self.log.parent)
            progress = BuildProgress(self.output, stack, self.reporter, observer)
            progress.enter(Phase.PREPARE)
            recipe = self._prepare()
            merged = bool(recipe["build"].get(MERGED))
            self.locked.add_build(recipe["requirements"], progress.enter, merged=merged)
            progress.enter(Phase.START)
            package = self._make(progress, prepare_only=keep is None)
            if keep is None:
                return
            keep(package)
            if self.context.test and recipe["tests"]:
                self._test(package, recipe["tests"], progress)

    def test(self, package: Path) -> None:
        """Run the tests of a package that was built before."""
        tests = to_v1_recipe(self.output, (), self.context.digest, test_tools=self._test_tools())["tests"]
        if not tests:
            return
        with ExitStack() as stack:
            observer = BuildObserver(self.output.key, self.output.name, self.context.jobs, self.context.journal)
            stack.callback(observer.stop)
            copy = self.place / "output" / self.output.subdir / package.name
            copy_file(package, copy)
            self._test(copy, tests, BuildProgress(self.output, stack, self.reporter, observer))

    def _test_tools(self) -> Sequence[str]:
        return test_tools(self.output, self.channels, self.target) if self.is_cross else ()

    def _prepare(self) -> dict[str, Any]:
        """Write recipe, sources and script; returns the v1 recipe."""
        output, folder = self.output, self.place / "recipe"
        read_tree(output.recipe_dir).copy_to(folder)  # what the digest covers, and nothing beside it
        for name in (V1_NAME, META_NAME):  # kept under another name: the engine's own is what it reads
            if (folder / name).exists():
                (folder / name).rename(folder / f"{name}.in")
        sources = [
            _v1_source(source, output, self.place, index, self.context.environ)
            for index, source in enumerate(output.sources)
        ]
        # The engine's TLS library puts them into its own environment once it has looked for certificates.
        found = [name for name in CERTIFICATES if name not in self.environment]
        script = build_script(output, recipe=folder, jobs=self.context.jobs, unset=found)
        (folder / SCRIPT_NAME).write_text(script, encoding="utf-8")
        check_licence_files(output, folder, sources)
        recipe = to_v1_recipe(output, sources, self.context.digest, self.taken, test_tools=self._test_tools())
        # JSON is YAML, and has no surprises
        (folder / "recipe.yaml").write_text(json.dumps(recipe, indent=1), encoding="utf-8")
        return recipe

    def _make(self, progress: BuildProgress, *, prepare_only: bool = False) -> Path:
        job = {
            "prepare_only": prepare_only,
            "recipe": str(self.place / "recipe" / "recipe.yaml"),
            "platform": self.target.subdir,
            "build_platform": this_platform().subdir if self.is_cross else self.target.subdir,
            "variants": {key: [value] for key, value in self.output.variant.items()},
            "output_dir": str(self.place / "output"),
        }
        cache = _compiler_cache(self.output, self.context, self.place)
        with ExitStack() as stack:
            if cache is not None:
                cache.sandbox = self.sandbox
                cache.on_start = progress.observer.sampler.watch
                stack.enter_context(cache)
                progress.listeners.append(cache.on_line)
            package, completed, answer = self._work("build", job, progress)
        if cache is not None:
            if cache.error is not None:
                raise cache.error
            _report_compiler_cache(cache, self.output, self.context, self.reporter)
        if package is None:
            raise self._failed.explain(progress, completed.tail, answer)
        return package

    def _test(self, package: Path, tests: Sequence[Mapping[str, Any]], progress: BuildProgress) -> None:
        progress.enter(Phase.TEST)
        built = Channel(self.place / "built")
        built.publish([(self.output.subdir, package)])
        specs, tools = list(required_by_tests(tests)), []
        if self.is_cross:
            tools = [spec for test in tests for spec in (test.get("requirements") or {}).get("build") or ()]
            specs = [spec for spec in specs if spec not in tools]
            self.emulation = find_emulation(self.target, self.channels, self.context.environ, self.reporter)
        tested = f"{self.output.name} =={self.output.version} {self.output.build_string}"
        self.locked.add_test(specs, tested, built.url, tools)
        temporary = self.place / "test"  # rattler-build makes the environment among temporary files
        temporary.mkdir()
        self.environment["TMPDIR"] = str(temporary)
        found, completed, answer = self._work("test", {"package": str(package)}, progress)
        if found is None:
            raise self._failed.explain(progress, completed.tail, answer)

    def _work(
        self, name: str, job: Mapping[str, Any], progress: BuildProgress
    ) -> tuple[Path | None, proc.Completed, Mapping[str, str]]:
        """Run a worker: the package that it names, if all went well, how it ended, and what it answered."""
        job_path, answer_path = self.place / f"{name}.json", self.place / f"{name}-answer.json"
        common = {"channels": [self.locked.url], "jobs": self.context.jobs, "answer": str(answer_path)}
        job_path.write_text(json.dumps({**job, **common}, indent=1), encoding="utf-8")
        words = [*proc.own_python(), "-m", "slipway.engines.rattler_worker", str(job_path)]
        sandbox, emulation = self.sandbox, self.emulation
        if sandbox is not None and emulation is not None:
            sandbox = replace(sandbox, readable=(*sandbox.readable, emulation.prefix))
        words = sandbox.command(words) if sandbox is not None else words
        completed = proc.run(
            emulation.command(words) if emulation is not None else words,
            env=self.environment,
            what=f"building `{self.output.name}`",
            cwd=self.place,
            log=self.log,
            append=name != "build",
            on_line=progress.on_line,
            on_start=progress.observer.started,
            check=False,
        )
        answer = read_json(answer_path) or {}  # none, or cut off: on a full disk
        if "package" not in answer:
            return None, completed, answer
        package = Path(str(answer["package"]))
        if job.get("prepare_only"):
            return package, completed, answer
        # The script could write the answer, too.
        if package.resolve().parents[1] != (self.place / "output").resolve() or package.is_symlink():
            raise BuildError(f"`{self.output.key}`: its script put something else in its package's place")
        return package, completed, answer


def _target(output: RenderedOutput) -> Platform:
    return target_of(output.variant, this_platform())


def _uses_network(output: RenderedOutput) -> bool:
    """Whether the recipe says that the scripts of `output`, or those that run in its build, use the network."""
    names = {output.name, output.name.removesuffix(SUFFIX)}
    names |= {output.staging.name} if output.staging is not None else set()
    return not names.isdisjoint(load_recipe_settings(output.recipe_dir).network)


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
        fetch.put(source, snapshot, where=str(output.recipe_path), environ=environ)
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


def _environment(context: BuildContext, folder: Path, cache: Path, *, network: bool) -> dict[str, str]:
    """What the worker, and so every build script, may see of this machine; paths are in the build's own `folder`."""
    tools = make_host_tools(folder / "host-tools")
    # rattler-build makes run paths relative itself where there is room for that, and otherwise runs this.
    (tools / "patchelf").symlink_to(proc.own_program("patchelf"))
    home = folder / "home"
    home.mkdir()
    given = {
        key: value
        for key, value in context.environ.items()
        if PASSED_ON.fullmatch(key) or (network and PASSED_TO_NETWORK.fullmatch(key))
    }
    return given | {
        "PATH": str(tools),
        "PYTHONPATH": str(PACKAGE_ROOT),
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TMPDIR": context.environ.get("TMPDIR") or "/tmp",
        "RATTLER_CACHE_DIR": str(cache),
        "NO_COLOR": "1",
        "USER": "slipway",
    }
