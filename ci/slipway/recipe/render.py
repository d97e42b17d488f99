"""The renderer: one recipe and its configurations in, every output of every variant out, in build order.

Each variant is rendered twice. The first pass reads pins as bare names, as conda-build does while nothing is known: it
decides which keys each output uses, and from these the hash and the build string. The second pass knows the build
strings, so that ``pin_subpackage(..., exact=True)`` can be written out.

Outputs are rendered per distinct value of the keys that they use. Among variants that differ in other keys only, the
last one stands for all.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from slipway.base.errors import RecipeWarning
from slipway.base.platform import NOARCH
from slipway.base.secrets import names_a_secret
from slipway.recipe import (
    config,
    document,
    excerpts,
    finish,
    functions,
    hashes,
    order,
    outputs,
    overlay,
    selectors,
)
from slipway.recipe.stages import Candidate, Described, FirstPass, Recipe, SolvedOutputs
from slipway.recipe.templates import RenderedText, TemplateRenderer
from slipway.recipe.usage import REQUIREMENTS, finder_of, mentions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from slipway.base.platform import Platform
    from slipway.model import RenderedOutput
    from slipway.recipe.limits import RenderLimits

_ALWAYS_SPANNED = ("target_platform", "channel_targets", "python")
_PACKAGE_VARIABLES = ("PKG_NAME", "PKG_VERSION", "PKG_BUILDNUM")


class Renderer:
    """Renders one recipe against one stack of configurations; see `slipway.recipe.render`."""

    def __init__(
        self,
        recipe: Recipe,
        configs: Sequence[config.VariantConfig],
        *,
        platform: Platform,
        environ: Mapping[str, str],
        solved: SolvedOutputs | None,
        limits: RenderLimits,
    ) -> None:
        self._recipe = recipe
        self._platform = platform
        self._environ = environ
        self._shown = {name: value for name, value in environ.items() if not names_a_secret(name)}
        self._solved = solved or {}
        text = "\n".join((recipe.text, *(recipe.read_file(name) or "" for name in ("build.sh", "bld.bat"))))
        self.space = config.combine(
            configs, platform=platform, may_use=lambda key: key in _ALWAYS_SPANNED or mentions(text, key)
        )
        self._keys = frozenset(self.space.variants[0])
        self._finder = finder_of(self._keys)
        self._lines = selectors.split_lines(recipe.text)
        self._selected_numbers = frozenset(line.number for line in self._lines if line.selector is not None)
        self._templates = TemplateRenderer(recipe.path, recipe.read_file, limits)
        self._documents: dict[RenderedText, document.Document] = {}
        self._first_pass: dict[tuple[str, ...], FirstPass] = {}

    def render(self) -> tuple[RenderedOutput, ...]:
        """Every output, in build order."""
        candidates: dict[tuple[object, ...], Candidate] = {}
        for variant in self._matrix():
            for candidate in self._candidates(variant):
                candidates[candidate.identity] = candidate
        self._warn_of_lost_variants(candidates.values())
        ordered = order.in_build_order({candidate.file: candidate for candidate in candidates.values()}.values())
        return tuple(self._finished(candidate, ordered) for candidate in ordered)

    def _warn_of_lost_variants(self, candidates: Iterable[Candidate]) -> None:
        """Say which packages go under in another of their name; one for every platform is meant to be built once."""
        files: dict[tuple[str, ...], list[Candidate]] = {}
        for candidate in candidates:
            files.setdefault(candidate.file, []).append(candidate)
        for (subdir, *file), same in files.items():
            if len(same) == 1 or subdir == NOARCH:
                continue
            used = sorted(frozenset[str]().union(*(one.used for one in same)))
            values = {key: list(dict.fromkeys(one.variant.get(key, "") for one in same)) for key in used}
            differing = "; ".join(f"`{key}`: {', '.join(found)}" for key, found in values.items() if len(found) > 1)
            said = RecipeWarning(
                f"{len(same)} variants make `{'-'.join(file)}` ({differing}): only the last is built",
                where=same[-1].output.where, code="variants-of-one-name",
                hint="let its build string tell them apart: a language belongs to `run`, too, a `string` of the "
                "recipe's own holds `{{ PKG_HASH }}` or the key",
            )  # fmt: skip
            warnings.warn(said, stacklevel=2)

    def _finished(self, candidate: Candidate, everything: Sequence[Candidate]) -> RenderedOutput:
        """The second pass: pins read versions and build strings, of this variant where it has the output."""
        variant = dict(candidate.variant)
        known = {other.output.name: other for other in (*everything, *self._candidates(variant))}
        found = {name: (other.output.version, other.build_string) for name, other in known.items()}
        versions = finish.VersionLookup(candidate.solved.versions if candidate.solved else None, variant)
        skipped = {output.name for output in self._first(variant).described.outputs} - found.keys()
        pins = functions.ResolvedPins(found, versions.exact, skipped)
        described = self._described(variant, self._first(variant).lines, pins)
        return finish.finished(
            candidate, described, self._recipe, versions,
            used_at_top=self._used_at_top(variant),
            pin_run_as_build=self.space.shared.get("pin_run_as_build") or {},
            environ=self._environ, platform=self._platform,
        )  # fmt: skip

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

    def _first(self, variant: dict[str, str]) -> FirstPass:
        """The first pass over a variant, made once."""
        key = tuple(variant.values())
        if key not in self._first_pass:
            lines = self._selected(variant)
            cut = excerpts.cut(self._lines, lines)
            self._first_pass[key] = FirstPass(lines, self._described(variant, lines, functions.NamesOnly()), cut)
        return self._first_pass[key]

    def _selected(self, variant: Mapping[str, str]) -> tuple[selectors.Line, ...]:
        names = selectors.namespace({**self.space.shared, **variant}, platform=self._platform, environ=self._shown)
        kept = selectors.select(self._lines, names, self._recipe.path)
        if not self._first_pass:
            selectors.warn_of_unknown_names(self._lines, names, self._recipe.path)
        return kept

    def _used_at_top(self, variant: dict[str, str]) -> frozenset[str]:
        first = self._first(variant)
        same = next((output for output in first.described.outputs if output.is_top_level), None)
        index = same.index if same is not None else None
        excerpt = first.excerpts.of(index, is_top_level=True)
        requirements = same.requirements if same is not None else {}
        return self._used_in(excerpt, requirements) | self._used_in_build_script() | self._always_used()

    def _always_used(self) -> frozenset[str]:
        return frozenset({"target_platform", "channel_targets"}) & self._keys

    def _used_anywhere(self, variant: dict[str, str]) -> frozenset[str]:
        whole = self._first(variant).excerpts.whole
        in_recipe = self._finder.in_selectors(whole.written) | self._finder.in_text(whole.selected)
        return in_recipe | self._used_in_build_script() | self._always_used()

    def _used_in_build_script(self) -> frozenset[str]:
        used = self._used_in_script("build.sh")
        return used | self._used_in_script("bld.bat") if self._platform.is_windows else used

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
    ) -> Described:
        package: dict[str, str] = {}
        for _ in range(2):  # once more if the text names the package that the first time found
            inputs = functions.ContextInputs(
                variant={**self.space.shared, **variant},
                platform=self._platform,
                environ=self._shown,
                pins=answers,
                recipe_dir=str(self._recipe.directory),
                read_file=self._recipe.read_file,
                package=package,
            )
            text = self._templates.render(lines, functions.template_context(inputs))
            if text not in self._documents:
                written = document.read(text, self._recipe.path, self._selected_numbers)
                self._documents[text] = overlay.overlaid(written, self._recipe.read_file)
            parsed = self._documents[text]
            if package or not any(word in self._recipe.text for word in _PACKAGE_VARIABLES):
                break
            name, version = outputs.identity(parsed)
            number = outputs.number_of(parsed.section("build"), parsed.where("build", "number"))
            package = {"name": name, "version": version, "number": str(number)}
        return Described(parsed, outputs.describe(parsed, variant, pins_own=excerpts.pins_at_top_level(lines)))

    def _candidates(self, variant: dict[str, str]) -> list[Candidate]:
        first = self._first(variant)
        return [
            self._candidate(output, variant, first.excerpts.of(output.index, is_top_level=output.is_top_level))
            for output in first.described.outputs
            if not output.is_skipped
        ]

    def _candidate(
        self, output: outputs.OutputDescription, variant: dict[str, str], excerpt: excerpts.Excerpt
    ) -> Candidate:
        used = self._used_by(output, excerpt)
        section = REQUIREMENTS.search(excerpt.selected)
        numpy_named = bool(section and hashes.NUMPY_XX.search(section[0]))
        contents = hashes.hash_input(
            used, variant, output.requirements,
            ignore_version=self._shared_list("ignore_version"),
            numpy_in_build_string=numpy_named,
        )  # fmt: skip
        written = str(output.build["string"]) if output.build.get("string") else ""

        def build_string(contents: Mapping[str, str], versions: Mapping[str, str] | None) -> str:
            if written and not excerpt.places_hash:
                return written
            without_hash = written or hashes.default_build_string(
                variant, output.requirements, number=output.number, noarch=output.noarch,
                numpy_in_build_string=numpy_named, features=outputs.texts(output.build.get("features")),
                versions=versions,
            )  # fmt: skip
            return hashes.with_hash(without_hash, contents)

        string = build_string(contents, None)
        unsolved = f"{output.name}-{output.version}-{string}"
        solved = self._solved.get(unsolved)
        if solved is not None:
            contents |= hashes.virtual_packages(solved.virtual)
            string = build_string(contents, solved.versions)
        outputs.check_build_string(string, output.where)
        outputs.check_file_name(f"{output.name}-{output.version}-{string}", output.where)
        subdir = NOARCH if output.noarch or output.noarch_beside_build else variant["target_platform"]
        return Candidate(output, variant, used, contents, string, subdir, unsolved, solved)


def _version_order(value: str) -> tuple[int, ...]:
    return tuple(int(part) for part in value.split(" ")[0].split(".") if part.isdigit())
