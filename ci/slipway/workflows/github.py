"""GitHub Actions workflows, as plain data.

The workflow that is written from the matrix says which jobs there are, what each needs, and which reusable workflow
does it with which inputs; `slipway.workflows.github_bodies` are those.

Pull requests from forks get no write permission and no machine of our own: the jobs with a device run for branches of
this repository only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slipway.engines.compiler_cache.server import wants_cache
from slipway.workflows import github_bodies
from slipway.workflows.github_bodies import body_path
from slipway.workflows.matrix import HANDED, Matrix, artifact_name, gpu_job_id, gpu_spec, job_id, with_needs
from slipway.workflows.yaml_text import OneLine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slipway.workflows.graph import Job
    from slipway.workflows.settings import Gpu

PATH = ".github/workflows/packages.yml"

ACTION_NAME = "action.yml"

LINTER_PATH = ".github/actionlint.yaml"

OWN_CODE = "github.event_name != 'pull_request' || github.event.pull_request.head.repo.full_name == github.repository"
ON_OUR_DEVICE = f"vars.WITHOUT_GPU != 'true' && ({OWN_CODE})"
"""A repository without such a machine says so in its variable WITHOUT_GPU: else these jobs wait for one for a day."""

TO_PUBLISH = (
    "!failure() && !cancelled() && github.event_name != 'pull_request' && "
    "(github.ref == 'refs/heads/main' || startsWith(github.ref, 'refs/tags/v'))"
)

TO_RELEASE = "!cancelled() && needs.publish.result == 'success' && startsWith(github.ref, 'refs/tags/v')"
"""Without a function of its own, GitHub asks for success of all jobs before it, and skipped device jobs are none."""


def make_files(matrix: Matrix) -> dict[str, dict[str, Any]]:
    """Every file for GitHub: its path in the checkout, and its content."""
    found = {PATH: make_workflow(matrix)}
    found |= {body_path(name): content for name, content in github_bodies.make_bodies(matrix).items()}
    action = github_bodies.make_action(matrix.settings)
    found |= {f"{github_bodies.ACTION_FOLDER}/{ACTION_NAME}" if matrix.settings.installed else ACTION_NAME: action}
    return found | ({LINTER_PATH: make_linter_settings(matrix.settings.gpu)} if matrix.settings.gpu else {})


def make_workflow(matrix: Matrix) -> dict[str, Any]:
    """The workflow of the matrix: names, needs and inputs."""
    jobs: dict[str, Any] = {"check": _call("check")} if matrix.settings.checks else {}
    first = list(jobs)
    jobs |= {job_id(job): _build(job, matrix) for job in matrix.everything}
    jobs |= {gpu_job_id(job): _on_gpu(job) for job in matrix.on_gpu}
    jobs["publish"] = {
        "if": TO_PUBLISH,
        "needs": OneLine([*first, *map(job_id, matrix.published), *map(gpu_job_id, matrix.on_gpu)]),
        **_call(
            "publish",
            handed=_pattern(matrix.published),
            packages="".join(f"{HANDED}/{job.file}\n" for job in matrix.published),
        ),
    }
    # The only job that may write: a tag's packages become files of its release.
    release: dict[str, Any] = {"if": TO_RELEASE, "needs": OneLine(["publish"]), "permissions": {"contents": "write"}}
    jobs["release"] = release | _call("release")
    return {
        "name": "packages",
        "on": {
            "push": {"branches": OneLine(["main"]), "tags": OneLine(["v*"])},
            "pull_request": {},
            "workflow_dispatch": {},
        },
        "permissions": {"contents": "read"},
        "concurrency": {
            "group": "packages-${{ github.ref }}",
            "cancel-in-progress": "${{ github.event_name == 'pull_request' }}",
        },
        "jobs": jobs,
    }


def make_linter_settings(gpu: Gpu) -> dict[str, Any]:
    """What actionlint cannot know: the labels of our own machines."""
    return {"self-hosted-runner": {"labels": list(gpu.labels)}}


def _build(job: Job, matrix: Matrix) -> dict[str, Any]:
    platform = matrix.settings.platforms[job.platform]
    inputs: dict[str, Any] = {
        "platform": job.platform,
        "identifier": job.identifier,
        "package": f"{job.output.key}.conda",
        "runner": platform.runner,
        "minutes": matrix.settings.resources_of(job.output.name).minutes,
    }
    if job.needs:
        inputs["handed"] = _pattern(job.needs)
    if not platform.tested:
        inputs["tested"] = False
    cache = matrix.settings.compiler_cache
    compiles = platform.engine == "slipway" and wants_cache(job.output)
    if compiles and cache.folder:
        inputs["compiles"] = job.output.name
    needs = [*(["check"] if matrix.settings.checks else []), *map(job_id, job.needs)]
    content = {**({"needs": OneLine(needs)} if needs else {}), **_call(platform.engine, **inputs)}
    if compiles and cache.secrets:
        content["secrets"] = {name: f"${{{{ secrets.{name} }}}}" for name in cache.secrets}
    return content


def _on_gpu(job: Job) -> dict[str, Any]:
    together = with_needs([job])
    inputs = {"job": gpu_job_id(job), "spec": gpu_spec(job), "handed": _pattern(together)}
    return {"if": ON_OUR_DEVICE, "needs": OneLine(map(job_id, together)), **_call("gpu", **inputs)}


def _call(body: str, **inputs: Any) -> dict[str, Any]:
    return {"uses": f"./{body_path(body)}"} | ({"with": inputs} if inputs else {})


def _pattern(jobs: Sequence[Job]) -> str:
    """What names the artifacts of `jobs` and no others."""
    names = ",".join(map(artifact_name, jobs))
    return f"{{{names}}}" if len(jobs) > 1 else names
