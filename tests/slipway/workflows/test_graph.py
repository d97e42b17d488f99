"""Which jobs there are, and which packages are handed to which."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import RecipeError
from slipway.workflows.graph import Job, as_word, describe, select_job

if TYPE_CHECKING:
    from slipway.workflows.matrix import Matrix

MakeJobs = Callable[..., dict[str, Job]]

SPLIT = """\
package:
  name: top
  version: "1.0"
outputs:
  - name: core
    build:
      number: {{ 5 if flavour == "sweet" else 0 }}
      string: {{ flavour }}_0
  - name: plugin
    build:
      string: v{{ level }}_0
    requirements:
      host:
        - core
      run:
        - core
  - name: both
    build:
      string: {{ flavour }}{{ level }}
    requirements:
      run:
        - core {{ core_pin }}
        - plugin
"""
CONFIG = """\
flavour:
  - salty
  - sweet
level:
  - 1
  - 2
core_pin:
  - "1.0"
"""


def needs(jobs: dict[str, Job], name: str) -> list[str]:
    return [job.identifier for job in jobs[name].needs]


def test_one_job_for_each_output_and_variant(jobs_of: MakeJobs) -> None:
    jobs = jobs_of(SPLIT, CONFIG)
    assert [name for name in jobs if name.startswith("core")] == ["core-salty_0", "core-sweet_0"]
    assert len([name for name in jobs if name.startswith("both")]) == 4


def test_the_variant_that_the_solver_would_take_is_handed_on(jobs_of: MakeJobs) -> None:
    jobs = jobs_of(SPLIT, CONFIG)
    assert needs(jobs, "plugin-v1_0") == ["core-sweet_0"], "the higher build number"


def test_the_own_variant_goes_before_the_build_number(jobs_of: MakeJobs) -> None:
    jobs = jobs_of(SPLIT, CONFIG)
    assert [job.identifier for job in jobs["both-salty2"].direct] == ["core-salty_0", "plugin-v2_0"]
    # What the plug-in was built with comes along, as it does on a hosted runner.
    assert needs(jobs, "both-salty2") == ["core-salty_0", "core-sweet_0", "plugin-v2_0"]


def test_equal_variants_are_all_handed_on(jobs_of: MakeJobs) -> None:
    jobs = jobs_of(SPLIT.replace('number: {{ 5 if flavour == "sweet" else 0 }}', "number: 0"), CONFIG)
    assert needs(jobs, "plugin-v1_0") == ["core-salty_0", "core-sweet_0"]


def test_match_spec_that_no_variant_fulfils(jobs_of: MakeJobs) -> None:
    with pytest.raises(RecipeError, match=r"needs `core 2.0` \(run\), and no variant of `core` is that"):
        jobs_of(SPLIT, CONFIG.replace('"1.0"', '"2.0"'))


def test_two_packages_of_one_identifier(jobs_of: MakeJobs) -> None:
    meta = """\
    package:
      name: top
      version: "1.0"
    outputs:
      - name: one
        build:
          string: same
        requirements:
          run:
            - word =={{ word }}
        version: {{ word }}
    """
    with pytest.raises(RecipeError, match="two packages are called one-same"):
        jobs_of(meta, "word:\n  - 1\n  - 2\n")


def test_every_job_comes_after_those_it_needs(own_matrix: Matrix) -> None:
    for jobs in own_matrix.jobs.values():
        seen: set[Job] = set()
        for job in jobs:
            assert set(job.direct) <= set(job.needs) <= seen
            seen.add(job)


def test_the_own_recipe_costs_a_sum_and_not_a_product(own_matrix: Matrix) -> None:
    names = [job.output.name for job in own_matrix.jobs["linux-64"]]
    counted = {name: names.count(name) for name in names}
    assert counted == {
        "libtorch": 2,
        "libtorch-cuda": 2,
        "libtorch-distributed-nccl": 2,
        "pytorch": 3,
        "pytorch-gpu": 2,
    }
    for job in own_matrix.jobs["linux-64"]:
        if job.output.name in ("pytorch", "libtorch-cuda"):
            assert [other.output.name for other in job.needs] == ["libtorch"]


def test_names_select_and_are_unique(own_matrix: Matrix) -> None:
    everything = own_matrix.everything
    assert len({job.name for job in everything}) == len(everything)
    for jobs in own_matrix.jobs.values():
        for job in jobs:
            assert select_job(jobs, job.identifier) is job
            assert select_job(everything, job.name) is job
    assert select_job(everything, "nothing") is None


def test_listing_names_every_need(own_matrix: Matrix) -> None:
    listing = describe(own_matrix.everything)
    names = {row["name"] for row in listing}
    assert all(set(row["needs"]) <= set(row["handed"]) <= names for row in listing)  # type: ignore[call-overload]


def test_words() -> None:
    assert as_word("linux-64/a.b+c_1") == "linux-64_a_b_c_1"
