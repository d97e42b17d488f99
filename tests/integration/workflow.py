"""A small reading of GitHub's workflow language: enough to run, step by step, what `slipway ci write` writes.

Every job gets a fresh copy of the checkout, as on a hosted runner. Its ``run`` steps run in the shell that GitHub
starts; of the actions, what their documentation promises is done with folders: checkout, caches that are written once
per key, artifacts. What is not known here is an error, so that nothing is passed over.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

SHELLS = {"bash": ["bash", "--noprofile", "--norc", "-eo", "pipefail"]}


@dataclass
class Runner:
    """Runs a workflow's jobs in the order of their needs.

    Attributes:
        folder: the checkout whose ``.github/workflows/packages.yml`` and reusable workflows are run.
        tree: called with a folder: puts a copy of the checkout there.
        root: everything that is written is below it; caches stay for a later `Runner` of the same folder.
        github: the `github` context, flat: ``event_name``, ``ref``, ``run_id``...
        run: a number that no other run has.
    """

    folder: Path
    tree: Callable[[Path], None]
    root: Path
    github: Mapping[str, str]
    run: int
    variables: Mapping[str, str] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict)
    results: dict[str, str] = field(default_factory=dict)
    output: dict[str, str] = field(default_factory=dict)

    workflow: Mapping[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.workflow = self._read("./.github/workflows/packages.yml")

    def _read(self, name: str) -> Mapping[str, Any]:
        content = yaml.safe_load((self.folder / name).read_text(encoding="utf-8"))
        assert isinstance(content, dict)
        return content

    @property
    def artifacts(self) -> Path:
        """One folder for each artifact of this run."""
        return self.root / f"artifacts-{self.run}"

    def everything(self) -> dict[str, str]:
        """Run all jobs; returns ``success``, ``failure`` or ``skipped`` by job."""
        jobs = self.workflow["jobs"]
        while len(self.results) < len(jobs):
            ready = [
                name
                for name, job in jobs.items()
                if name not in self.results and all(need in self.results for need in job.get("needs", []))
            ]
            assert ready, "jobs wait for each other"
            for name in ready:
                self.results[name] = self._job(name, jobs[name])
        return self.results

    def _ancestors(self, name: str) -> set[str]:
        needs = set(self.workflow["jobs"][name].get("needs", []))
        return needs.union(*(self._ancestors(need) for need in needs)) if needs else set()

    def _job(self, name: str, job: Mapping[str, Any]) -> str:
        ended = [self.results[other] for other in self._ancestors(name)]
        values = {**self._values(), **{f"needs.{need}.result": self.results[need] for need in job.get("needs", [])}}
        condition = str(job.get("if", "success()"))
        if not re.search(r"\b(success|failure|always|cancelled)\(", condition):
            condition = f"success() && ({condition})"  # GitHub's rule: of all jobs before it, however far
        bad = "failure" in ended
        if not evaluate(condition, values, failed=bad, succeeded=all(state == "success" for state in ended)):
            return "skipped"
        called = self._read(job["uses"])
        values |= given_inputs(called["on"]["workflow_call"].get("inputs", {}), job.get("with", {}))
        (body,) = called["jobs"].values()
        return self._body(name, body, called["defaults"]["run"]["shell"], values)

    def _body(self, name: str, job: Mapping[str, Any], shell: str, values: Mapping[str, str]) -> str:
        place = self.root / f"work-{self.run}" / name
        failed = False
        to_save: list[tuple[str, Mapping[str, Any]]] = []
        for step in job["steps"]:
            known = {**values, "runner.os": "Linux", "runner.arch": "X64"}
            if not evaluate(str(step.get("if", "success()")), known, failed=failed, succeeded=not failed):
                continue
            if not self._step(name, {"shell": shell, **step}, known, place, to_save):
                failed = True
        if not failed:
            for key, settings in to_save:
                self._save(key, settings, place)
        return "failure" if failed else "success"

    def _values(self) -> dict[str, str]:
        return {
            **{f"github.{key}": value for key, value in self.github.items()},
            **{f"vars.{key}": value for key, value in self.variables.items()},
            "github.run_id": str(self.run),
            "github.run_attempt": "1",
            "github.token": "a-token",
        }

    def _step(
        self,
        job: str,
        step: Mapping[str, Any],
        values: Mapping[str, str],
        place: Path,
        to_save: list[tuple[str, Mapping[str, Any]]],
    ) -> bool:
        settings = {key: substitute(value, values, place) for key, value in step.get("with", {}).items()}
        if "run" in step:
            return self._run(job, step, values, place)
        action = step["uses"].partition("@")[0]
        if action.startswith("./"):
            return self._composite(job, action, settings, values, place, to_save)
        if action == "actions/checkout":
            self.tree(place)
        elif action == "actions/cache":
            hit = self._restore(settings, place)
            if hit != settings["key"]:
                to_save.append((settings["key"], settings))
        elif action == "actions/upload-artifact":
            return self._upload(settings, place)
        elif action == "actions/download-artifact":
            return self._download(settings, place)
        else:
            assert action == "actions/setup-python", f"{action} is not known here"
        return True

    def _composite(
        self, job: str, action: str, settings: Mapping[str, str], values: Mapping[str, str], place: Path,
        to_save: list[tuple[str, Mapping[str, Any]]],
    ) -> bool:  # fmt: skip
        """An action of the checkout that consists of steps."""
        content = self._read(f"{action}/action.yml")
        declared = {name: {"type": "string", **about} for name, about in content["inputs"].items()}
        inputs = given_inputs(declared, settings)
        assert content["runs"]["using"] == "composite"
        for step in content["runs"]["steps"]:
            assert "run" not in step or "shell" in step, "an action's step names its shell"
            environ = {**self.environ, "GITHUB_ACTION_PATH": str(place / action)}
            inner = replace(self, environ=environ, results=self.results, output=self.output)
            if not inner._step(job, step, {**values, **inputs}, place, to_save):
                return False
        return True

    def _run(self, job: str, step: Mapping[str, Any], values: Mapping[str, str], place: Path) -> bool:
        place.mkdir(parents=True, exist_ok=True)  # a job without a checkout has an empty folder
        script = self.root / "step.sh"
        script.write_text(substitute(step["run"], values, place), encoding="utf-8")
        shell = SHELLS[step["shell"]]
        named = {key: substitute(value, values, place) for key, value in step.get("env", {}).items()}
        context = {f"GITHUB_{key.upper()}": value for key, value in self.github.items()}
        answer = subprocess.run(
            [*shell, str(script)],
            cwd=place,
            env={**os.environ, **self.environ, **context, **named, "CI": "true", "GITHUB_ACTIONS": "true"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        self.output[job] = self.output.get(job, "") + answer.stdout
        return answer.returncode == 0

    def _restore(self, settings: Mapping[str, str], place: Path) -> str | None:
        """The key that was found: the one asked for, or the newest that begins like one of the others."""
        caches = self.root / "caches"
        wanted = [settings["key"], *settings.get("restore-keys", "").split()]
        entries = sorted(caches.glob("*"), key=lambda path: -path.stat().st_mtime_ns) if caches.is_dir() else []
        for index, prefix in enumerate(wanted):
            for entry in entries:
                if entry.name == prefix or (index > 0 and entry.name.startswith(prefix)):
                    shutil.copytree(entry, place, dirs_exist_ok=True)
                    return entry.name
        return None

    def _save(self, key: str, settings: Mapping[str, str], place: Path) -> None:
        entry = self.root / "caches" / key
        if entry.exists():
            return  # a key is written once
        entry.mkdir(parents=True)
        for path in self._paths(settings, place):
            _copy(path, entry / path.relative_to(place))

    def _paths(self, settings: Mapping[str, str], place: Path) -> Iterator[Path]:
        for pattern in settings["path"].split("\n"):
            if pattern and not pattern.startswith("~"):  # the home is this machine's own, and stays
                yield from sorted(place.glob(pattern))

    def _download(self, settings: Mapping[str, Any], place: Path) -> bool:
        """One artifact by name, which must be there; or all that a pattern takes, which may be none."""
        if "name" in settings:
            names = [settings["name"]]
        else:
            assert settings["merge-multiple"] == "True", "else each would get a folder of its own"
            taken = alternatives(settings["pattern"])
            names = [path.name for path in self.artifacts.glob("*") if path.name in taken]
        for name in names:
            if not (self.artifacts / name).is_dir():
                return False
            shutil.copytree(self.artifacts / name, place / settings["path"], dirs_exist_ok=True)
        return True

    def _upload(self, settings: Mapping[str, Any], place: Path) -> bool:
        found = list(self._paths(settings, place))
        if not found:
            return settings.get("if-no-files-found") == "ignore"
        assert re.fullmatch(r'[^"<>|*?:\r\n\\/]+', settings["name"]), "a name that GitHub takes"
        target = self.artifacts / settings["name"]
        if target.exists() and settings.get("overwrite") != "True":
            return False
        # What is uploaded loses the folders that all of it shares; of one file, all; of one folder, its own name. Where
        # there is a star, it keeps what follows the folder before it.
        base = found[0] if found[0].is_dir() else found[0].parent
        before, star, _ = settings["path"].partition("*")
        if star:
            base = place / before
        elif len(found) > 1:
            base = Path(os.path.commonpath(found))
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        for path in found:
            _copy(path, target / path.relative_to(base))
        return True


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    else:
        shutil.copy2(source, target)


def given_inputs(declared: Mapping[str, Mapping[str, Any]], given: Mapping[str, Any]) -> dict[str, str]:
    """The `inputs` context of a called workflow."""
    assert set(given) <= set(declared), "an input that is not declared"
    values: dict[str, str] = {}
    kinds = {"string": str, "number": (int, float), "boolean": bool}
    for name, about in declared.items():
        assert name in given or not about.get("required"), f"{name} is missing"
        value = given.get(name, about.get("default"))
        assert isinstance(value, kinds[about["type"]]), f"{name} is of another type"
        values[f"inputs.{name}"] = str(value)
    return values


def alternatives(pattern: str) -> list[str]:
    """The names that a pattern like ``{one,two}`` or ``one`` takes."""
    found = re.fullmatch(r"\{([^{}*?\[\]]+,[^{}*?\[\]]+)\}", pattern)
    assert found or not re.search(r"[{}*?\[\]!]", pattern), f"{pattern}: no more of minimatch's language is known here"
    return found[1].split(",") if found else [pattern]


def substitute(text: Any, values: Mapping[str, str], place: Path) -> str:
    """`text` with its ``${{ }}`` replaced."""

    def value(found: re.Match[str]) -> str:
        files = re.fullmatch(r"hashFiles\((.*)\)", found[1])
        if files is not None:
            names = re.findall(r"'([^']+)'", files[1])
            assert all((place / name).is_file() for name in names), "files that the cache's key hashes"
            return "hash"
        return values[found[1]]

    return re.sub(r"\$\{\{ (.*?) \}\}", value, str(text))


def evaluate(expression: str, values: Mapping[str, str], *, failed: bool, succeeded: bool) -> bool:
    """A condition of a job or a step. `failed`, `succeeded`: of what came before."""
    words: dict[str, Any] = {
        "failure": lambda: failed,
        "success": lambda: succeeded,
        "cancelled": lambda: False,
        "always": lambda: True,
        "startsWith": lambda text, start: text.startswith(start),
        "value": lambda name: values.get(name, ""),
    }
    text = re.sub(
        r"\b(?:github|inputs|vars|needs|steps)(?:\.[\w-]+)+", lambda found: f"value({found[0]!r})", expression
    )
    text = text.replace("&&", " and ").replace("||", " or ")
    text = re.sub(r"!(?!=)", " not ", text)
    return bool(eval(text, {"__builtins__": {}}, words))
