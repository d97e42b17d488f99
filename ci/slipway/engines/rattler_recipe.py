"""Writes a `RenderedOutput` as a v1 recipe (rattler-build's ``recipe.yaml``) with nothing left to evaluate.

conda-build's keys and v1's differ in name and place; the tables below say which is which. A key that has no
counterpart is an error rather than a silent loss.
"""

from __future__ import annotations

import json
import shlex
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from slipway.base.errors import RecipeError
from slipway.channel.environments import package_names
from slipway.channel.package import DIGEST_KEY
from slipway.channel.specs import package_name, strict_spec
from slipway.engines.build_script import SCRIPT_NAME, compiles_python
from slipway.engines.staging import add_top_level
from slipway.recipe.fields import ABOUT_KEYS, LINK_SCRIPTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slipway.base.platform import Platform
    from slipway.engines.staging import Staged
    from slipway.model import OutputTest, RenderedOutput, RunExports

DYNAMIC_LINKING_KEYS = {
    "binary_relocation": "binary_relocation",
    "missing_dso_whitelist": "missing_dso_allowlist",
    "runpath_whitelist": "rpath_allowlist",
    "rpaths": "rpaths",
}
PLAIN_BUILD_KEYS = {
    "always_include_files": "always_include_files",
    "no_link": "always_copy_files",
    "merge_build_host": "merge_build_and_host_envs",
}
PYTHON_KEYS = {"entry_points": "entry_points"}
HANDLED_ELSEWHERE = frozenset(
    [
        "number",
        "files",
        "files_excluded",
        *LINK_SCRIPTS,
        "string",
        "script",
        "script_env",
        "noarch",
        "run_exports",
        "ignore_run_exports",
        "ignore_run_exports_from",
        "skip",
        "pin_depends",
        "force_use_keys",
        "force_ignore_keys",
        "has_prefix_files",
        "error_overlinking",
        "error_overdepending",
        "disable_pip",
        "preserve_egg_dir",
        "osx_is_app",
        "msvc_compiler",
        "detect_binary_files_with_prefix",
        "ignore_prefix_files",
        "binary_has_prefix_files",
        "skip_compile_pyc",
        "provides_features",
        "requires_features",
        "python_version_independent",
    ]
)


def to_v1_recipe(
    output: RenderedOutput,
    sources: Sequence[Mapping[str, Any]],
    digest: str,
    staged: Staged | None = None,
    *,
    test_tools: Sequence[str] = (),
) -> dict[str, Any]:
    """The v1 recipe of one output.

    Args:
        sources: the source entries, already in v1 form, with paths that are valid from the generated recipe's folder.
        digest: stored under ``extra`` and so, by the engine, in the package's ``about.json``.
        staged: where an output with `staging` finds its files.
        test_tools: see `test_tools`.

    Raises:
        RecipeError: the output uses a key that v1 cannot express.
    """
    build, requirements = _build_section(output), _requirements_section(output)
    if staged is not None:
        requirements["host"].append(staged.spec)
        build["always_include_files"] = [*build.get("always_include_files", ()), *map(_literal, staged.files)]
    else:
        build |= _files_section(output)
    if output.staging is not None and staged is None:
        add_top_level(requirements, output.staging)
    if output.v1 is not None:
        return _from_v1(output, sources, digest, build, requirements)
    return {
        "schema_version": 1,
        "package": {"name": output.name, "version": output.version},
        "source": [dict(source) for source in sources],
        "build": build,
        "requirements": requirements,
        "tests": _tests_section(output.test, test_tools),
        "about": _about_section(output),
        "extra": {DIGEST_KEY: digest},
    }


def _from_v1(
    output: RenderedOutput,
    sources: Sequence[Mapping[str, Any]],
    digest: str,
    build: Mapping[str, Any],
    requirements: Mapping[str, Any],
) -> dict[str, Any]:
    """What rattler-build rendered, with our script and sources in it, and what belongs to those."""
    assert output.v1 is not None
    rendered = dict(output.v1)
    ours = {key: build[key] for key in ("number", "string", "script", "noarch") if key in build}
    included = [*rendered["build"].get("always_include_files", ()), *build.get("always_include_files", ())]
    section = {**rendered["build"], **ours, **({"always_include_files": included} if included else {})}
    if "files" not in build:
        section.pop("files", None)  # they are those of the staging output, by name
    if compiles_python(output):
        section["python"] = {**section.get("python", {}), "skip_pyc_compilation": ["**/*.py"]}
    written = rendered.get("requirements", {})
    needs = {key: requirements[key] for key in ("build", "host")}
    needs |= {
        key: [_written_pin(spec) for spec in written[key]] for key in ("run", "run_constraints") if key in written
    }
    needs |= {key: written[key] for key in ("run_exports",) if key in written}
    needs |= {key: requirements[key] for key in ("ignore_run_exports",) if key in requirements}
    recipe = {
        **rendered,
        "schema_version": 1,
        "source": [dict(source) for source in sources],
        "build": section,
        "requirements": needs,
        "tests": list(rendered.get("tests", ())),
        "extra": {**rendered.get("extra", {}), DIGEST_KEY: digest},
    }
    ordered: dict[str, Any] = json.loads(json.dumps(recipe, sort_keys=True))  # as a manifest gives it back
    return ordered


def _written_pin(spec: str | Mapping[str, Any]) -> str:
    """A requirement as recipes write it; what only the host environment decides is a function's call."""
    if isinstance(spec, str):
        return spec
    ((function, given),) = spec.items()
    named = "".join(f", {key}={value!r}" for key, value in given.items() if key != "name")
    return f"${{{{ {function}({given['name']!r}{named}) }}}}"


def _build_section(output: RenderedOutput) -> dict[str, Any]:
    given = dict(output.build)
    section: dict[str, Any] = {
        "number": output.build_number,
        "string": output.build_string,
        "script": {"file": SCRIPT_NAME},
    }
    if output.noarch:
        section["noarch"] = output.noarch
    linking = {new: given[old] for old, new in DYNAMIC_LINKING_KEYS.items() if given.get(old) is not None}
    if given.get("error_overlinking"):
        linking["overlinking_behavior"] = "error"
    if linking:
        section["dynamic_linking"] = linking
    for old, new in PLAIN_BUILD_KEYS.items():
        if given.get(old) is not None:
            section[new] = given[old]
    python = {new: given[old] for old, new in PYTHON_KEYS.items() if given.get(old)}
    if compiles_python(output):
        python["skip_pyc_compilation"] = ["**/*.py"]  # the build script does it
    if python:
        section["python"] = python
    prefix_detection: dict[str, Any] = {}
    if given.get("ignore_prefix_files"):
        prefix_detection["ignore"] = given["ignore_prefix_files"]
    if given.get("detect_binary_files_with_prefix") is False:
        prefix_detection["ignore_binary_files"] = True
    if prefix_detection:
        section["prefix_detection"] = prefix_detection
    known = HANDLED_ELSEWHERE.union(DYNAMIC_LINKING_KEYS, PLAIN_BUILD_KEYS, PYTHON_KEYS)
    unknown = sorted(key for key, value in given.items() if key not in known and value not in (None, [], "", False))
    if unknown:
        raise RecipeError(
            f"the rattler engine cannot express `build/{unknown[0]}` of output `{output.name}`",
            where=str(output.recipe_path),
            hint="take it out, or build with `--engine conda-build`",
        )
    return section


def _files_section(output: RenderedOutput) -> dict[str, Any]:
    """`files` beside a script: only these of what the script installed are packed; a folder stands for its files."""
    sections = {}
    for key, name in (("files", "include"), ("files_excluded", "exclude")):
        patterns = [str(pattern).rstrip("/") for pattern in output.build.get(key, ())]
        if patterns:
            sections[name] = [again for pattern in patterns for again in (pattern, f"{pattern}/**")]
    return {"files": sections} if sections else {}


def _literal(name: str) -> str:
    """A pattern that matches just the file `name`."""
    return "".join(f"[{letter}]" if letter in "*?[]{}" else letter for letter in name)


def _requirements_section(output: RenderedOutput) -> dict[str, Any]:
    requirements = output.requirements
    section: dict[str, Any] = {
        "build": [strict_spec(spec) for spec in requirements.build],
        "host": [strict_spec(spec) for spec in requirements.host],
        "run": [_run_requirement(spec, output) for spec in requirements.run],
        "run_constraints": [strict_spec(spec) for spec in requirements.run_constrained],
    }
    exports = _run_exports(output.run_exports)
    if exports:
        section["run_exports"] = exports
    ignored: dict[str, Any] = {}
    for old, new in (("ignore_run_exports", "by_name"), ("ignore_run_exports_from", "from_package")):
        if output.build.get(old):
            ignored[new] = [str(name).split()[0] for name in output.build[old]]
    if ignored:
        section["ignore_run_exports"] = ignored
    return section


def _run_requirement(spec: str, output: RenderedOutput) -> str:
    """conda-build's ``pin_run_as_build``: a bare ``python`` at run time means the minor version it was built with."""
    in_host = any(host.split()[0] == spec for host in output.requirements.host)
    if spec in ("python", "r-base") and in_host and output.noarch is None:
        return _written_pin({"pin_compatible": {"name": spec, "lower_bound": "x.x", "upper_bound": "x.x"}})
    return strict_spec(spec)


def _run_exports(exports: RunExports) -> dict[str, list[str]]:
    named = {
        "weak": exports.weak,
        "strong": exports.strong,
        "noarch": exports.noarch,
        "weak_constraints": exports.weak_constrains,
        "strong_constraints": exports.strong_constrains,
    }
    return {key: [strict_spec(spec) for spec in specs] for key, specs in named.items() if specs}


def test_tools(output: RenderedOutput, channels: Sequence[str], target: Platform) -> tuple[str, ...]:
    """What of the requirements of a test is run on the platform that is built on: what the target has no package of.

    Compilers, cmake and the like are such.
    """
    there = package_names(channels, target)
    return tuple(spec for spec in output.test.requires if package_name(spec) not in there)


def _tests_section(test: OutputTest, tools: Sequence[str]) -> list[dict[str, Any]]:
    """One test, so that one environment is made: imports first, then the test script, then the commands."""
    commands = [f"python -c {shlex.quote(f'import {module}')}" for module in test.imports]
    files = {"recipe": list(test.files), "source": list(test.source_files)}
    if test.script:
        runner = "python" if PurePosixPath(test.script).suffix == ".py" else "bash -ex"
        commands.append(f"{runner} {shlex.quote(test.script)}")
        files["recipe"].append(test.script)
    commands.extend(test.commands)
    if not commands:
        return []
    section: dict[str, Any] = {"script": [command.replace("${{", "$ {{") for command in commands]}
    section["requirements"] = {"run": [strict_spec(spec) for spec in test.requires if spec not in tools]}
    if tools:
        section["requirements"]["build"] = [strict_spec(spec) for spec in tools]
    kept = {key: names for key, names in files.items() if names}
    if kept:
        section["files"] = kept
    return [section]


def _about_section(output: RenderedOutput) -> dict[str, Any]:
    about = output.about
    section: dict[str, Any] = {new: about[old] for old, new in ABOUT_KEYS.items() if about.get(old)}
    if about.get("license"):
        section["license"] = _license_expression(str(about["license"]))
    if about.get("license_file"):
        files = about["license_file"]
        section["license_file"] = [files] if isinstance(files, str) else list(files)
    return section


def _license_expression(text: str) -> str:
    """An SPDX expression as it is; anything else as the reference that SPDX has for it."""
    try:
        return str(canonicalize_license_expression(text))
    except InvalidLicenseExpression:
        return "LicenseRef-" + "".join(letter if letter.isalnum() or letter in ".-" else "-" for letter in text)
