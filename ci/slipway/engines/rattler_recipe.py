"""Writes a `RenderedOutput` as a v1 recipe (rattler-build's ``recipe.yaml``) with nothing left to evaluate.

conda-build's keys and v1's differ in name and place; the tables below say which is which. A key that has no
counterpart is an error rather than a silent loss.
"""

from __future__ import annotations

import fnmatch
import shlex
import time
from pathlib import PurePath, PurePosixPath
from typing import TYPE_CHECKING, Any

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from slipway.base.errors import RecipeError
from slipway.channel.specs import strict_spec
from slipway.engines import CLOCK_SECONDS, DIGEST_KEY
from slipway.engines.compiler_cache.server import ASK, DISMISS, wants_cache
from slipway.engines.staging import add_top_level
from slipway.observe import longest_first
from slipway.observe.build import KEEP_NINJA_FILES
from slipway.recipe.fields import LINK_SCRIPTS
from slipway.source.git import variables as git_variables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slipway.engines.staging import Staged
    from slipway.model import OutputTest, RenderedOutput, RunExports

SCRIPT_NAME = "slipway_build.sh"
"""The generated wrapper: sets conda-build's variables, then runs the recipe's script."""

TOOLS = "slipway-tools"
"""Folder of programs that stand in front of the build's own."""

STEP_SECONDS = "step-seconds.json"
"""What Ninja's steps took in earlier builds, for `slipway.observe.longest_first`."""

FINISH = """\
slipway_finish() {
  status=$?
  set +x
@DISMISS@@KEEP@  [ "$status" = 0 ] || exit "$status"
@FORGET@
  new() { find "$PREFIX" -cnewer "$SRC_DIR/build_env.sh" -type f "$@"; }
  # (By the time of its arrival: CMake installs files with the times of their sources.)
  # pip notes where it installed from: a folder of this build that nobody else has.
  new -path '*.dist-info/direct_url.json' | while read -r note; do
    rm "$note"
    sed -i '/direct_url\\.json,/d' "${note%/*}/RECORD"
  done
@COMPILE@
}
trap slipway_finish EXIT""".replace("@KEEP@", KEEP_NINJA_FILES)
"""What is put right after the recipe's script, however it ends well."""

SETTLE = """\
umask 022
# When sources were written, checked out or patched is no part of them; archives and __TIMESTAMP__ would pack it.
find "$SRC_DIR" -mindepth 1 ! -path "$SRC_DIR/build_env.sh" ! -path "$SRC_DIR/conda_build.sh" \\
  -exec touch -h -t @CLOCK@ {} +""".replace("@CLOCK@", time.strftime("%Y%m%d%H%M.%S", time.gmtime(CLOCK_SECONDS)))
"""What is put right before the recipe's script."""

COMPILE = """\
  # rattler-build compiles copies of the files, with times that installed files do not have, so that every import would
  # compile them again. A hash of the source fits wherever and whenever it is installed, and in every build.
  new -path '*/site-packages/*' -name '*.pyc' -exec rm {} +
  # In one order: what is compiled earlier in the same process can show in the bytes.
  new -path '*/site-packages/*' -name '*.py' -print0 | sort -z |
    xargs -0 -r "$PYTHON" -m compileall -q --invalidation-mode checked-hash -s "$PREFIX" -x @EXCEPT@ ||
    echo 'some Python files do not compile; they are packed as they are' """

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
ABOUT_KEYS = {
    "home": "homepage",
    "dev_url": "repository",
    "doc_url": "documentation",
    "license_family": "license_family",
    "summary": "summary",
    "description": "description",
}


def to_v1_recipe(
    output: RenderedOutput, sources: Sequence[Mapping[str, Any]], digest: str, staged: Staged | None = None
) -> dict[str, Any]:
    """The v1 recipe of one output.

    Args:
        sources: the source entries, already in v1 form, with paths that are valid from the generated recipe's folder.
        digest: stored under ``extra`` and so, by the engine, in the package's ``about.json``.
        staged: where an output with `staging` finds its files.

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
    return {
        "schema_version": 1,
        "package": {"name": output.name, "version": output.version},
        "source": [dict(source) for source in sources],
        "build": build,
        "requirements": requirements,
        "tests": _tests_section(output.test),
        "about": _about_section(output),
        "extra": {DIGEST_KEY: digest},
    }


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
    if _compiles_python(output):
        python["skip_pyc_compilation"] = ["**/*.py"]  # `COMPILE` does it
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
            where=str(output.recipe_dir / "meta.yaml"),
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


def _run_requirement(spec: str, output: RenderedOutput) -> str | dict[str, Any]:
    """conda-build's ``pin_run_as_build``: a bare ``python`` at run time means the minor version it was built with."""
    in_host = any(host.split()[0] == spec for host in output.requirements.host)
    if spec in ("python", "r-base") and in_host and output.noarch is None:
        return {"pin_compatible": {"name": spec, "lower_bound": "x.x", "upper_bound": "x.x"}}
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


def _tests_section(test: OutputTest) -> list[dict[str, Any]]:
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
    section["requirements"] = {"run": [strict_spec(spec) for spec in test.requires]}
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


def build_script(output: RenderedOutput, *, recipe: PurePath, jobs: int) -> str:
    """The wrapper around the recipe's script (in the folder `recipe`): conda-build's environment variables first.

    Beside that folder `TOOLS` is made, and `STEP_SECONDS` is looked for.

    rattler-build sets PREFIX, BUILD_PREFIX, SRC_DIR, PKG_* and friends; conda-build sets more, which recipes use.
    """
    variables: dict[str, str] = {
        # Every variant key that names a shell variable, as conda-build does.
        **{key: value for key, value in output.variant.items() if key.isidentifier()},
        "RECIPE_DIR": str(recipe),
        "CPU_COUNT": str(jobs),
        "PKG_NAME": output.name,
        "PKG_VERSION": output.version,
        "PKG_BUILDNUM": str(output.build_number),
        "PKG_BUILD_STRING": output.build_string,
        # A clock that stands still, one time zone, and sets in Python that keep their order: two builds of one source
        # give the same bytes.
        "SOURCE_DATE_EPOCH": str(CLOCK_SECONDS),
        "TZ": "UTC",
        "PYTHONHASHSEED": "0",
    }
    commit = next((source for source in output.sources if source.git_commit is not None), None)
    if commit is not None:
        variables |= git_variables(str(commit.git_commit), commit.git_describe)
    lines = ["# Written by slipway: conda-build's environment, then the recipe's own script."]
    lines += [f"export {key}={shlex.quote(value)}" for key, value in sorted(variables.items())]
    lines.append('export CMAKE_PREFIX_PATH="$PREFIX${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}"')
    version = python_version(output)
    if version:
        lines += [
            f"export PY_VER={version} CONDA_PY={version.replace('.', '')} PY3K=1",
            f'export STDLIB_DIR="$PREFIX/lib/python{version}" SP_DIR="$PREFIX/lib/python{version}/site-packages"',
        ]
    elif any(spec.split()[0] == "python" for spec in output.requirements.host):
        lines += [
            'PY_VER=$("$PYTHON" -c \'import sys; print("%d.%d" % sys.version_info[:2])\')',
            'export PY_VER CONDA_PY="${PY_VER/./}" PY3K=1',
            'export STDLIB_DIR="$PREFIX/lib/python$PY_VER" SP_DIR="$PREFIX/lib/python$PY_VER/site-packages"',
        ]
    lines += [f"export {key}={shlex.quote(value)}" for key, value in sorted(output.script_env.items())]
    lines.append(SETTLE)
    if wants_cache(output):
        lines.append(ASK)
    lines.append(longest_first.front(recipe.parent / TOOLS, recipe.parent / STEP_SECONDS))
    lines.append('cd "$SRC_DIR"')
    if output.staging is not None and not output.takes_files:
        lines += _top_level_first(output, output.staging)
    lines.append(_finish(output))
    lines += _own_script(output)
    return "\n".join(lines) + "\n"


def _own_script(output: RenderedOutput) -> list[str]:
    lines = [f'. "$RECIPE_DIR"/{shlex.quote(output.script)}'] if output.script else list(output.script_commands)
    for event in LINK_SCRIPTS:
        if output.build.get(event):
            source, target = shlex.quote(str(output.build[event])), f'"$PREFIX/bin/.$PKG_NAME-{event}.sh"'
            lines.append(f'mkdir -p "$PREFIX/bin" && cp "$RECIPE_DIR"/{source} {target} && chmod 755 {target}')
    return lines


def _top_level_first(output: RenderedOutput, staging: RenderedOutput) -> list[str]:
    """The top level's script, in the folder in which the output's goes on.

    What it installs is there for the output's script to see; it is only packed if the output lists it as `files`.
    """
    lines = ["(", f"export PKG_NAME={shlex.quote(staging.name)}", *_own_script(staging), ") || exit"]
    if not output.build.get("files"):
        lines += [
            'find "$PREFIX" -cnewer "$SRC_DIR/build_env.sh" ! -type d -print0 > "$SRC_DIR/../top-level-files"',
            "slipway_forget() {",
            '  xargs -0 -r rm -f < "$SRC_DIR/../top-level-files"',
            '  find "$PREFIX" -cnewer "$SRC_DIR/build_env.sh" -mindepth 1 -type d -empty -delete',
            "}",
        ]
    return lines


def _compiles_python(output: RenderedOutput) -> bool:
    """Whether the package gets compiled Python files: a noarch one is compiled when it is installed."""
    return output.noarch is None and any(spec.split()[0] == "python" for spec in output.requirements.host)


def _finish(output: RenderedOutput) -> str:
    forgets = output.staging is not None and not output.takes_files and not output.build.get("files")
    lines = FINISH.replace("@DISMISS@", DISMISS if wants_cache(output) else "")
    lines = lines.replace("@FORGET@\n", "  slipway_forget\n" if forgets else "")
    if not _compiles_python(output):
        return lines.replace("@COMPILE@\n", "")
    skipped = output.build.get("skip_compile_pyc") or ()
    patterns = [skipped] if isinstance(skipped, str) else list(skipped)
    pattern = "|".join(fnmatch.translate(f"*/{pattern}") for pattern in patterns) or "(?!)"
    return lines.replace("@COMPILE@", COMPILE.replace("@EXCEPT@", shlex.quote(pattern)))


def python_version(output: RenderedOutput) -> str | None:
    """``3.11`` where the host section pins Python to one minor version, else None."""
    for spec in output.requirements.host:
        name, _, rest = spec.partition(" ")
        if name == "python":
            parts = rest.split(" ")[0].lstrip("=").rstrip("*").rstrip(".").split(".")
            if len(parts) >= 2 and all(part.isdigit() for part in parts[:2]):
                return ".".join(parts[:2])
    return None
