"""The types between a recipe's text and its `RenderedOutput`s, in the order in which they come about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slipway.model import V1_NAME
from slipway.recipe.outputs import OutputDescription, truth

if TYPE_CHECKING:
    from pathlib import Path

    from slipway.recipe.config import VariantConfigText
    from slipway.recipe.document import Document
    from slipway.recipe.excerpts import Excerpts
    from slipway.recipe.selectors import Line


@dataclass(frozen=True)
class Solved:
    """What the solver says of one output's environments.

    Attributes:
        versions: exact version of each package in the host environment, by its name.
        virtual: what its run_exports ask of the machine, such as ``__glibc >=2.17``: the hash covers it.
    """

    versions: Mapping[str, str]
    virtual: tuple[str, ...] = ()


SolvedOutputs = Mapping[str, Solved]
"""By the key (``name-version-build``) that each output has as long as nothing is solved."""


@dataclass(frozen=True)
class Recipe:
    """A recipe as written.

    Attributes:
        directory: its folder.
        path: meta.yaml or recipe.yaml, as messages name it.
        text: what it holds.
        config: the conda_build_config.yaml beside it, or None.
        read_file: text of another file of the folder, by its relative name; None if there is none.
    """

    directory: Path
    path: str
    text: str
    config: VariantConfigText | None
    read_file: Callable[[str], str | None]

    @property
    def is_v1(self) -> bool:
        """Whether it is a recipe.yaml, which rattler-build renders."""
        return self.path.endswith(V1_NAME)


@dataclass(frozen=True)
class Described:
    """One variant's document and its outputs, skipped ones included."""

    document: Document
    outputs: tuple[OutputDescription, ...]

    @property
    def is_skipped(self) -> bool:
        """Whether the top level skips the whole variant."""
        return truth(self.document.section("build").get("skip"))

    @property
    def is_noarch(self) -> bool:
        """Whether the top level is for every platform."""
        build = self.document.section("build")
        return bool(build.get("noarch")) or truth(build.get("noarch_python"))


@dataclass(frozen=True)
class FirstPass:
    """What the first pass over one variant found, pins still being bare names."""

    lines: tuple[Line, ...]
    described: Described
    excerpts: Excerpts


@dataclass(frozen=True)
class Candidate:
    """One output in one variant, its build string known.

    Attributes:
        used: the variant keys it uses.
        hash_input: what its hash covers: keys with their values, and what it asks of the machine.
        solved_from: its key as long as nothing is solved.
        solved: what the solver says of its environments, where it was asked.
    """

    output: OutputDescription
    variant: Mapping[str, str]
    used: frozenset[str]
    hash_input: Mapping[str, str]
    build_string: str
    subdir: str
    solved_from: str
    solved: Solved | None = None

    @property
    def identity(self) -> tuple[object, ...]:
        """What two renderings of the same package have in common."""
        values = tuple((key, self.variant[key]) for key in sorted(self.used) if key in self.variant)
        return (*self.file, values)

    @property
    def file(self) -> tuple[str, str, str, str]:
        """What names the package's file in a channel."""
        return (self.subdir, self.output.name, self.output.version, self.build_string)
