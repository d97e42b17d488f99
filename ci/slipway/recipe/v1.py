"""recipe.yaml (the v1 format), rendered by rattler-build itself: its answers become `RenderedOutput`s.

Names, versions, hashes, requirements and skipped variants are rattler-build's, with the values of the same stack of
variant configurations; only conda-build's own defaults are not in it, which rattler-build does not have. What builds
the package gets the rendered recipe as it is (`RenderedOutput.v1`).
"""

from __future__ import annotations

import re
import shlex
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import rattler_build

from slipway.base.errors import RecipeError
from slipway.model import OutputTest, RenderedOutput, Requirements, RunExports, Source
from slipway.recipe import config, fields, hashes, pins
from slipway.recipe.choose import RecipeMatrix
from slipway.recipe.file_names import check_file_names
from slipway.recipe.outputs import check_build_string, check_file_name, required_by_tests, texts
from slipway.recipe.usage import mentions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from slipway.base.platform import Platform
    from slipway.recipe.stages import Recipe

VARIANTS_NAME: Final = "variants.yaml"
"""rattler-build's own file of variants, beside recipe.yaml."""

_INTERPRETERS: Final = {
    ".py": "python", ".pl": "perl", ".r": "Rscript", ".rb": "ruby", ".js": "node", ".sh": "bash",
}  # fmt: skip
_PROGRAMS: Final = {"rscript": "Rscript", "r": "Rscript", "nodejs": "node"}
_FOLLOWED: Final = frozenset(
    ["path", "url", "git", "rev", "depth", "sha256", "md5", "file_name", "target_directory", "patches", "use_gitignore"]
)
"""Keys of a source that are followed here."""

_LATE_NAMES: Final = (
    "PREFIX", "BUILD_PREFIX", "HOST_PREFIX", "LIBRARY_PREFIX", "SRC_DIR", "RECIPE_DIR", "PYTHON", "SP_DIR",
    "STDLIB_DIR", "PERL", "R", "CPU_COUNT", "SHLIB_EXT", "PKG_NAME", "PKG_VERSION", "PKG_BUILDNUM", "PKG_HASH",
    "PKG_BUILD_STRING",
)  # fmt: skip
"""What templates in scripts may name that only the build knows: scripts have it as variables."""

_LATE: Final = re.compile(r"@late:(\w+)@")

_TRUTHS: Final[Mapping[str, Any]] = MappingProxyType({"true": True, "false": False})

_PLACES: Final = re.compile(r"x(\.x)*")
_AT_LINE: Final = re.compile(r"line: (\d+)|YAML: (\d+):")
_QUOTED: Final = re.compile(r"unknown (?:top-level )?field '([^']+)'|^[^']*'([^']+)' is not|: (\S+)$")


def render(
    recipe: Recipe, configs: Sequence[config.VariantConfig], *, platform: Platform, environ: Mapping[str, str]
) -> RecipeMatrix:
    """Every output of every variant, in build order; see `slipway.recipe.render_matrix`.

    Args:
        recipe: its text is recipe.yaml.
        configs: low precedence first.
        platform: what is built on and for.
        environ: values for the `secrets` of scripts.
    """
    try:
        own = _own_variants(recipe, platform)
        space = config.combine(
            [own, *configs], platform=platform, defaults=False, may_use=lambda key: mentions(recipe.text, key)
        )
        kept = _rendered(rattler_build.Stage0Recipe.from_file(recipe.path), space, platform)
        found: dict[tuple[str, str], RenderedOutput] = {}
        versions = {one.recipe.package.name: (one.recipe.package.version, str(one.recipe.build.string)) for one in kept}
        for one in kept:
            output = _V1Reader(one, recipe, platform, environ, versions).read()
            found.setdefault((output.subdir, output.key), output)
    except rattler_build.RattlerBuildError as error:
        raise _explain(str(error), recipe) from None
    return RecipeMatrix(tuple(found.values()), space.values(), space.zip_groups)


def _platform_config(platform: Platform) -> rattler_build.PlatformConfig:
    return rattler_build.PlatformConfig(target_platform=platform.subdir, build_platform=platform.built_on)


def _own_variants(recipe: Recipe, platform: Platform) -> config.VariantConfig:
    """What variants.yaml beside the recipe says: below every conda_build_config.yaml."""
    text = recipe.read_file(VARIANTS_NAME)
    if text is None:
        return config.given({}, VARIANTS_NAME)
    jinja = rattler_build.JinjaConfig(platform=_platform_config(platform))
    found = rattler_build.VariantConfig.from_yaml_with_context(text, jinja)
    zipped = {"zip_keys": found.zip_keys} if found.zip_keys else {}
    return config.given({key: list(map(_as_text, values)) for key, values in found.items()} | zipped, VARIANTS_NAME)


def _as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _rendered(stage0: rattler_build.Stage0Recipe, space: config.VariantSpace, platform: Platform) -> list[Any]:
    """Each output once, in build order, without those that are skipped in every variant.

    rattler-build is given one variant at a time: the time that it takes for all at once grows with their square. And
    what an output does not use, such as the Python of a noarch package, can still decide about skipping it.
    """
    skips = _find_skips(stage0.to_dict())
    found: dict[tuple[str, str, str, str], Any] = {}
    for variant in space.variants:
        values = {key: _TRUTHS.get(value, value) for key, value in variant.items() if key != "target_platform"}
        skipped: dict[str, set[str]] = {}
        for one in stage0.render(_variant_config(values), rattler_build.RenderConfig(_platform_config(platform))):
            package, build = one.recipe.package, one.recipe.build
            identity = (package.name, package.version, str(build.string), str(one.variant.get("target_platform")))
            if identity in found:
                continue
            context = repr(one.recipe.context)
            if skips and context not in skipped:
                skipped[context] = _skipped(one, skips, platform, values)
            if package.name not in skipped.get(context, ()):
                found[identity] = one
    return list(found.values())


def _variant_config(values: Mapping[str, Any]) -> rattler_build.VariantConfig:
    return rattler_build.VariantConfig({key: [value] for key, value in values.items()})


def _find_skips(stage0: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Per condition of a `skip`, as entries of a list in a recipe: the name of the output that is skipped if it holds.

    rattler-build's rendering does not say what it would skip, so it is asked once more.
    """
    everywhere = _conditions(stage0)
    outputs = [one for one in stage0.get("outputs") or [stage0] if one.get("package")]
    return [
        {"if": condition, "then": str(output["package"]["name"])}
        for output in outputs
        for condition in [*everywhere, *(_conditions(output) if output is not stage0 else ())]
    ]


def _conditions(section: Mapping[str, Any]) -> list[str]:
    skip = (section.get("build") or {}).get("skip") or []
    return [_as_text(one) for one in (skip if isinstance(skip, list) else [skip])]


def _skipped(one: Any, skips: list[dict[str, Any]], platform: Platform, values: Mapping[str, Any]) -> set[str]:
    plain = [skip for skip in skips if "${{" not in skip["if"]]
    found = _conditional(one, plain, platform, values)
    for skip in skips:
        if skip not in plain:  # a template: its text is the condition, and counts as none if it cannot be read
            answer = _ask_again(one, platform, {"about": {"description": skip["if"]}}, values=values)
            written = {"if": str(answer["about"]["description"]), "then": skip["then"]}
            with suppress(rattler_build.RattlerBuildError):
                found |= _conditional(one, [written], platform, values)
    return found


def _conditional(one: Any, items: list[dict[str, Any]], platform: Platform, values: Mapping[str, Any]) -> set[str]:
    """What a list of conditions and items comes to."""
    answer = _ask_again(one, platform, {"requirements": {"run": items}}, values=values)
    return {str(spec) for spec in answer.get("requirements", {}).get("run", ())}


def _ask_again(
    one: Any,
    platform: Platform,
    section: Mapping[str, Any],
    context: Mapping[str, Any] = MappingProxyType({}),
    *,
    values: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """What rattler-build makes of a section of a recipe, with the context and the variant of a rendered output.

    Args:
        values: more of the variant. Its `target_platform` is that of `platform`, also where the output is noarch.
    """
    variant = {key: value for key, value in one.variant.items() if key != "target_platform"} | dict(values)
    names = {**one.recipe.context, **context}
    asked = {**({"context": names} if names else {}), "package": {"name": "asked", "version": "0"}, **section}
    with tempfile.TemporaryDirectory() as folder:  # it writes there; where none is named, it leaves one behind
        (rendered,) = rattler_build.Stage0Recipe.from_dict(asked, recipe_dir=folder).render(
            _variant_config(variant), rattler_build.RenderConfig(_platform_config(platform))
        )
    answer: dict[str, Any] = rendered.recipe.to_dict()
    return answer


def _explain(said: str, recipe: Recipe) -> RecipeError:
    """rattler-build's words, with the line that they are about, as far as they tell."""
    located = _AT_LINE.search(said)
    line = int(next(filter(None, located.groups()))) if located else None
    quoted = _QUOTED.search(said.splitlines()[0])
    if line is None and quoted is not None:
        word = next(filter(None, quoted.groups()))
        lines = recipe.text.splitlines()
        line = next((number for number, text in enumerate(lines, start=1) if word in text), None)
    message = re.search(r'(?:message|reason): "((?:[^"\\]|\\.)*)"', said)
    return RecipeError(
        f"rattler-build cannot read it: {message[1] if message else said.strip()}",
        where=f"{recipe.path}:{line}" if line is not None else recipe.path,
        hint="recipe.yaml is read by rattler-build's own parser; its documentation lists the keys",
        code="recipe-yaml",
    )


class _V1Reader:
    """Reads one rendered variant of rattler-build's; `versions`: version and build string of every output, by name."""

    def __init__(
        self,
        rendered: Any,
        recipe: Recipe,
        platform: Platform,
        environ: Mapping[str, str],
        versions: Mapping[str, tuple[str, str]],
    ) -> None:
        self.rendered = rendered
        self.recipe = recipe
        self.platform = platform
        self.environ = environ
        self.content: dict[str, Any] = rendered.recipe.to_dict()
        self.used = {key: _as_text(value) for key, value in rendered.variant.items()}
        pinned = {name: (pin.version, pin.build_string) for name, pin in rendered.pin_subpackages.items()}
        package, build = self.content["package"], self.content["build"]
        self.versions = {
            **versions,
            **{name: (str(version), str(build or "")) for name, (version, build) in pinned.items()},
            package["name"]: (str(package["version"]), str(build["string"])),
        }

    def read(self) -> RenderedOutput:
        """The output."""
        content = self.content
        content["requirements"] = self._pinned(content.get("requirements") or {})
        package, build = content["package"], content["build"]
        inherits = content.pop("inherits_from", None)
        caches = {cache["name"]: cache for cache in content.pop("staging_caches", ())}
        staging = None if inherits is None else self._staging(caches[inherits["cache_name"]], package)
        script, commands, variables, secrets = self._script(build)
        noarch = build.get("noarch")
        requirements = content["requirements"]
        exports = requirements.get("run_exports") or {}
        sections = {key: tuple(self._specs(requirements.get(key))) for key in ("build", "host")}
        if staging is not None and inherits.get("inherit_run_exports", True):
            inherited = {"build": staging.requirements.build, "host": staging.requirements.host}
            sections = {key: tuple(dict.fromkeys((*inherited[key], *own))) for key, own in sections.items()}
        ignored = requirements.get("ignore_run_exports") or {}
        files = build.get("files") or (["**"] if staging is not None else [])
        named = files if isinstance(files, dict) else {"include": files}
        output = RenderedOutput(
            name=package["name"],
            version=str(package["version"]),
            build_string=str(build["string"]),
            build_number=int(build.get("number") or 0),
            subdir=self.used.get("target_platform", self.platform.subdir),
            noarch=noarch,
            variant=self.used | {"target_platform": self.platform.subdir},
            hash_input=self.used,
            requirements=Requirements(
                **sections,
                run=tuple(_bare(spec) for spec in requirements.get("run") or ()),
                run_constrained=tuple(_bare(spec) for spec in requirements.get("run_constraints") or ()),
            ),
            run_exports=RunExports(
                **{key.replace("constraints", "constrains"): tuple(map(_bare, exports[key])) for key in exports}
            ),
            recipe_dir=self.recipe.directory,
            sources=(*(staging.sources if staging is not None else ()), *self._sources(content.pop("source", []))),
            script=script,
            script_commands=commands,
            script_env=variables,
            secret_env=secrets,
            test=_named_by_tests(content.get("tests") or ()),
            about={
                old: content.get("about", {})[new] for old, new in ABOUT.items() if content.get("about", {}).get(new)
            },
            build={
                "ignore_run_exports": list(ignored.get("by_name", ())),
                "ignore_run_exports_from": list(ignored.get("from_package", ())),
                "files": list(texts(named.get("include"))),
                "files_excluded": list(texts(named.get("exclude"))),
                "skip_compile_pyc": list(texts((build.get("python") or {}).get("skip_pyc_compilation"))),
            },
            staging=staging,
            v1={key: value for key, value in content.items() if value and key != "schema_version"},
        )
        check_build_string(output.build_string, self.recipe.path)
        check_file_name(output.key, self.recipe.path)
        listing = {
            "build": output.build_string,
            "hash_input": dict(self.used),
            "name": output.name,
            "number": output.build_number,
            "requirements": {key: list(specs) for key, specs in output.requirements.__dict__.items() if specs},
            "run_exports": {key: list(specs) for key, specs in output.run_exports.__dict__.items() if specs},
            "subdir": output.subdir,
            "version": output.version,
        }
        return check_file_names(replace(output, listing=listing, solved_from=output.key), self.recipe.path)

    def _staging(self, cache: Mapping[str, Any], package: Mapping[str, Any]) -> RenderedOutput:
        """A staging output, which is built once for all that inherit from it."""
        used = {key: value for key, value in self.used.items() if key not in self.rendered.pin_subpackages}
        script, commands, variables, secrets = self._script(cache.get("build") or {})
        requirements = self._pinned(cache.get("requirements") or {})
        return check_file_names(
            RenderedOutput(
                name=cache["name"],
                version=str(package["version"]),
                build_string=hashes.with_hash("staging_0", used),
                build_number=0,
                subdir=self.platform.subdir,
                noarch=None,
                variant=used | {"target_platform": self.platform.subdir},
                hash_input=used,
                requirements=Requirements(*(tuple(self._specs(requirements.get(key))) for key in ("build", "host"))),
                run_exports=RunExports(),
                recipe_dir=self.recipe.directory,
                sources=self._sources(cache.get("source", [])),
                script=script,
                script_commands=commands,
                script_env=variables,
                secret_env=secrets,
            ),
            self.recipe.path,
        )

    def _pinned(self, value: Any) -> Any:
        """`value` with every `pin_subpackage` written out."""
        if isinstance(value, list):
            return [self._pinned(item) for item in value]
        if not isinstance(value, dict):
            return value
        pin = value.get("pin_subpackage")
        if pin is None:
            return {key: self._pinned(item) for key, item in value.items()}
        if pin["name"] not in self.versions:
            raise RecipeError(
                f"`pin_subpackage('{pin['name']}')` names no output of the recipe", where=self.recipe.path,
                hint="it has " + ", ".join(self.versions),
            )  # fmt: skip
        version, build_string = self.versions[pin["name"]]
        if pin.get("exact"):
            return f"{pin['name']} =={version} {build_string}"
        bounds = {
            f"{side}_{'pin' if _PLACES.fullmatch(bound) else 'bound'}": bound
            for side, bound in (("lower", pin.get("lower_bound")), ("upper", pin.get("upper_bound")))
            if bound
        }
        chosen = {
            "min_pin": bounds.get("lower_pin"), "max_pin": bounds.get("upper_pin"),
            "lower_bound": bounds.get("lower_bound"), "upper_bound": bounds.get("upper_bound"),
        }  # fmt: skip
        return f"{pin['name']} {pins.pin_range(version, **chosen)}".strip()

    def _specs(self, specs: Sequence[Any] | None) -> Iterator[str]:
        """Specs of the build or host section: a bare name takes the variant's value, as in rattler-build."""
        for spec in specs or ():
            text = _bare(spec)
            key = text.replace("-", "_").replace(".", "_").lower()
            yield f"{text} {self.used[key]}" if " " not in text and key in self.used else text

    def _sources(self, entries: Any) -> tuple[Source, ...]:
        found = []
        for entry in entries if isinstance(entries, list) else [entries]:
            addresses = texts(entry.get("url"))
            found.append(
                Source(
                    path=entry.get("path"),
                    url=addresses[0] if addresses else None,
                    mirrors=addresses[1:],
                    sha256=entry.get("sha256"),
                    md5=entry.get("md5"),
                    fn=entry.get("file_name"),
                    expand=entry.get("file_name") is None,
                    git_url=entry.get("git"),
                    git_rev=(entry.get("rev") or "").removeprefix("refs/tags/").removeprefix("refs/heads/") or None,
                    git_depth=entry.get("depth"),
                    folder=fields.checked_folder(entry.get("target_directory"), where=self.recipe.path),
                    patches=texts(entry.get("patches")),
                    unsupported=next((key for key in entry if key not in _FOLLOWED), None),
                )
            )
        return tuple(found)

    def _script(self, build: Mapping[str, Any]) -> tuple[str | None, tuple[str, ...], dict[str, str], tuple[str, ...]]:
        """A script as file name, or else as commands for bash; its variables, and which of them are secret."""
        written = build.get("script")
        if written is None:
            written = {"file": "build.sh"} if self._has("build.sh") else {}
        given: dict[str, Any] = dict(written) if isinstance(written, dict) else {"content": written}
        content, file = given.get("content") or [], given.get("file")
        if file is None and isinstance(content, str) and "\n" not in content:
            file = next((name for name in (content, f"{content}.sh") if self._has(name)), None)
        if file is not None and not self._has(file) and self._has(f"{file}.sh"):
            file = f"{file}.sh"
        secrets = [name for name in given.get("secrets") or () if name in self.environ]
        variables = {key: str(value) for key, value in (given.get("env") or {}).items()}
        variables |= {name: self.environ[name] for name in secrets}
        suffix = PurePosixPath(file or "").suffix.lower()
        default = _INTERPRETERS.get(suffix, "bash")
        interpreter = default if file is not None and suffix != ".sh" else given.get("interpreter") or default
        program = _PROGRAMS.get(interpreter, interpreter)
        folder = [f'cd "$SRC_DIR"/{shlex.quote(given["cwd"])}'] if given.get("cwd") else []
        if file is not None:
            if program == "bash" and not folder:
                return file, (), variables, tuple(secrets)
            return None, (*folder, f'{program} "$RECIPE_DIR"/{shlex.quote(file)}'), variables, tuple(secrets)
        text = self._filled("\n".join(content) if isinstance(content, list) else content)
        if not text.strip():
            return None, (), variables, tuple(secrets)
        if program == "bash":
            return None, (*folder, _LATE.sub(r"${\1}", text)), variables, tuple(secrets)
        names = dict.fromkeys(_LATE.findall(text))
        filled = "".join(f' | sed "s|@late:{name}@|${name}|g"' for name in names)
        body = text.rstrip("\n")
        here = f"cat <<'SLIPWAY_SCRIPT'{filled} | {program} -\n{body}\nSLIPWAY_SCRIPT"
        return None, (*folder, here), variables, tuple(secrets)

    def _filled(self, script: str) -> str:
        """A script with its templates filled in, which rattler-build does only when it builds."""
        if "${{" not in script:
            return script
        late = {name: f"@late:{name}@" for name in _LATE_NAMES}
        answer = _ask_again(self.rendered, self.platform, {"about": {"description": script}}, late)
        return str(answer["about"]["description"])

    def _has(self, name: str) -> bool:
        return self.recipe.read_file(name) is not None


ABOUT: Final = {
    **fields.ABOUT_KEYS,
    "license": "license",
    "license_file": "license_file",
}
"""conda-build's names of what `about` holds, and v1's."""


def _bare(spec: Any) -> str:
    """A spec as text; what only the build knows (`pin_compatible`) is the name alone."""
    return str(spec["pin_compatible"]["name"] if isinstance(spec, dict) else spec)


def _named_by_tests(tests: Sequence[Mapping[str, Any]]) -> OutputTest:
    """What tests take from elsewhere; they themselves are rattler-build's to run."""
    files: list[str] = []
    source_files: list[str] = []
    for test in tests:
        script, named = test.get("script"), test.get("files") or {}
        files += [str(script["file"])] if isinstance(script, dict) and script.get("file") else []
        files += texts(named.get("recipe"))
        source_files += texts(named.get("source"))
    return OutputTest(requires=tuple(required_by_tests(tests)), files=tuple(files), source_files=tuple(source_files))
