"""From rendered outputs to judged packages: what is built, in which order, and what is taken as it lies.

Each output gets a digest of everything it is made from (`slipway.pipeline.manifest`). A package in the channel, or one
that an earlier, interrupted run has built and judged, is reused when its digest is the same. What is new is built,
judged, and kept among the *proved* packages; only a whole run's packages are published, together.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.errors import ChannelError, IntegrityError, NetworkError, VerifyError
from slipway.base.events import Decided, Packaged, Reason, Stage, StageKey
from slipway.base.journal import Journal
from slipway.base.paths import cache_folder
from slipway.base.text import human_seconds, human_size
from slipway.channel.environments import Solution, solve
from slipway.channel.folder import Channel
from slipway.channel.package import read_info, read_package_digest, read_paths
from slipway.engines.engine import BuildContext, Engine
from slipway.model import Artifact, RenderedOutput, Source
from slipway.observe.history import available_memory, jobs_for
from slipway.pipeline.manifest import STAGING_PREFIX, Manifest, differences, make_manifest
from slipway.pipeline.packing import MANIFEST_FILE, finish_package
from slipway.source import url
from slipway.verify import Verifier, format_findings, has_errors, shared_files, shared_paths

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from slipway.base.log import Reporter
    from slipway.base.paths import Workspace


SHOWN_CHANGES = 12
"""More of them than this help nobody."""


def shortened(changes: Sequence[str]) -> list[str]:
    """The first changes, and how many there are beside."""
    more = len(changes) - SHOWN_CHANGES
    return [*changes[:SHOWN_CHANGES], *([f"and {more} more"] if more > 0 else [])]


@dataclass(frozen=True)
class State:
    """How an output stands: the package that is up to date, or what changed since the one there is.

    Attributes:
        damaged: packages of it whose bytes are not those that their channel promises.
    """

    reason: Reason
    package: Path | None = None
    changes: tuple[str, ...] = ()
    damaged: tuple[Path, ...] = ()


@dataclass
class Pipeline:
    """One run over the outputs of one recipe.

    Attributes:
        channels: where build, host and test environments come from, beside this run's own packages.
        rebuild: build even what did not change.
        only: keys of the outputs to build, the others being taken from the channel as they are; None builds all.
        journal: what this run does is written down there.
        places: where the solver found each package, by its sha256.
    """

    workspace: Workspace
    engine: Engine
    channels: tuple[str, ...]
    environ: Mapping[str, str]
    reporter: Reporter
    jobs: int
    rebuild: bool = False
    only: frozenset[str] | None = None
    journal: Journal = field(default_factory=Journal)
    artifacts: list[Artifact] = field(default_factory=list)
    digests: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    files: dict[Path, frozenset[str]] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)

    @property
    def session(self) -> Channel:
        """A channel of this run's packages only, so that nothing stale can be picked."""
        return Channel(self.workspace.work / "session")

    @property
    def published(self) -> Channel:
        """What users install from."""
        return Channel(self.workspace.channel)

    @property
    def proved(self) -> Channel:
        """What was built and judged, and waits to be published together."""
        return Channel(self.workspace.proved)

    def run(self, outputs: Sequence[RenderedOutput], *, publish: bool = True) -> list[Artifact]:
        """Bring every output up to date, in the order given; then publish what the channel does not have.

        Raises:
            BuildError, SolveError: see `slipway.engines.engine.Engine.build`.
            VerifyError: a package breaks a policy; nothing of this run is published.
        """
        self.session.delete()
        self.session.publish()
        if not self.published.is_indexed:
            if self.workspace.channel.exists():
                self.reporter.line("the channel's index is damaged: it is written again")
            for path in self.published.repair():
                self.reporter.line(f"a package of it is damaged, too: it is now {path.name}")
        own_names = {output.name for output in outputs}
        for index, output in enumerate(outputs, start=1):
            with self.reporter.step(Stage(StageKey.OUTPUT, output.key, index, len(outputs))):
                artifact = self._bring_up_to_date(output, own_names)
            if artifact.reused:
                self._judge_beside(artifact)
            self.artifacts.append(artifact)
            self.journal.add(
                Packaged(
                    output.key,
                    f"{output.subdir}/{artifact.path.name}",
                    artifact.size,
                    artifact.sha256,
                    artifact.seconds,
                    artifact.reused,
                )
            )
            self.session.publish([(output.subdir, artifact.path)])
        if publish:
            self._publish()
        return self.artifacts

    def _bring_up_to_date(self, output: RenderedOutput, own_names: set[str]) -> Artifact:
        started = time.monotonic()
        self.names[output.key] = output.name
        if self.only is not None and output.key not in self.only:
            return self._handed(output)
        manifest = self.manifest(output, own_names)
        digest = manifest.digest
        self.digests[output.key] = digest
        state = self.state(output, manifest)
        if state.package is not None and not self.rebuild:
            self.journal.add(Decided(output.key, Reason.UP_TO_DATE))
            self.reporter.line(f"{Reason.UP_TO_DATE}: made from the same sources, recipe and environments")
            return _artifact(output, state.package, time.monotonic() - started, reused=True)
        reason = Reason.REBUILT if state.reason is Reason.UP_TO_DATE else state.reason
        self.journal.add(Decided(output.key, reason, tuple(shortened(state.changes))))
        self.reporter.line(f"{reason}; log: {self.workspace.log(output.key)}")
        for change in shortened(state.changes):
            self.reporter.line(f"  {change}")
        for path in state.damaged:  # nobody may install it meanwhile, nor compare the new one with it
            Channel(path.parents[1]).publish(without=[path])
        try:
            built = self.engine.build(output, self._context(output, manifest), self.reporter)
        except NetworkError:
            self._find_fault(manifest)
            raise
        finish_package(built, manifest)
        built.chmod(0o644)  # the engine makes it readable for us alone; a channel is for everyone
        self._judge(output, built)
        self.proved.publish([(output.subdir, built)])
        kept = self.workspace.proved / output.subdir / built.name
        built.unlink()
        artifact = _artifact(output, kept, time.monotonic() - started, reused=False)
        self.reporter.line(f"built in {human_seconds(artifact.seconds)}, {human_size(artifact.size)}")
        return artifact

    def _find_fault(self, manifest: Manifest) -> None:
        """Look which package of a channel elsewhere cannot be had: engines may keep that for themselves.

        Raises:
            NetworkError, IntegrityError: it cannot be fetched, or is not what the channel's index promises.
        """
        cache = cache_folder(self.environ)
        for sha256 in (known[2] for packages in manifest.environments.values() for known in packages.values()):
            address = self.places.get(sha256, "file:")
            unpacked = cache / "rattler" / "pkgs" / Path(address).stem
            if not address.startswith("file:") and not (unpacked / "info" / "index.json").is_file():
                url.fetch(Source(url=address, sha256=sha256), cache, cache, offline=False, by="channel")

    def _handed(self, output: RenderedOutput) -> Artifact:
        """The package of an output that somebody else built, as it lies in the channel."""
        path = self.published.path_of(output.subdir, output.key)
        digest = read_package_digest(path) if path.is_file() else None
        if digest is None:
            raise ChannelError(
                f"`{output.key}` is needed, and " + ("says not what it is made from" if path.exists() else "not there"),
                where=str(path),
                hint="build it first, with the same recipe and the same variant configuration",
            )
        self.digests[output.key] = digest
        self.journal.add(Decided(output.key, Reason.HANDED_ON))
        self.reporter.line(Reason.HANDED_ON)
        return _artifact(output, path, 0.0, reused=True)

    def _jobs(self, output: RenderedOutput) -> int:
        """As many compilers as asked for, or fewer where those of the last build would not fit into memory."""
        free = available_memory()
        jobs = jobs_for(self.workspace.dist / "logs", output.name, self.jobs, free)
        if jobs < self.jobs:
            self.reporter.line(f"{jobs} of {self.jobs} compilers at once: more did not fit into {human_size(free)}")
        return jobs

    def _build_channels(self) -> tuple[str, ...]:
        return (self.session.url, self.published.url, *self.channels)

    def plan(self, outputs: Sequence[RenderedOutput]) -> list[State]:
        """How every output stands, in the order given; nothing is built or written."""
        own_names = {output.name for output in outputs}
        states = []
        for output in outputs:
            manifest = self.manifest(output, own_names)
            self.names[output.key], self.digests[output.key] = output.name, manifest.digest
            states.append(self.state(output, manifest))
        return states

    def _context(self, output: RenderedOutput, manifest: Manifest) -> BuildContext:
        return BuildContext(
            workspace=self.workspace,
            channels=self._build_channels(),
            digest=manifest.digest,
            staging=manifest.staging_digest,
            environ=self.environ,
            jobs=self._jobs(output),
            journal=self.journal,
        )

    def manifest(self, output: RenderedOutput, own_names: set[str]) -> Manifest:
        """Everything that `output` would be made from now.

        Args:
            own_names: the recipe's outputs; those that `output` needs must be in `digests`.
        """
        solutions = dict(self._environments(output, own_names))
        for solution in solutions.values():
            self.places |= {package.sha256: package.url for package in solution.packages}
        required = _required(output)
        if output.staging is not None:
            top_level = self._environments(output.staging, own_names)
            solutions |= {f"{STAGING_PREFIX}{name}": solution for name, solution in top_level}
            required |= _required(output.staging)
        version = importlib.metadata.version("py-rattler-build")
        return make_manifest(
            output,
            engine=f"{self.engine.name} {version}",
            environments={
                name: [package for package in solution.packages if package.name not in own_names]
                for name, solution in solutions.items()
            },
            needed={key: digest for key, digest in self.digests.items() if self.names[key] in required},
        )

    def _environments(self, output: RenderedOutput, own_names: set[str]) -> Iterator[tuple[str, Solution]]:
        """What the solver picks for building `output`, the recipe's own outputs left out."""
        build = self._solve(_without(output.requirements.build, own_names))
        exported = [spec for spec in _strong_run_exports(build, output) if spec.split()[0] not in own_names]
        yield "build", build
        yield "host", self._solve((*_without(output.requirements.host, own_names), *exported))

    def state(self, output: RenderedOutput, manifest: Manifest) -> State:
        """Whether there is a package of `output` that was made from just that, and if not, what is different."""
        changes: tuple[str, ...] | None = None
        damaged: list[Path] = []
        for channel in (self.published, self.proved):
            path = channel.path_of(output.subdir, output.key)
            if not path.is_file():
                continue
            damage = channel.find_damage(path)
            if damage is not None:
                changes = changes or (f"{path}: {damage}",)
                damaged.append(path)
                continue
            if read_package_digest(path) == manifest.digest:
                return State(Reason.UP_TO_DATE, path)
            text = read_info(path, MANIFEST_FILE)
            if text is None:
                changes = changes or ("the package does not say what it was made from",)
            else:
                try:
                    old = Manifest.from_json(text, where=str(path))
                except IntegrityError as error:
                    changes = changes or (error.message,)
                else:
                    changes = changes or tuple(differences(old, manifest))
        return State(Reason.NEW if changes is None else Reason.CHANGED, None, changes or (), tuple(damaged))

    def _solve(self, specs: Sequence[str]) -> Solution:
        """Of the recipe's own outputs nothing is asked here, so this run's packages need not be there."""
        own = (self.published.url,) if self.published.is_indexed else ()
        return solve(specs, (*own, *self.channels)) if specs else Solution((), ())

    def _judge(self, output: RenderedOutput, path: Path) -> None:
        with self.reporter.step(Stage(StageKey.VERIFY, output.key)):
            verifier = Verifier(environ=self.environ)
            facts = verifier.facts(path)
            environment = self._environment(output, path)
            around = verifier.surroundings(environment.packages, facts, previous_in=self.workspace.channel)
            findings = verifier.judge(facts, around)
            # Variants of one output replace each other and may share files; different outputs are installed together.
            others = [artifact for artifact in self.artifacts if artifact.output.name != output.name]
            findings += shared_files(facts, {other.path.name: self._files(other) for other in others})
            for finding in findings:
                self.journal.add(finding)
        if findings and not has_errors(findings):
            self.reporter.line(format_findings(findings))
        if has_errors(findings):
            raise VerifyError(
                f"`{output.key}` breaks a policy, so it is not published",
                where=str(path),
                hint="the findings are above; the package is kept for a look",
                detail=format_findings(findings),
            )

    def _files(self, artifact: Artifact) -> frozenset[str]:
        """What a package of this run installs, whoever built it."""
        if artifact.path not in self.files:
            self.files[artifact.path] = read_paths(artifact.path)
        return self.files[artifact.path]

    def _judge_beside(self, artifact: Artifact) -> None:
        """A package that is reused was judged when other packages were beside it: it must go with the new ones, too.

        Raises:
            VerifyError: it installs a file that a package which is not published yet installs, too, or is such a
                package itself. That one is forgotten, so that it is built again.
        """
        findings, forgotten = [], []
        for other in self.artifacts:
            new = [one for one in (artifact, other) if one.path.is_relative_to(self.workspace.proved)]
            if other.output.name == artifact.output.name or not new:
                continue
            shared = shared_paths(artifact.output.name, self._files(artifact), {other.path.name: self._files(other)})
            findings += shared
            forgotten += [one.path for one in new if shared]
        if findings:
            self.proved.publish(without=forgotten)
            for finding in findings:
                self.journal.add(finding)
            raise VerifyError(
                f"`{artifact.output.key}` does not go with a new package, so nothing is published",
                where=str(artifact.path),
                hint="the findings are above",
                detail=format_findings(findings),
            )

    def _environment(self, output: RenderedOutput, path: Path) -> Solution:
        """What the solver picks around the package that was just built."""
        trial = Channel(self.workspace.work / "trial")
        trial.delete()
        trial.publish([(output.subdir, path)])
        channels = (trial.url, *self._build_channels())
        solution = solve([f"{output.name} {output.version} {output.build_string}"], channels)
        trial.delete()
        return solution

    def _publish(self) -> None:
        known = [
            (artifact.output.subdir, artifact.path)
            for artifact in self.artifacts
            if artifact.path.parent.parent != self.workspace.channel
        ]
        if known:
            with self.reporter.step(Stage(StageKey.PUBLISH, str(self.workspace.channel), count=len(known))):
                self.published.publish(known)
        self.artifacts = [self._published(artifact) for artifact in self.artifacts]
        for channel in (self.proved, Channel(self.workspace.staged), self.session):
            channel.delete()

    def _published(self, artifact: Artifact) -> Artifact:
        path = self.workspace.channel / artifact.output.subdir / artifact.path.name
        return Artifact(artifact.output, path, artifact.sha256, artifact.size, artifact.seconds, artifact.reused)


def _artifact(output: RenderedOutput, path: Path, seconds: float, *, reused: bool) -> Artifact:
    content = path.read_bytes()
    return Artifact(output, path, hashlib.sha256(content).hexdigest(), len(content), seconds, reused)


def _without(specs: Sequence[str], names: set[str]) -> tuple[str, ...]:
    """The specs of packages that are not among `names`: those count by what they are made from, see `needed`."""
    return tuple(spec for spec in specs if spec.split()[0] not in names)


def _required(output: RenderedOutput) -> set[str]:
    """The names of all packages that `output` asks for."""
    sections = (output.requirements.build, output.requirements.host, output.requirements.run)
    return {spec.split()[0] for section in sections for spec in section}


def _strong_run_exports(build: Solution, output: RenderedOutput) -> Iterator[str]:
    """What the packages named in the build section add to the host environment."""
    named = {spec.split()[0] for spec in output.requirements.build}
    ignored = {str(name).split()[0] for name in output.build.get("ignore_run_exports") or ()}
    for record in build.records:
        if record.name.normalized in named:
            exports = json.loads(record.to_json()).get("run_exports") or {}
            yield from (spec for spec in exports.get("strong", ()) if spec.split()[0] not in ignored)
