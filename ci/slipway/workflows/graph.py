"""Jobs and their order: which outputs each output is made from, and with which of their variants.

An output needs another one of its recipe if its build, host or run requirements name it. Of that one's variants those
count that agree with its own variant wherever both have a say, that the match spec takes, and that the solver would
choose: the highest build number. Where several are equal, all are handed on, and the solver chooses as it would from
the whole channel.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slipway.base.errors import RecipeError
from slipway.channel import rattler
from slipway.channel.specs import strict_spec
from slipway.recipe.choose import identifier, used_variant
from slipway.recipe.hashes import name_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slipway.model import RenderedOutput


@dataclass(frozen=True, eq=False)
class Job:
    """One output in one variant on one platform.

    Attributes:
        output: what it builds.
        platform: the subdir of the machine it runs on; a noarch output has a platform, too.
        needs: the jobs whose packages are handed to this one, those that they need included.
        direct: those of `needs` that the output's requirements name.
    """

    output: RenderedOutput
    platform: str
    needs: tuple[Job, ...]
    direct: tuple[Job, ...]

    @property
    def identifier(self) -> str:
        """Selects the job among those of its platform."""
        return identifier(self.output)

    @property
    def outputs(self) -> tuple[RenderedOutput, ...]:
        """Those of the packages that are handed to it, and its own, in build order."""
        return (*(other.output for other in self.needs), self.output)

    @property
    def name(self) -> str:
        """Unique in a pipeline."""
        return f"{self.platform}/{self.identifier}"

    @property
    def file(self) -> str:
        """The package as it is handed on, before whose name nothing is solved; in a channel it has its own."""
        return f"{self.output.subdir}/{self.output.key}.conda"


def make_jobs(outputs: Sequence[RenderedOutput], platform: str) -> tuple[Job, ...]:
    """The jobs of one platform, each after those that it needs.

    Args:
        outputs: from the renderer, in build order.

    Raises:
        RecipeError: two outputs have the same identifier, or an output needs a variant that is not in the matrix.
    """
    jobs: dict[str, Job] = {}
    for output in outputs:
        direct = [job for found in _find_named(output, outputs) for job in jobs.values() if job.output is found]
        closure = {other.identifier: other for job in direct for other in (*job.needs, job)}
        in_order = tuple(job for key, job in jobs.items() if key in closure)
        job = Job(output, platform, in_order, tuple(dict.fromkeys(direct)))
        if job.identifier in jobs:
            raise RecipeError(
                f"two packages are called {job.identifier}", where=str(output.recipe_path),
                hint="put what tells them apart, or PKG_HASH, into the build string",
            )  # fmt: skip
        jobs[job.identifier] = job
    return tuple(jobs.values())


def _find_named(output: RenderedOutput, outputs: Sequence[RenderedOutput]) -> list[RenderedOutput]:
    """The outputs that the requirements of `output` name and that come before it, one choice for each name."""
    before = list(outputs[: next(index for index, other in enumerate(outputs) if other is output)])
    sections = {
        "build": output.requirements.build,
        "host": output.requirements.host,
        "run": output.requirements.run,
    }
    found: dict[str, RenderedOutput] = {}
    for section, specs in sections.items():
        for spec in specs:
            named = [other for other in before if other.name == name_of(spec) and other.name != output.name]
            if not named:
                continue
            fitting = [other for other in named if _agree(output, other) and takes(spec, other)]
            if not fitting:
                raise RecipeError(
                    f"`{output.key}` needs `{spec}` ({section}), and no variant of `{named[0].name}` is that",
                    where=str(output.recipe_path),
                    hint=f"there is {', '.join(other.build_string for other in named)}",
                )
            best = max(other.build_number for other in fitting)
            found |= {other.key: other for other in fitting if other.build_number == best}
    return list(found.values())


def _agree(output: RenderedOutput, other: RenderedOutput) -> bool:
    mine, theirs = used_variant(output), used_variant(other)
    return all(theirs.get(key, value) == value for key, value in mine.items())


def takes(spec: str, output: RenderedOutput) -> bool:
    """Whether the match spec takes the package that `output` becomes."""
    record = rattler.PackageRecord(
        name=output.name,
        version=output.version,
        build=rattler.BuildString(output.build_string),
        build_number=output.build_number,
        subdir=output.subdir,
    )
    return bool(rattler.MatchSpec(strict_spec(spec)).matches(record))


def select_job(jobs: Sequence[Job], name: str) -> Job | None:
    """The job of that identifier, or None."""
    return next((job for job in jobs if name in (job.identifier, job.name)), None)


def as_word(text: str) -> str:
    """`text` as a job id: letters, digits, ``_`` and ``-``, starting with a letter."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", text)


def describe(jobs: Sequence[Job]) -> list[Mapping[str, object]]:
    """The jobs as plain data, for ``slipway ci list --json``."""
    return [
        {
            "name": job.name,
            "identifier": job.identifier,
            "platform": job.platform,
            "package": job.file,
            "variant": used_variant(job.output),
            "needs": [other.name for other in job.direct],
            "handed": [other.name for other in job.needs],
        }
        for job in jobs
    ]
