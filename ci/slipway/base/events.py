"""What happens in a run, as values: each event is a frozen class, and what it speaks of is named by a key.

Nothing here is a title. What people read is made of the keys where it is drawn: on the terminal as things happen
(`Stage.__str__`), and in the report afterwards. `slipway.base.journal` writes events down.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

Severity = Literal["error", "warning", "note"]
ERROR: Severity = "error"
WARNING: Severity = "warning"
NOTE: Severity = "note"
SEVERITIES = (ERROR, WARNING, NOTE)
"""The gravest first."""


class Reason(StrEnum):
    """Why an output is built, or not.

    `DEPENDS` stands in plans only: what it links is built first, and then it shows.
    """

    NEW = "new"
    CHANGED = "changed"
    UP_TO_DATE = "up to date"
    REBUILT = "rebuilt"
    HANDED_ON = "as handed on"
    DEPENDS = "depends"

    @property
    def builds(self) -> bool:
        """Whether the output is built for this reason; otherwise a package that is there is taken as it is."""
        return self not in (Reason.UP_TO_DATE, Reason.HANDED_ON, Reason.DEPENDS)


class Phase(StrEnum):
    """The phases of the build of one output, in their order; the values are what people read.

    Those from `SCRIPT` to `INSTALL` are parts of one build script, told apart by what CMake and Ninja print.
    """

    PREPARE = "prepare"
    FETCH = "fetching source"
    SOLVE = "solving environments"
    TAKE = "comparing and linking packages"
    START = "starting rattler-build"
    SCRIPT = "script"
    CONFIGURE = "configure"
    COMPILE = "compile"
    LINK = "link"
    INSTALL = "install files"
    PACK = "packing"
    TEST = "testing"


class JobState(StrEnum):
    """How a job of ``slipway ci run`` stands; the last two are those of a run that was killed."""

    BUILT = "built"
    UP_TO_DATE = "up to date"
    FAILED = "failed"
    LEFT_OUT = "left out"
    WAITING = "waiting"
    CUT_OFF = "cut off"


class StageKey(StrEnum):
    """The stages of a run."""

    RECIPE = "recipe"
    PLAN = "plan"
    BASE_CHANNEL = "base channel"
    DEBIAN_INDEX = "debian index"
    OUTPUT = "output"
    TOP_LEVEL = "top level"
    HAND_OVER = "hand over"
    FINISH = "finish"
    VERIFY = "verify"
    CLEAR = "clear"
    KEEP = "keep"
    PUBLISH = "publish"
    INSTALL = "install"
    HELLO_WORLD = "hello world"


_STAGE_TITLES = {
    StageKey.RECIPE: "render the recipe",
    StageKey.PLAN: "compare with the packages that are there",
    StageKey.BASE_CHANNEL: "channel with compilers and libraries",
    StageKey.DEBIAN_INDEX: "read Debian's index",
    StageKey.OUTPUT: "[{position}/{count}] {words}",
    StageKey.TOP_LEVEL: "top level {subject}, whose files its outputs take",
    StageKey.HAND_OVER: "make a channel of the packages before it",
    StageKey.FINISH: "pack it for good",
    StageKey.VERIFY: "verify",
    StageKey.CLEAR: "clear the build's folder",
    StageKey.KEEP: "keep it among the proved ones",
    StageKey.PUBLISH: "publish {count} package(s) to {subject}",
    StageKey.INSTALL: "install {subject}",
    StageKey.HELLO_WORLD: "hello world",
}


@dataclass(frozen=True)
class Stage:
    """A part of a run that lasts some time.

    Attributes:
        subject: what it is about: for an output its key (``name-version-build``), a name, or a folder.
        position: which one of `count` it is, from 1; 0 where nothing is counted.
    """

    key: StageKey
    subject: str = ""
    position: int = 0
    count: int = 0

    def __str__(self) -> str:
        """Its title, for people: ``[1/4] libtorch 2.13.0a0 mkl_h01_100``."""
        words = " ".join(self.subject.rsplit("-", 2))
        return _STAGE_TITLES[self.key].format(**vars(self), words=words)


@dataclass(frozen=True)
class RunStarted:
    """A command began: its words, and the machine's size (bytes of memory, processors)."""

    command: str
    jobs: int
    processors: int
    memory: int


@dataclass(frozen=True)
class RunEnded:
    """The command came to its end; a run without this line was killed."""

    ok: bool


@dataclass(frozen=True)
class Failed:
    """Why the command ended badly: what happened, where, what to do next, and the longer text that explains it."""

    message: str
    where: str = ""
    hint: str = ""
    detail: str = ""


@dataclass(frozen=True)
class StageStarted:
    """A stage began, inside the stage `parent` (0: none)."""

    number: int
    parent: int
    stage: Stage


@dataclass(frozen=True)
class StageEnded:
    """That stage is over."""

    number: int
    ok: bool


@dataclass(frozen=True)
class Decided:
    """What is done with an output, and why; `causes` names what changed."""

    output: str
    reason: Reason
    causes: tuple[str, ...] = ()


@dataclass(frozen=True)
class PhaseStarted:
    """The build of an output entered another phase."""

    output: str
    phase: Phase


@dataclass(frozen=True)
class Compiled:
    """What the compiler cache did for the build of an output, in numbers of compiles.

    Attributes:
        store: where compiled files are kept, for people.
        errors: times that the store did not take or give a file; it was compiled then.
        not_cached: compiles that sccache leaves to the compiler.
        failed: files that did not compile.
    """

    output: str
    store: str
    requests: int
    hits: int
    misses: int
    errors: int
    not_cached: int
    failed: int

    @property
    def sentence(self) -> str:
        """For people: ``118 of 125 compiles taken from the store (folder ~/.cache/slipway/sccache)``."""
        text = f"{self.hits} of {self.hits + self.misses} compiles taken from the store ({self.store})"
        text += f", {self.not_cached} not for it" if self.not_cached else ""
        return text + (f"; it failed {self.errors} times" if self.errors else "")


@dataclass(frozen=True)
class Packaged:
    """A package file is there: its path relative to dist when it is below it, size in bytes, seconds of work."""

    output: str
    path: str
    size: int
    sha256: str
    seconds: float
    reused: bool


@dataclass(frozen=True)
class Finding:
    """One verdict of `slipway.verify`. An ``error`` keeps a package out of the channel; a ``note`` is for reading.

    Attributes:
        package: file name of the package.
        rule: name of the rule, as in ``slipway.verify.rules``.
        where: file inside the package, or the part of its metadata.
        message: what is wrong.
        cure: what to do about it.
        detail: more lines to read, such as a diff.
    """

    severity: Severity
    package: str
    rule: str
    where: str
    message: str
    cure: str
    detail: str = ""


@dataclass(frozen=True)
class JobListed:
    """A job that a run of many is going to do: the output that it builds, and the jobs that it waits for."""

    job: str
    output: str
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class JobStarted:
    """That job began, with so many cores of a machine, which has a name if it is not this one."""

    job: str
    cores: int
    machine: str = ""


@dataclass(frozen=True)
class JobEnded:
    """That job is over; `size` is its package's, in bytes."""

    job: str
    state: JobState
    size: int = 0


Event = (
    RunStarted
    | RunEnded
    | Failed
    | StageStarted
    | StageEnded
    | Decided
    | PhaseStarted
    | Compiled
    | Packaged
    | Finding
    | JobListed
    | JobStarted
    | JobEnded
)
