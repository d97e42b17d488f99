"""The renderer: one recipe and its configurations in, every output of every variant out, in build order.

Each variant is rendered twice. The first pass reads pins as bare names, as conda-build does while nothing is known: it
decides which keys each output uses, and from these the hash and the build string. The second pass knows the build
strings, so that ``pin_subpackage(..., exact=True)`` can be written out.

Outputs are rendered per distinct value of the keys that they use. Among variants that differ in other keys only, the
last one stands for all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from slipway.errors import RecipeError
from slipway.model import OutputTest, RenderedOutput, Requirements, RunExports, Source
from slipway.recipe import config, defaults, document, excerpts, functions, hashes, order, outputs, pins, selectors
from slipway.recipe.templates import RenderedText, TemplateRenderer
from slipway.recipe.usage import REQUIREMENTS, UsageFinder

if TYPE_CHECKING:
    from pathlib import Path

Versions = Callable[[str], str | None]
_LONGEST_LINE = 10_000


@dataclass(frozen=True)
class Recipe:
    """A recipe as written.

    Attributes:
        directory: its folder.
        path: meta.yaml, as messages name it.
        text: meta.yaml.
        config: the conda_build_config.yaml beside it, or None.
        read_file: text of another file of the folder, by its relative name; None if there is none.
    """

    directory: Path
    path: str
    text: str
    config: config.VariantConfigText | None
    read_file: Callable[[str], str | None]


@dataclass(frozen=True)
class _Candidate:
    """One output in one variant, after the first pass."""

    output: outputs.OutputDescription
    variant: dict[str, str]
    used: frozenset[str]
    hash_input: dict[str, str]
    build_string: str
    subdir: str

    @property
    def identity(self) -> tuple[object, ...]:
        values = tuple((key, self.variant[key]) for key in sorted(self.used) if key in self.variant)
        return (self.output.name, self.output.version, self.build_string, self.subdir, values)


class Renderer:
    """Renders one recipe against one stack of configurations; see `slipway.recipe.render`."""

    def __init__(
        self,
        recipe: Recipe,
        configs: Sequence[config.VariantConfig],
        *,
        platform: str,
        environ: Mapping[str, str],
        versions: Versions | None,
    ) -> None:
        self._recipe = recipe
        self._platform = platform
        self._environ = environ
        self._versions = versions
        self.space = config.combine(configs, platform=platform)
        self._keys = frozenset(self.space.variants[0])
        self._finder = UsageFinder(self._keys)
        self._lines = selectors.split_lines(recipe.text)
        if too_long := next((line.number for line in self._lines if len(line.raw) > _LONGEST_LINE), None):
            raise RecipeError(
                f"the line is longer than {_LONGEST_LINE} characters", where=f"{recipe.path}:{too_long}",
                hint="break it up",
            )  # fmt: skip
        self._selected_numbers = frozenset(line.number for line in self._lines if line.selector is not None)
        self._templates = TemplateRenderer(recipe.path, recipe.read_file)
        self._documents: dict[RenderedText, document.Document] = {}
        self._first_pass: dict[tuple[str, ...], _FirstPass] = {}

    def render(self) -> tuple[RenderedOutput, ...]:
        """Every output, in build order."""
        candidates: dict[tuple[object, ...], _Candidate] = {}
        for variant in self._matrix():
            for candidate in self._candidates(variant):
                candidates[candidate.identity] = candidate
        by_key = {(c.output.name, c.output.version, c.build_string, c.subdir): c for c in candidates.values()}
        as_listed = sorted(by_key.values(), key=lambda c: c.output.index if c.output.index is not None else len(by_key))
        ordered = order.in_build_order(
            as_listed,
            name=lambda candidate: candidate.output.name,
            needs=lambda candidate: [
                hashes.name_of(spec)
                for section in ("build", "host", "run")
                for spec in candidate.output.requirements[section]
            ],
            needs_first=lambda candidate: [
                hashes.name_of(spec) for section in ("build", "host") for spec in candidate.output.requirements[section]
            ],
            where=lambda candidate: candidate.output.where,
        )
        elsewhere = {c.output.name: (c.output.version, c.build_string) for c in ordered}
        return tuple(self._finished(candidate, elsewhere) for candidate in ordered)

    def _matrix(self) -> list[dict[str, str]]:
        """The variants to render: conda-build's two loops, over the top level's keys and then over all keys."""
        space = self.space
        loops = space.loop_keys()
        everything = space.variants
        if self._first(everything[0]).described.is_noarch:
            newest = max((variant["python"] for variant in everything), key=_version_order)
            everything = tuple(variant for variant in everything if variant["python"] == newest)
        top_keys = self._used_at_top(everything[0]) & loops
        found: dict[tuple[str, ...], dict[str, str]] = {}
        for top in space.reduce(everything, top_keys):
            if self._first(top).described.is_skipped:
                continue
            rest = [variant for variant in everything if all(variant[key] == top[key] for key in top_keys)]
            keys = self._used_anywhere(top) & loops
            found |= {tuple(variant.values()): variant for variant in space.reduce(rest, keys)}
        return list(found.values())

    def _first(self, variant: dict[str, str]) -> _FirstPass:
        """The first pass over a variant, made once."""
        key = tuple(variant.values())
        if key not in self._first_pass:
            lines = self._selected(variant)
            cut = excerpts.cut(self._lines, lines)
            self._first_pass[key] = _FirstPass(lines, self._described(variant, lines, functions.NamesOnly()), cut)
        return self._first_pass[key]

    def _selected(self, variant: Mapping[str, str]) -> tuple[selectors.Line, ...]:
        names = selectors.namespace({**self.space.shared, **variant}, platform=self._platform, environ=self._environ)
        return selectors.select(self._lines, names, self._recipe.path)

    def _used_at_top(self, variant: dict[str, str]) -> frozenset[str]:
        first = self._first(variant)
        same = next((output for output in first.described.outputs if output.is_top_level), None)
        index = same.index if same is not None else None
        excerpt = first.excerpts.of(index, is_top_level=True)
        requirements = same.requirements if same is not None else {}
        return self._used_in(excerpt, requirements) | self._used_in_build_script()

    def _used_anywhere(self, variant: dict[str, str]) -> frozenset[str]:
        whole = self._first(variant).excerpts.whole
        always = {"target_platform", "channel_targets"} & self._keys
        in_recipe = self._finder.in_selectors(whole.written) | self._finder.in_text(whole.selected)
        return in_recipe | self._used_in_build_script() | always

    def _used_in_build_script(self) -> frozenset[str]:
        used = self._used_in_script("build.sh")
        return used | self._used_in_script("bld.bat") if defaults.system_of(self._platform) == "win" else used

    def _used_in_script(self, name: str) -> frozenset[str]:
        find = {"sh": self._finder.in_shell, "bat": self._finder.in_batch}.get(name.rpartition(".")[2])
        text = self._recipe.read_file(name) if find is not None else None
        return find(text) if find is not None and text is not None else frozenset()

    def _used_in(self, excerpt: excerpts.Excerpt, requirements: Mapping[str, Sequence[str]]) -> frozenset[str]:
        everywhere = self._finder.in_selectors(excerpt.written) | self._finder.in_text(excerpt.selected)
        section = REQUIREMENTS.search(excerpt.selected)
        required = self._finder.in_text(section[0]) if section else frozenset()
        ignored = self._shared_list("ignore_build_only_deps")
        return (everywhere - required) | hashes.trim_build_only(required, requirements, ignored)

    def _used_by(self, output: outputs.OutputDescription, excerpt: excerpts.Excerpt) -> frozenset[str]:
        used = self._used_in(excerpt, output.requirements)
        if output.is_top_level:
            used |= self._used_in_build_script()
        elif output.script is not None:
            used |= self._used_in_script(output.script)
        if output.noarch is None:
            used |= {"target_platform"}
        used |= {"channel_targets"} & self._keys
        used -= frozenset(outputs.texts(output.build.get("force_ignore_keys")))
        return used | (frozenset(outputs.texts(output.build.get("force_use_keys"))) & self._keys)

    def _shared_list(self, key: str) -> list[str]:
        return [str(item) for item in self.space.shared.get(key) or ()]

    def _described(
        self, variant: dict[str, str], lines: Sequence[selectors.Line], answers: functions.Pins
    ) -> _Described:
        package: dict[str, str] = {}
        for _ in range(2):  # once more if the text names the package that the first time found
            inputs = functions.ContextInputs(
                variant={**self.space.shared, **variant},
                platform=self._platform,
                environ=self._environ,
                pins=answers,
                recipe_dir=str(self._recipe.directory),
                read_file=self._recipe.read_file,
                package=package,
            )
            text = self._templates.render(lines, functions.template_context(inputs))
            if text not in self._documents:
                self._documents[text] = document.read(text, self._recipe.path, self._selected_numbers)
            parsed = self._documents[text]
            if package or not any(word in self._recipe.text for word in _PACKAGE_VARIABLES):
                break
            name, version = outputs.identity(parsed)
            number = outputs.number_of(parsed.section("build"), parsed.where("build", "number"))
            package = {"name": name, "version": version, "number": str(number)}
        return _Described(parsed, outputs.describe(parsed, variant, pins_own=excerpts.pins_at_top_level(lines)))

    def _candidates(self, variant: dict[str, str]) -> list[_Candidate]:
        first = self._first(variant)
        return [
            self._candidate(output, variant, first.excerpts.of(output.index, is_top_level=output.is_top_level))
            for output in first.described.outputs
            if not output.is_skipped
        ]

    def _candidate(
        self, output: outputs.OutputDescription, variant: dict[str, str], excerpt: excerpts.Excerpt
    ) -> _Candidate:
        used = self._used_by(output, excerpt)
        section = REQUIREMENTS.search(excerpt.selected)
        numpy_named = bool(section and hashes.NUMPY_XX.search(section[0]))
        contents = hashes.hash_input(
            used, variant, output.requirements,
            ignore_version=self._shared_list("ignore_version"),
            ignore_build_only=self._shared_list("ignore_build_only_deps"),
            numpy_in_build_string=numpy_named,
        )  # fmt: skip
        written = str(output.build["string"]) if output.build.get("string") else ""
        if written and not excerpt.places_hash:
            build_string = written
        else:
            build_string = hashes.with_hash(
                written
                or hashes.default_build_string(
                    variant, output.requirements, number=output.number, noarch=output.noarch,
                    numpy_in_build_string=numpy_named, features=outputs.texts(output.build.get("features")),
                ),
                contents,
            )  # fmt: skip
        subdir = "noarch" if output.noarch else variant["target_platform"]
        return _Candidate(output, variant, used, contents, build_string, subdir)

    def _finished(self, candidate: _Candidate, elsewhere: Mapping[str, tuple[str, str]]) -> RenderedOutput:
        output, variant = candidate.output, candidate.variant
        known = {
            **elsewhere,
            **{c.output.name: (c.output.version, c.build_string) for c in self._candidates(variant)},
        }
        versions = _VersionLookup(self._versions, variant)
        parsed = self._described(variant, self._first(variant).lines, functions.ResolvedPins(known, versions.exact))
        resolved = next(other for other in parsed.outputs if other.name == output.name)
        return RenderedOutput(
            name=output.name,
            version=output.version,
            build_string=candidate.build_string,
            build_number=output.number,
            subdir=candidate.subdir,
            noarch=output.noarch,
            variant=variant,
            hash_input=candidate.hash_input,
            requirements=self._requirements(resolved, versions),
            run_exports=_run_exports(resolved.build),
            recipe_dir=self._recipe.directory,
            sources=_sources(parsed.document),
            script=self._script_name(output),
            script_commands=resolved.script_commands,
            script_env=self._script_env(resolved),
            test=_test(resolved.test),
            about=dict(resolved.about),
            build={**resolved.build, **({"files": list(resolved.files)} if resolved.files else {})},
            listing=_listing(candidate),
        )

    def _script_name(self, output: outputs.OutputDescription) -> str | None:
        if output.script is not None:
            return output.script
        if output.is_top_level and not output.script_commands:
            name = "bld.bat" if defaults.system_of(self._platform) == "win" else "build.sh"
            return name if self._recipe.read_file(name) is not None else None
        return None

    def _script_env(self, output: outputs.OutputDescription) -> dict[str, str]:
        found = {}
        for entry in outputs.texts(output.build.get("script_env")):
            name, given, value = entry.partition("=")
            if given:
                found[name.strip()] = value.strip()
            elif name in self._environ:
                found[name] = self._environ[name]
        return found

    def _requirements(self, output: outputs.OutputDescription, versions: _VersionLookup) -> Requirements:
        built_with = {hashes.name_of(spec) for key in ("build", "host") for spec in output.requirements[key]}
        rules = self.space.shared.get("pin_run_as_build") or {}
        run = []
        for spec in output.requirements["run"]:
            rule = rules.get(spec)
            is_own_language = spec == "python" and output.noarch is not None
            if rule is not None and spec in built_with and not is_own_language:
                spec = versions.pinned(spec, rule)
            run.append(spec)
        sections = output.requirements
        return Requirements(sections["build"], sections["host"], tuple(run), sections["run_constrained"])


_PACKAGE_VARIABLES = ("PKG_NAME", "PKG_VERSION", "PKG_BUILDNUM")


@dataclass(frozen=True)
class _Described:
    """One variant's document and its outputs, skipped ones included."""

    document: document.Document
    outputs: tuple[outputs.OutputDescription, ...]

    @property
    def is_skipped(self) -> bool:
        return outputs.truth(self.document.section("build").get("skip"))

    @property
    def is_noarch(self) -> bool:
        build = self.document.section("build")
        return bool(build.get("noarch")) or outputs.truth(build.get("noarch_python"))


@dataclass(frozen=True)
class _FirstPass:
    """What the first pass over one variant found."""

    lines: tuple[selectors.Line, ...]
    described: _Described
    excerpts: excerpts.Excerpts


@dataclass(frozen=True)
class _VersionLookup:
    """Versions in the host environment: from the caller, else from the variant where that says enough."""

    lookup: Versions | None
    variant: Mapping[str, str]

    def exact(self, name: str) -> str | None:
        return self.lookup(name) if self.lookup is not None else None

    def pinned(self, name: str, rule: Any) -> str:
        bounds = {"min_pin": rule, "max_pin": rule} if isinstance(rule, str) else dict(rule)
        allowed = {key: bounds[key] for key in ("min_pin", "max_pin", "lower_bound", "upper_bound") if key in bounds}
        version = self.exact(name) or self.variant.get(name.replace("-", "_"), "").split(" ")[0].removesuffix(".*")
        places = len((allowed.get("max_pin") or "x").split("."))
        if not version or not version.replace(".", "").isalnum() or len(version.split(".")) < places:
            return name
        return f"{name} {pins.pin_range(version, **{'max_pin': None, 'min_pin': 'x.x.x.x.x.x', **allowed})}"


def _version_order(value: str) -> tuple[int, ...]:
    return tuple(int(part) for part in value.split(" ")[0].split(".") if part.isdigit())


def _run_exports(build: Mapping[str, Any]) -> RunExports:
    value = outputs.run_exports_of(build) or {}
    if isinstance(value, list):
        return RunExports(weak=tuple(value))
    return RunExports(**{kind: tuple(specs) for kind, specs in value.items()})


def _sources(parsed: document.Document) -> tuple[Source, ...]:
    value = parsed.meta.get("source") or []
    entries = value if isinstance(value, list) else [value]
    found = []
    for entry in entries:
        url = outputs.texts(entry.get("url"))
        found.append(
            Source(
                path=_text(entry.get("path")),
                url=url[0] if url else None,
                sha256=_text(entry.get("sha256")),
                git_url=_text(entry.get("git_url")),
                git_rev=_text(entry.get("git_rev") or entry.get("git_tag") or entry.get("git_branch")),
                folder=_text(entry.get("folder")),
                patches=outputs.texts(entry.get("patches")),
            )
        )
    return tuple(found)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _test(test: Mapping[str, Any]) -> OutputTest:
    return OutputTest(
        imports=outputs.texts(test.get("imports")),
        commands=outputs.texts(test.get("commands")),
        requires=outputs.texts(test.get("requires")),
        files=outputs.texts(test.get("files")),
        source_files=outputs.texts(test.get("source_files")),
        script=_text(test.get("script")),
    )


def _listing(candidate: _Candidate) -> dict[str, Any]:
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
