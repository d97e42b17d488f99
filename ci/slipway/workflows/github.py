"""A GitHub Actions workflow, as plain data.

Pull requests from forks get no write permission and no machine of our own: the jobs with a device run for branches of
this repository only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slipway.engines.compiler_cache.server import wants_cache
from slipway.workflows.matrix import (
    HANDED,
    HISTORY,
    Matrix,
    build_command,
    conda_build_commands,
    gpu_commands,
    gpu_job_id,
    job_id,
    publish_command,
    with_needs,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slipway.workflows.graph import Job

PATH = ".github/workflows/packages.yml"

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

RELEASE = (
    'gh release view "$GITHUB_REF_NAME" --repo "$GITHUB_REPOSITORY" > /dev/null 2>&1 ||',
    '  gh release create "$GITHUB_REF_NAME" --repo "$GITHUB_REPOSITORY" --verify-tag --generate-notes',
    'gh release upload "$GITHUB_REF_NAME" --repo "$GITHUB_REPOSITORY" --clobber dist/release/*/*.conda',
)
"""Runs again without harm."""

STORE = "sccache"
"""Below the folder of the cache; it is kept apart, because it changes with each run."""

Step = dict[str, Any]


def workflow(matrix: Matrix) -> dict[str, Any]:
    """The whole file."""
    jobs: dict[str, Any] = {"check": _check(matrix)}
    jobs |= {job_id(job): _build(job, matrix) for job in matrix.everything}
    jobs |= {gpu_job_id(job): _on_gpu(job, matrix) for job in matrix.on_gpu}
    jobs["publish"] = _publish(matrix)
    jobs["release"] = _release(matrix)
    return {
        "name": "packages",
        "on": {
            "push": {"branches": ["main"], "tags": ["v*"]},
            "pull_request": {},
            "workflow_dispatch": {},
        },
        "permissions": {"contents": "read"},
        "concurrency": {
            "group": "packages-${{ github.ref }}",
            "cancel-in-progress": "${{ github.event_name == 'pull_request' }}",
        },
        "defaults": {"run": {"shell": "bash"}},
        "jobs": jobs,
    }


def linter_settings(matrix: Matrix) -> dict[str, Any]:
    """What actionlint cannot know: the labels of our own machines."""
    return {"self-hosted-runner": {"labels": list(matrix.settings.gpu.labels)}}


def _check(matrix: Matrix) -> dict[str, Any]:
    platform = matrix.settings.platforms[matrix.settings.check_platform]
    return {
        "name": "check",
        "runs-on": platform.runner,
        "timeout-minutes": matrix.settings.resources_of("default").minutes,
        "steps": [*_beginning(matrix), {"name": "lint and fast tests", "run": matrix.settings.check_command}],
    }


def _build(job: Job, matrix: Matrix) -> dict[str, Any]:
    platform = matrix.settings.platforms[job.platform]
    content: dict[str, Any] = {
        "name": job.name,
        "needs": ["check", *map(job_id, job.needs)],
        "runs-on": platform.runner,
        "timeout-minutes": matrix.settings.resources_of(job.output.name).minutes,
    }
    if not platform.tested:
        content["continue-on-error"] = True
    steps = _slipway_steps(job, matrix) if platform.engine == "slipway" else _conda_build_steps(job, matrix)
    content["steps"] = [*steps, *_handing_on(job, matrix)]
    return content


def _slipway_steps(job: Job, matrix: Matrix) -> list[Step]:
    """The last package of this variant comes back from the cache; slipway's digest says whether it is still right.

    With it comes what its build taught: the longest steps go first on another runner, too.
    """
    prefix = f"package-{job_id(job)}-"
    last = {
        "name": "the last package of this variant",
        "uses": matrix.settings.actions["cache"].pinned,
        "with": {
            "path": _script((f"{HANDED}/{job.file}", *HISTORY)),
            "key": prefix + "${{ github.run_id }}-${{ github.run_attempt }}",
            "restore-keys": prefix,
        },
    }
    build: Step = {"name": "build, unless nothing changed", "run": build_command(job, matrix)}
    cache = matrix.settings.compiler_cache
    variables = dict(cache.variables) | {name: f"${{{{ secrets.{name} }}}}" for name in cache.secrets}
    if variables and wants_cache(job.output):
        build = {"name": build["name"], "env": variables, "run": build["run"]}
    return [*_beginning(matrix), last, *_compiled(job, matrix), *_handed(job.needs, matrix), build]


def _compiled(job: Job, matrix: Matrix) -> list[Step]:
    """The store of compiled files: that of the variant's last job, else of any job of the output."""
    if not matrix.settings.compiler_cache.folder or not wants_cache(job.output):
        return []
    prefix = f"compiled-{job.output.name}-{job.platform}-"
    own = f"{prefix}{job.output.build_string}-"
    return [
        {
            "name": "compiled files of earlier runs",
            "uses": matrix.settings.actions["cache"].pinned,
            "with": {
                "path": f"{matrix.settings.cache_path}/{STORE}",
                "key": own + "${{ github.run_id }}-${{ github.run_attempt }}",
                "restore-keys": f"{own}\n{prefix}",
            },
        }
    ]


def _conda_build_steps(job: Job, matrix: Matrix) -> list[Step]:
    """The package comes back from the cache if no file that it is made from changed; else conda-build builds it."""
    actions = matrix.settings.actions
    sources = ", ".join(f"'{source}/**', '{source}'" for source in matrix.sources)
    last = {
        "name": "the package, if nothing changed",
        "id": "last",
        "uses": actions["cache"].pinned,
        "with": {
            "path": f"{HANDED}/{job.file}",
            "key": f"package-{job_id(job)}-${{{{ hashFiles({sources}) }}}}",
        },
    }
    missing = "steps.last.outputs.cache-hit != 'true'"
    conda = {
        "name": "conda",
        "if": missing,
        "uses": actions["setup-conda"].pinned,
        "with": {"miniforge-version": "latest", "conda-remove-defaults": "true", "auto-activate-base": "true",
                 "activate-environment": ""},
    }  # fmt: skip
    build = {
        "name": "build",
        "if": missing,
        "shell": "bash -el {0}",
        "env": {"PYTHONPATH": "ci"},
        "run": _script(conda_build_commands(job, matrix)),
    }
    handed = [{**step, "if": missing} for step in _handed(job.needs, matrix)]
    return [_checkout(matrix), last, *handed, conda, build]


def _on_gpu(job: Job, matrix: Matrix) -> dict[str, Any]:
    together = with_needs([job])
    return {
        "name": f"gpu/{job.identifier}",
        "if": ON_OUR_DEVICE,
        "needs": list(map(job_id, together)),
        "runs-on": list(matrix.settings.gpu.labels),
        "timeout-minutes": matrix.settings.resources_of("default").minutes,
        "steps": [
            *_beginning(matrix),
            *_handed(together, matrix),
            {"name": "install and test on a device", "run": _script(gpu_commands(job, matrix))},
        ],
    }


def _publish(matrix: Matrix) -> dict[str, Any]:
    return {
        "name": "publish",
        "if": TO_PUBLISH,
        "needs": ["check", *map(job_id, matrix.published), *map(gpu_job_id, matrix.on_gpu)],
        "runs-on": matrix.settings.platforms[matrix.settings.check_platform].runner,
        "timeout-minutes": matrix.settings.resources_of("default").minutes,
        "steps": [
            *_beginning(matrix),
            *_handed(matrix.published, matrix),
            {"name": "one channel of all packages", "run": publish_command()},
            {
                "name": "keep the channel",
                "uses": matrix.settings.actions["upload"].pinned,
                "with": {"name": "channel", "path": "dist/release", "if-no-files-found": "error",
                         "compression-level": 0, "overwrite": True},
            },
        ],
    }  # fmt: skip


def _release(matrix: Matrix) -> dict[str, Any]:
    """The only job that may write: a tag's packages become files of its release."""
    return {
        "name": "release",
        "if": TO_RELEASE,
        "needs": ["publish"],
        "runs-on": matrix.settings.platforms[matrix.settings.check_platform].runner,
        "timeout-minutes": matrix.settings.resources_of("default").minutes,
        "permissions": {"contents": "write"},
        "steps": [
            {
                "name": "the channel",
                "uses": matrix.settings.actions["download"].pinned,
                "with": {"name": "channel", "path": "dist/release"},
            },
            {
                "name": "attach the packages to the tag's release",
                "env": {"GH_TOKEN": "${{ github.token }}"},
                "run": _script(RELEASE),
            },
        ],
    }


def _checkout(matrix: Matrix) -> Step:
    return {"uses": matrix.settings.actions["checkout"].pinned, "with": {"persist-credentials": False}}


def _beginning(matrix: Matrix) -> list[Step]:
    settings = matrix.settings
    files = ", ".join(f"'{name}'" for name in settings.cache_key_files)
    prefix = "downloads-${{ runner.os }}-${{ runner.arch }}-${{ github.job }}-"
    return [
        _checkout(matrix),
        {"uses": settings.actions["setup-python"].pinned, "with": {"python-version": settings.python}},
        {
            "name": "downloads of earlier runs",
            "uses": settings.actions["cache"].pinned,
            "with": {
                # The star matters: of a folder that is named itself, the action leaves nothing out.
                "path": f"{settings.cache_path}/*\n!{settings.cache_path}/{STORE}",
                # A key is written once and never again, so jobs that need different packages must not share one.
                "key": f"{prefix}${{{{ hashFiles({files}) }}}}",
                "restore-keys": prefix,
            },
        },
    ]


def _handed(jobs: Sequence[Job], matrix: Matrix) -> list[Step]:
    return [
        {
            "name": f"take {job.identifier}",
            "uses": matrix.settings.actions["download"].pinned,
            "with": {"name": job_id(job), "path": f"{HANDED}/{job.output.subdir}"},
        }
        for job in jobs
    ]


def _handing_on(job: Job, matrix: Matrix) -> list[Step]:
    upload = matrix.settings.actions["upload"].pinned
    package: Mapping[str, Any] = {
        "name": job_id(job),
        "path": f"{HANDED}/{job.file}",
        "if-no-files-found": "error",
        "compression-level": 0,
        "retention-days": 7,
        "overwrite": True,  # a job that is run again hands on again, and its first artifact is still there
    }
    steps: list[Step] = [{"name": "hand the package on", "uses": upload, "with": dict(package)}]
    if matrix.settings.platforms[job.platform].engine == "slipway":
        report = {
            "name": f"report-{job_id(job)}",
            "path": "dist/report.html\ndist/logs\n",
            "if-no-files-found": "ignore",
            "retention-days": 30,
            "overwrite": True,
        }
        steps.append({"name": "keep the report and the logs", "if": "!cancelled()", "uses": upload, "with": report})
    return steps


def _script(commands: Sequence[str]) -> str:
    return "\n".join(commands) + "\n"
