"""The last stage: an output's description, its pins resolved, becomes a `RenderedOutput`."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from slipway.base.errors import RecipeError, RecipeWarning
from slipway.base.platform import NOARCH
from slipway.base.secrets import names_a_secret, redact
from slipway.model import OutputTest, RenderedOutput, Requirements, RunExports, Source
from slipway.recipe import fields, hashes, outputs, pins
from slipway.recipe.file_names import check_file_names
from slipway.recipe.hashes import name_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slipway.base.platform import Platform
    from slipway.recipe.document import Document
    from slipway.recipe.stages import Candidate, Described, Recipe

_TAKEN_FROM_BUILD = ("number", "string", "run_exports", "script", "script_env", "skip", "noarch", "noarch_python")
"""Keys of the build section that a `RenderedOutput` says in its own fields."""

_OTHER_SOURCES = (
    "hg_url", "svn_url", "git_lfs", "git_subfolder", "content_md5", "content_sha1", "content_sha256",
)  # fmt: skip
"""Keys of a source that are not followed here; conda-build itself may."""

_STAGING_KEYS = ("merge_build_host", "binary_relocation", "rpaths", "always_include_files")
"""Keys of the top level's build section that say how its files come about."""


_RUN_TESTS = {
    "unix": {
        "run_test.py": "python run_test.py",
        "run_test.pl": "perl run_test.pl",
        "run_test.sh": "bash -ex run_test.sh",
    },
    "win": {
        "run_test.py": "python run_test.py",
        "run_test.pl": "perl run_test.pl",
        "run_test.bat": "call run_test.bat",
    },
}
"""Files beside meta.yaml that are tests without being named in it, and how they are run: before `commands`."""


@dataclass(frozen=True)
class VersionLookup:
    """Versions in the host environment: from the caller, else from the variant where that says enough."""

    lookup: Mapping[str, str] | None
    variant: Mapping[str, str]

    def exact(self, name: str) -> str | None:
        return self.lookup.get(name) if self.lookup is not None else None

    def pinned(self, name: str, rule: Any) -> str:
        bounds = {"min_pin": rule, "max_pin": rule} if isinstance(rule, str) else dict(rule)
        allowed = {key: bounds[key] for key in ("min_pin", "max_pin", "lower_bound", "upper_bound") if key in bounds}
        version = self.exact(name) or self.variant.get(name.replace("-", "_"), "").split(" ")[0].removesuffix(".*")
        places = len((allowed.get("max_pin") or "x").split("."))
        if not version or not version.replace(".", "").isalnum() or len(version.split(".")) < places:
            return name
        return f"{name} {pins.pin_range(version, **{'max_pin': None, 'min_pin': 'x.x.x.x.x.x', **allowed})}"


def finished(
    candidate: Candidate,
    described: Described,
    recipe: Recipe,
    versions: VersionLookup,
    *,
    used_at_top: frozenset[str],
    pin_run_as_build: Mapping[str, Any],
    environ: Mapping[str, str],
    platform: Platform,
) -> RenderedOutput:
    """Put an output together.

    Args:
        candidate: from the first pass; its build string stands.
        described: the same variant after the second pass.
        recipe: the recipe.
        versions: what is known of the host environment.
        used_at_top: the keys that the top level uses.
        pin_run_as_build: package to pin expressions, for bare names among the run requirements.
        environ: values for `script_env`.
        platform: what is built on.
    """
    output = next(other for other in described.outputs if other.index == candidate.output.index)
    script, commands = _script_name(output, recipe, platform), output.script_commands
    if output.files and not output.has_own_script:
        script, commands = None, ()
    staging = None
    if output.index is not None and (output.has_own_script or output.files):
        staging = _staging(output, candidate, described, recipe, used_at_top, environ=environ, platform=platform)
    if staging is not None and script is not None and staging.script == script:
        staging = None  # a script of which each output, and the top level, runs its own part
    rendered = RenderedOutput(
        name=output.name,
        version=output.version,
        build_string=candidate.build_string,
        build_number=output.number,
        subdir=candidate.subdir,
        noarch=output.noarch or ("generic" if candidate.subdir == NOARCH else None),
        variant=candidate.variant,
        hash_input=candidate.hash_input,
        requirements=_requirements(output, versions, pin_run_as_build),
        run_exports=_run_exports(output.build),
        recipe_dir=recipe.directory,
        sources=_sources(described.document),
        script=script,
        script_commands=commands,
        script_env=_script_env(output.build, environ),
        secret_env=_secret_env(output.build, _script_env(output.build, environ)),
        test=_test(output, recipe, platform),
        about=dict(output.about),
        build=_build_section(output, recipe),
        listing=_listing(candidate),
        staging=staging,
        solved_from=candidate.solved_from,
    )
    _check_licence(output, described.document)
    return check_file_names(rendered, output.where)


def _check_licence(output: outputs.OutputDescription, document: Document) -> None:
    """Warn of a licence that is no SPDX expression: nobody's tools know what it allows."""
    written = _text(output.about.get("license"))
    if written is None:
        return
    try:
        canonicalize_license_expression(written)
    except InvalidLicenseExpression:
        of_output = ("outputs", output.index or 0, "about", "license")
        said = RecipeWarning(
            f"`{written}` is no SPDX licence expression",
            where=document.where("about", "license") if output.index is None else document.where(*of_output),
            hint="such as `BSD-3-Clause`, `MIT OR Apache-2.0` or, for one's own, `LicenseRef-Name`",
            code="unknown-licence",
        )
        warnings.warn(said, stacklevel=2)


def _build_section(output: outputs.OutputDescription, recipe: Recipe) -> dict[str, Any]:
    """What the `RenderedOutput` does not say in fields of its own; and the output's `files`, told apart by kind."""
    section = {
        key: list(outputs.texts(value)) if key in fields.BUILD_LISTS else value
        for key, value in output.build.items()
        if key not in _TAKEN_FROM_BUILD
    }
    if output.is_top_level:
        found = {event: f"{event}.sh" for event in fields.LINK_SCRIPTS if recipe.read_file(f"{event}.sh") is not None}
        section = {**found, **section}
    named = {"files": output.files, "files_excluded": output.files_excluded}
    return section | {key: list(patterns) for key, patterns in named.items() if patterns}


def _staging(
    output: outputs.OutputDescription,
    candidate: Candidate,
    described: Described,
    recipe: Recipe,
    used: frozenset[str],
    *,
    environ: Mapping[str, str],
    platform: Platform,
) -> RenderedOutput | None:
    """The top level's own build, which comes before that of its outputs; None where it has no script."""
    top = outputs.top_level(described.document, candidate.variant)
    script = _script_name(top, recipe, platform)
    if script is None and not top.script_commands:
        return None
    values = {key: candidate.variant[key] for key in sorted(used) if key in candidate.variant}
    rendered = RenderedOutput(
        name=top.name,
        version=top.version or output.version,
        build_string=hashes.with_hash("staging_0", values or {"top level": top.name}),
        build_number=0,
        subdir=candidate.variant["target_platform"],
        noarch=None,
        variant=candidate.variant,
        hash_input=values,
        requirements=Requirements(top.requirements["build"], top.requirements["host"]),
        run_exports=RunExports(),
        recipe_dir=recipe.directory,
        sources=_sources(described.document),
        script=script,
        script_commands=top.script_commands,
        script_env=_script_env(top.build, environ),
        secret_env=_secret_env(top.build, _script_env(top.build, environ)),
        build={key: value for key, value in top.build.items() if key in _STAGING_KEYS},
    )
    return check_file_names(rendered, top.where)


def _script_name(output: outputs.OutputDescription, recipe: Recipe, platform: Platform) -> str | None:
    if output.script is not None:
        return output.script
    if output.is_top_level and not output.script_commands:
        name = "bld.bat" if platform.is_windows else "build.sh"
        return name if recipe.read_file(name) is not None else None
    return None


def _script_env(build: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for entry in outputs.texts(build.get("script_env")):
        name, given, value = entry.partition("=")
        if given:
            found[name.strip()] = value.strip()
        elif name in environ:
            found[name] = environ[name]
    return found


def _secret_env(build: Mapping[str, Any], found: Mapping[str, str]) -> tuple[str, ...]:
    """What comes from the caller's environment is nobody else's business, whatever its name."""
    written = {entry.partition("=")[0].strip() for entry in outputs.texts(build.get("script_env")) if "=" in entry}
    return tuple(name for name in found if name not in written or names_a_secret(name))


def _requirements(output: outputs.OutputDescription, versions: VersionLookup, rules: Mapping[str, Any]) -> Requirements:
    built_with = {name_of(spec) for key in ("build", "host") for spec in output.requirements[key]}
    run = []
    for spec in output.requirements["run"]:
        is_own_language = spec == "python" and output.noarch is not None
        if spec in rules and spec in built_with and not is_own_language:
            spec = versions.pinned(spec, rules[spec])
        run.append(spec)
    sections = output.requirements
    return Requirements(sections["build"], sections["host"], tuple(run), sections["run_constrained"])


def _run_exports(build: Mapping[str, Any]) -> RunExports:
    value = outputs.run_exports_of(build) or {}
    if isinstance(value, list):
        return RunExports(weak=tuple(value))
    return RunExports(**{kind: tuple(specs) for kind, specs in value.items()})


def _sources(parsed: Document) -> tuple[Source, ...]:
    value = parsed.meta.get("source") or []
    entries = value if isinstance(value, list) else [value]
    found = []
    for index, entry in enumerate(entries):
        at = ("source", index, "folder") if isinstance(value, list) else ("source", "folder")
        folder = fields.checked_folder(_text(entry.get("folder")), where=parsed.where(*at))
        url = outputs.texts(entry.get("url"))
        found.append(
            Source(
                path=_text(entry.get("path")),
                url=url[0] if url else None,
                sha256=_text(entry.get("sha256")),
                git_url=_text(entry.get("git_url")),
                git_rev=_text(entry.get("git_rev") or entry.get("git_tag") or entry.get("git_branch")),
                folder=folder,
                patches=outputs.texts(entry.get("patches")),
                mirrors=url[1:],
                fn=_text(entry.get("fn")),
                md5=_text(entry.get("md5")),
                sha1=_text(entry.get("sha1")),
                expand=entry.get("expand") is not False,
                no_hoist=entry.get("no_hoist") is True,
                git_depth=_depth(entry.get("git_depth")),
                unsupported=next((key for key in _OTHER_SOURCES if entry.get(key)), None),
            )
        )
    return tuple(found)


def _depth(value: Any) -> int | None:
    """conda-build's -1, like no word, means the whole history."""
    text = str(value or "")
    return int(text) if text.isdigit() and int(text) else None


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _test(output: outputs.OutputDescription, recipe: Recipe, platform: Platform) -> OutputTest:
    """The output's `test`; the package of the top level's name also runs the recipe's ``run_test.*`` files."""
    test = output.test
    runs = _RUN_TESTS["win" if platform.is_windows else "unix"] if output.is_top_level else {}
    found = {name: command for name, command in runs.items() if recipe.read_file(name) is not None}
    found.pop(str(test.get("script")), None)  # named there, it runs anyway
    files = outputs.texts(test.get("files"))
    return OutputTest(
        imports=outputs.texts(test.get("imports")),
        commands=(*found.values(), *outputs.texts(test.get("commands"))),
        requires=outputs.texts(test.get("requires")),
        files=(*files, *(name for name in found if name not in files)),
        source_files=outputs.texts(test.get("source_files")),
        script=_text(test.get("script")),
    )


def _listing(candidate: Candidate) -> dict[str, Any]:
    output = candidate.output
    return {
        "build": candidate.build_string,
        "hash_input": candidate.hash_input,
        "name": output.name,
        "number": output.number,
        "requirements": {section: list(specs) for section, specs in output.requirements.items()},
        "run_exports": outputs.run_exports_of(output.build),
        "subdir": candidate.subdir,
        "version": output.version,
    }


def without_secrets(output: RenderedOutput) -> RenderedOutput:
    """`output` without the variant keys that hold secrets by their names and that it does not use.

    Raises:
        RecipeError: it uses one, or one whose value is an address with a password or a token in it.
    """
    for key, value in output.hash_input.items():
        if names_a_secret(key) or redact(value, parameters=False) != value:
            raise RecipeError(
                f"`{output.name}` uses the variant key `{key}`, which holds a secret, and packages tell their variants",
                hint=f"give it to the script by `script_env`, as an environment variable, and take `{key}` out",
            )
    return replace(
        output,
        variant={key: value for key, value in output.variant.items() if not names_a_secret(key)},
        staging=without_secrets(output.staging) if output.staging is not None else None,
    )
