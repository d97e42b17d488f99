"""recipe.yaml from meta.yaml: sections and keys under their new names, and how both renderings compare."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import yaml
from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from slipway.channel.specs import strict_spec
from slipway.commands._meta_tree import Choices, as_list, as_scalar, both
from slipway.recipe.choose import used_variant
from slipway.recipe.fields import ABOUT_KEYS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from slipway.commands._meta_tree import MetaTree
    from slipway.model import RenderedOutput

Section = dict[str, Any]

_SOURCE: Final = {
    "path": "path", "fn": "file_name", "sha256": "sha256", "md5": "md5", "folder": "target_directory",
    "git_url": "git", "git_rev": "rev", "git_tag": "tag", "git_branch": "branch", "git_depth": "depth",
}  # fmt: skip
_LISTS: Final = {
    "ignore_run_exports": ("requirements", "ignore_run_exports", "by_name"),
    "ignore_run_exports_from": ("requirements", "ignore_run_exports", "from_package"),
    "missing_dso_whitelist": ("build", "dynamic_linking", "missing_dso_allowlist"),
    "runpath_whitelist": ("build", "dynamic_linking", "rpath_allowlist"),
    "rpaths": ("build", "dynamic_linking", "rpaths"),
    "always_include_files": ("build", "always_include_files"),
    "no_link": ("build", "always_copy_files"),
    "entry_points": ("build", "python", "entry_points"),
    "skip_compile_pyc": ("build", "python", "skip_pyc_compilation"),
    "force_use_keys": ("build", "variant", "use_keys"),
    "force_ignore_keys": ("build", "variant", "ignore_keys"),
    "ignore_prefix_files": ("build", "prefix_detection", "ignore"),
}
_TRUTHS: Final = {
    "binary_relocation": ("build", "dynamic_linking", "binary_relocation"),
    "merge_build_host": ("build", "merge_build_and_host_envs"),
    "python_version_independent": ("build", "python", "version_independent"),
}
_KINDS: Final = {"weak_constrains": "weak_constraints", "strong_constrains": "strong_constraints"}
TELLS_APART: Final = frozenset(
    {"python", "numpy", "perl", "lua", "r_base", "cuda_compiler_version", "blas_impl", "mpi", "libblas"}
)
"""Keys of which a recipe may have several values."""

STAGING: Final = "top-level"
"""What the staging output is called that stands for the top level's own build."""


class Converter:
    """Converts one recipe; `left_out` says afterwards what recipe.yaml has no word for.

    Args:
        files: names of the files beside meta.yaml.
    """

    def __init__(self, tree: MetaTree, files: Iterable[str]) -> None:
        self.tree = tree
        self.files = frozenset(files)
        self.left_out: list[str] = []

    def convert(self) -> Section:
        """recipe.yaml, as plain values."""
        root = self.tree.root
        outputs = [one for _, value in root.get("outputs", ()) for one in value]
        recipe: Section = {"schema_version": 1}
        if self.tree.context:
            recipe["context"] = {key: _number(value) for key, value in self.tree.context.items()}
        package = self._one(root, "package")
        names = {key: as_scalar(choices) for key, choices in package.items()}
        top = self._described(root, "", is_top=not outputs)
        if not outputs:
            return recipe | {"package": names} | top
        requirements, script = top.pop("requirements", None), top.get("build", {}).pop("script", None)
        tests = top.pop("tests", None)
        same = next((one for _, one in outputs if as_scalar(one["name"]) == names.get("name")), None)
        if same is not None:  # it has what it does not say from the top level
            same |= {key: root[key] for key in ("requirements", "test") if key in root and key not in same}
        elif tests:
            self.left_out.append("test: the top level's, which conda-build runs for an output of the same name only")
        staging: Section | None = None
        if script is not None or "build.sh" in self.files:
            needs = {key: specs for key, specs in (requirements or {}).items() if key in ("build", "host")}
            staging = {"staging": {"name": STAGING}, "source": top.pop("source", None), "requirements": needs}
            staging["build"] = {"script": script if script is not None else {"file": "build.sh"}}
        recipe |= {"recipe": names} | {key: section for key, section in top.items() if section}
        recipe["outputs"] = [_filled(staging)] if staging is not None else []
        recipe["outputs"] += as_list([(None, outputs)], lambda one: self._output(one, staging))
        return recipe

    def _output(self, entry: Mapping[str, Choices], staging: Section | None) -> Section:
        name = as_scalar(entry["name"])
        package = {key: as_scalar(entry[key]) for key in ("name", "version") if key in entry}
        described = self._described(entry, f"output {name}: ", is_top=False)
        build = described.setdefault("build", {})
        if "script" in entry:
            build["script"] = {"file": as_scalar(entry["script"])} | (
                {"interpreter": as_scalar(entry["script_interpreter"])} if "script_interpreter" in entry else {}
            )
        for condition, files in entry.get("files", ()):
            if isinstance(files, dict):
                build["files"] = {key: _globs(choices) for key, choices in files.items()}
            else:
                build["files"] = [*build.get("files", ()), *_globs([(condition, files)])]
        inherits = staging is not None and ("script" in build or "files" in build)
        section: Section = {"package": package}
        if inherits:
            section["inherit"] = {"from": STAGING, "run_exports": False}
        known = {"name", "version", "script", "script_interpreter", "files", "build", "requirements", "test", "about"}
        self._leave_out(f"output {name}: ", entry, {*known, "extra", "source", "number", "string", "noarch"})
        return section | _filled(described)

    def _described(self, root: Mapping[str, Choices], of: str, *, is_top: bool) -> Section:
        """The sections that top level and outputs share."""
        found: Section = {"source": self._sources(root, of), "build": {}, "requirements": {}}
        beside = {key: root[key] for key in ("number", "string", "noarch") if key in root}
        self._build(self._one(root, "build") | beside, found, of)
        requirements = root.get("requirements", ())
        for condition, value in requirements:
            sections = value if isinstance(value, dict) else {"host": [(None, value)], "run": [(None, value)]}
            for key, choices in sections.items():
                new = "run_constraints" if key == "run_constrained" else key
                guarded = [(both(condition, inner), item) for inner, item in choices]
                found["requirements"][new] = as_list(guarded, _spec)
        found["requirements"] = {key: specs for key, specs in found["requirements"].items() if specs}
        found["tests"] = self._tests(self._one(root, "test"), of, is_top=is_top)
        found["about"] = self._about(self._one(root, "about"), of)
        found["extra"] = _plain(self._one(root, "extra"))
        if not of:
            self._leave_out(
                "", root, {"package", "source", "build", "requirements", "test", "about", "extra", "outputs"}
            )
        return _filled(found)

    @staticmethod
    def _one(root: Mapping[str, Choices], key: str) -> dict[str, Choices]:
        """A section; its own condition becomes that of all in it."""
        found: dict[str, Choices] = {}
        for condition, value in root.get(key, ()):
            for name, choices in value.items() if isinstance(value, dict) else ():
                found.setdefault(name, []).extend((both(condition, inner), item) for inner, item in choices)
        return found

    def _sources(self, root: Mapping[str, Choices], of: str) -> list[Any]:
        return as_list(list(root.get("source", ())), lambda entry: self._source(entry, of))

    def _source(self, entry: Mapping[str, Choices], of: str) -> Section:
        found: Section = {new: as_scalar(entry[old]) for old, new in _SOURCE.items() if old in entry}
        if "url" in entry:
            addresses = as_list(entry["url"])
            plain = len(addresses) == 1 or any(condition for condition, _ in entry["url"])
            one = plain and not isinstance(entry["url"][0][1], list)
            found["url"] = as_scalar(entry["url"]) if one else addresses
        if "patches" in entry:
            found["patches"] = as_list(entry["patches"])
        self._leave_out(f"{of}source/", entry, {*_SOURCE, "url", "patches"})
        return found

    def _build(self, build: Mapping[str, Choices], found: Section, of: str) -> None:
        section: Section = found["build"]
        for key, choices in build.items():
            if key == "number":
                section["number"] = _number(as_scalar(choices))
            elif key == "string":
                number = as_scalar(build["number"]) if "number" in build else "0"
                text = re.sub(r"\bPKG_HASH\b", "hash", as_scalar(choices))
                section[key] = re.sub(r"\$\{\{ PKG_BUILDNUM \}\}", number, text)
            elif key == "noarch":
                section[key] = as_scalar(choices)
            elif key == "skip":
                conditions = [condition or "true" for condition, value in choices if _is_true(value)]
                section["skip"] = conditions
            elif key == "run_exports":
                found["requirements"]["run_exports"] = self._run_exports(choices)
            elif key in _LISTS:
                _put(found, _LISTS[key], as_list(choices))
            elif key in _TRUTHS:
                _put(found, _TRUTHS[key], _is_true(as_scalar(choices)))
            elif key == "error_overlinking":
                _put(found, ("build", "dynamic_linking", "overlinking_behavior"),
                     "error" if _is_true(as_scalar(choices)) else "ignore")  # fmt: skip
            elif key == "detect_binary_files_with_prefix":
                _put(found, ("build", "prefix_detection", "ignore_binary_files"), not _is_true(as_scalar(choices)))
            elif key not in ("script", "script_env"):
                self.left_out.append(f"{of}build/{key}")
        script = self._script(build)
        if script:
            section["script"] = script

    @staticmethod
    def _script(build: Mapping[str, Choices]) -> Any:
        lines = as_list(build.get("script", []))
        asked = as_list(build.get("script_env", []))
        if not asked:
            return lines[0] if len(lines) == 1 and isinstance(lines[0], str) else lines
        section: Section = {"content": lines} if lines else {"file": "build.sh"}
        variables = dict(name.split("=", 1) for name in asked if isinstance(name, str) and "=" in name)
        secrets = [name for name in asked if isinstance(name, str) and "=" not in name]
        return section | _filled({"env": variables, "secrets": secrets})

    @staticmethod
    def _run_exports(choices: Choices) -> Any:
        kinds: dict[str, list[Any]] = {}
        for condition, value in choices:
            for kind, specs in value.items() if isinstance(value, dict) else [("weak", [(None, value)])]:
                guarded = [(both(condition, inner), item) for inner, item in specs]
                kinds.setdefault(_KINDS.get(kind, kind), []).extend(as_list(guarded, _spec))
        return kinds

    def _tests(self, test: Mapping[str, Choices], of: str, *, is_top: bool) -> list[Section]:
        tests: list[Section] = []
        commands = as_list(test.get("commands", []))
        if is_top:
            runs = {
                "run_test.py": "python run_test.py",
                "run_test.pl": "perl run_test.pl",
                "run_test.sh": "bash -ex run_test.sh",
            }
            found = {name: command for name, command in runs.items() if name in self.files}
            commands = [*found.values(), *commands]
            files = [*found, *as_list(test.get("files", []))]
        else:
            files = as_list(test.get("files", []))
        checks = "pip check" in commands
        imports = as_list(test.get("imports", []))
        if imports:
            tests.append({"python": {"imports": imports, "pip_check": checks}})
        if checks and imports:
            commands.remove("pip check")
        if commands:
            given = {"recipe": files, "source": as_list(test.get("source_files", []))}
            needs = {"run": [spec for spec in as_list(test.get("requires", []), _spec) if spec != "pip" or not checks]}
            tests.append({"script": commands} | _filled({"requirements": _filled(needs), "files": _filled(given)}))
        tests += [{"downstream": name} for name in as_list(test.get("downstreams", []))]
        self._leave_out(f"{of}test/", test, {"imports", "commands", "requires", "files", "source_files", "downstreams"})
        return tests

    def _about(self, about: Mapping[str, Choices], of: str) -> Section:
        found: Section = {new: as_scalar(about[old]) for old, new in ABOUT_KEYS.items() if old in about}
        found.pop("license_family", None)
        if "license" in about:
            found["license"] = _licence(as_scalar(about["license"]))
        if "license_file" in about:
            found["license_file"] = as_list(about["license_file"])
        self._leave_out(f"{of}about/", about, {*ABOUT_KEYS, "license", "license_file"} - {"license_family"})
        return found

    def _leave_out(self, of: str, section: Mapping[str, Choices], known: set[str]) -> None:
        self.left_out += [f"{of}{key}" for key in section if key not in known]


def _globs(choices: Choices) -> list[Any]:
    """Files; a folder stands for all that is in it."""

    def glob(name: str) -> str:
        return f"{name.rstrip('/')}/**" if name.endswith("/") else name

    return as_list(choices, glob)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(choices[-1][1]) for key, choices in value.items()}
    return [_plain(item) for _, item in value] if isinstance(value, list) else value


def _put(found: Section, path: tuple[str, ...], value: Any) -> None:
    for step in path[:-1]:
        found = found.setdefault(step, {})
    found[path[-1]] = value


def _filled(section: Mapping[str, Any]) -> Section:
    return {key: value for key, value in section.items() if value not in (None, {}, [], "")}


def _is_true(value: Any) -> bool:
    return str(value).lower() in ("true", "1", "yes", "on")


def _number(text: Any) -> Any:
    return int(text) if isinstance(text, str) and re.fullmatch(r"0|[1-9]\d*", text) else text


def _spec(text: str) -> str:
    """A requirement, its version made explicit: recipe.yaml takes no bare ones."""
    words = re.findall(r"(?:\$\{\{.*?\}\}|[^\s])+", text.split(" #")[0])
    if len(words) < 2 or words[0].startswith("${{") or "${{" not in words[1] or not words[1].startswith("${{"):
        return strict_spec(" ".join(words)) if "${{" not in words[0] else " ".join(words)
    version = f"=={words[1]}" if len(words) > 2 else words[1] if words[1].endswith("*") else f"{words[1]}.*"
    return " ".join([words[0], version, *words[2:]])


def _licence(text: str) -> str:
    try:
        return str(canonicalize_license_expression(text))
    except InvalidLicenseExpression:
        return text if "${{" in text else "LicenseRef-" + re.sub(r"[^\w.-]", "-", text)


class _RecipeDumper(yaml.SafeDumper):
    """Writes lists as people do: indented, and long texts line by line."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


_RecipeDumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None),
)


def to_text(tree: MetaTree, recipe: Section) -> str:
    """recipe.yaml, with the comment that stood above meta.yaml."""
    parts = [
        yaml.dump({key: section}, Dumper=_RecipeDumper, sort_keys=False, width=1000, allow_unicode=True)
        for key, section in recipe.items()
    ]
    return "\n".join([*(["\n".join(tree.comment) + "\n"] if tree.comment else []), *parts])


@dataclass(frozen=True)
class Comparison:
    """How two renderings compare.

    Attributes:
        differences: what the packages do not have in common.
        notes: what follows from how rattler-build names packages, and is the same package.
    """

    differences: tuple[str, ...]
    notes: tuple[str, ...]


def compare(before: Sequence[RenderedOutput], after: Sequence[RenderedOutput]) -> Comparison:
    """Compare what meta.yaml and recipe.yaml make."""
    old = {(one.name, _values(one)): one for one in before}
    new = {(one.name, _values(one)): one for one in after}
    for key in old.keys() - new.keys():  # the one variant of a name has not the same values, and is the same
        others = [other for other in new.keys() - old.keys() if other[0] == key[0]]
        if len(others) == 1 and sum(name == key[0] for name, _ in old) == 1:
            new[key] = new.pop(others[0])
    names = {one.name for one in before}
    found = [f"{old[key].key}: only meta.yaml makes it" for key in old.keys() - new.keys()]
    found += [f"{new[key].key}: only recipe.yaml makes it" for key in new.keys() - old.keys()]
    notes = []
    for key in old.keys() & new.keys():
        found += [f"{old[key].key}: {line}" for line in _differences(old[key], new[key], names)]
        if old[key].build_string != new[key].build_string:
            more = sorted(new[key].hash_input.keys() - old[key].hash_input.keys())
            notes.append(
                f"{old[key].key} becomes {new[key].build_string}: {', '.join(more) or 'nothing more'} is hashed, too"
            )
    return Comparison(tuple(sorted(found)), tuple(sorted(notes)))


def _values(output: RenderedOutput) -> tuple[tuple[str, str], ...]:
    """What tells the variants of one output apart: not what it pins, nor what compiled it."""
    used = used_variant(output)
    return tuple((key, value) for key, value in used.items() if key in TELLS_APART)


def _differences(old: RenderedOutput, new: RenderedOutput, names: Collection[str]) -> Iterator[str]:
    for field in ("version", "build_number", "subdir", "noarch"):
        one, two = getattr(old, field), getattr(new, field)
        if one != two:
            yield f"{field.replace('_', ' ')} {one}, not {two}"
    for key, value in old.hash_input.items():
        if new.hash_input.get(key) != value:
            yield f"hashed {key}: {value}, not {new.hash_input.get(key)}"
    for part, sections in (("requirements", ("build", "host", "run", "run_constrained")),
                           ("run_exports", ("weak", "strong", "noarch"))):  # fmt: skip
        for section in sections:
            one, two = (
                {_comparable(spec, section, names) for spec in getattr(getattr(side, part), section)}
                for side in (old, new)
            )
            yield from (f"{part} {section}: `{spec}` is gone" for spec in sorted(one - two))
            yield from (f"{part} {section}: `{spec}` is new" for spec in sorted(two - one))


def _comparable(spec: str, section: str, names: Collection[str]) -> str:
    """A requirement without the build string of an own package, and without what a language's run_exports will say."""
    words = strict_spec(spec).split()
    if words[0] in names and len(words) == 3:
        return " ".join(words[:2])
    return words[0] if section == "run" and words[0] in ("python", "r-base") else " ".join(words)
