"""From the document of one variant to its outputs: which there are, and what each takes from the top level.

An output with a `build` section has that section and only the top level's build number; one without has the top
level's, except for the script, entry points and run_exports. An output of the top level's own name is merged with all
of it. If the top level requires one of its outputs and none has its name, it becomes a package of its own.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from slipway.base.errors import RecipeError, RecipeWarning
from slipway.recipe.functions import starred
from slipway.recipe.hashes import name_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from slipway.recipe.document import Document

MOST_OUTPUTS = 500
"""Each is looked at for each other one: with more, rendering takes minutes."""

_ENVIRONMENTS = ("build", "host", "run")
_BESIDE_BUILD = (
    "number", "string", "run_exports", "track_features", "features", "noarch", "noarch_python", "entry_points",
    "always_include_files",
)  # fmt: skip
"""What an output may say without a `build` section; beside one, only the number is read."""
_NOT_INHERITED = ("script", "entry_points", "noarch", "noarch_python", "run_exports")

_LONGEST_KEY = 200
"""File systems take names of 255 bytes; what is made beside a package adds its own endings."""


@dataclass(frozen=True)
class OutputDescription:
    """One output of one variant, before its build string is known.

    Attributes:
        index: position in the recipe's `outputs`; None for the top level's own package.
        requirements: section to match specs; `build`, `host`, `run`, `run_constrained` are always there.
        build: the build section in force.
        files: patterns of the files that it is made of; everything that its script installs where there are none.
        files_excluded: of these, the ones that do not count.
        has_own_script: whether the output itself says how it is built, rather than the top level.
        is_top_level: whether its text is the recipe's own rather than one entry of `outputs`.
        noarch_beside_build: whether it says `noarch` where a `build` section of its own hides it: conda-build puts
            such a package among those for every platform, and makes it for one.
    """

    name: str
    version: str
    index: int | None
    requirements: Mapping[str, tuple[str, ...]]
    build: Mapping[str, Any]
    test: Mapping[str, Any]
    about: Mapping[str, Any]
    script: str | None
    script_commands: tuple[str, ...]
    files: tuple[str, ...]
    files_excluded: tuple[str, ...]
    has_own_script: bool
    is_top_level: bool
    where: str
    noarch_beside_build: bool = False

    @property
    def number(self) -> int:
        return number_of(self.build, self.where)

    @property
    def noarch(self) -> str | None:
        if truth(self.build.get("noarch_python")):
            return "python"
        kind = self.build.get("noarch")
        return "generic" if kind is True else str(kind) if kind else None

    @property
    def is_skipped(self) -> bool:
        return truth(self.build.get("skip"))


def number_of(build: Mapping[str, Any], where: str) -> int:
    """The build number; 0 where none is set.

    Raises:
        RecipeError: it is no whole number, or negative.
    """
    written = str(build.get("number") or 0)
    if not re.fullmatch("[0-9]{1,18}", written):
        shown = written if len(written) <= 40 else f"{written[:40]}..."
        raise RecipeError(f"build number `{shown}` is not a whole number from 0", where=where, hint="such as `0`")
    return int(written)


def check_build_string(build_string: str, where: str) -> None:
    """Refuse characters that cannot be in a package's file name.

    Raises:
        RecipeError: there is one.
    """
    if bad := re.search(r"[^A-Za-z0-9_.+!]", build_string):
        raise RecipeError(
            f"the build string `{build_string}` holds `{bad[0]}`", where=where, hint="use letters, digits, `_` and `.`"
        )


def check_file_name(key: str, where: str) -> None:
    """Refuse name, version and build string that together are no file's name.

    Args:
        key: ``name-version-build``.

    Raises:
        RecipeError: they are too long.
    """
    if len(key) > _LONGEST_KEY:
        raise RecipeError(
            f"`{key[:40]}...` is {len(key)} characters long: name, version and build string name a file", where=where,
            hint=f"make them {_LONGEST_KEY} characters at most",
        )  # fmt: skip


def truth(value: Any) -> bool:
    """YAML's and conda-build's words for true."""
    return value is True or (isinstance(value, str) and value.strip().lower() in ("true", "yes", "on", "1"))


def texts(value: Any) -> tuple[str, ...]:
    """A list of strings; one string is a list of one, and empty items fall out."""
    if value is None or value is False:
        return ()
    items = value if isinstance(value, list) else [value]
    return tuple(str(item) for item in items if item is not None and str(item).strip())


def required_by_tests(tests: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What the environments of v1 tests hold beside the package."""
    for test in tests:
        requirements = test.get("requirements") or {}
        yield from requirements.get("run") or ()
        yield from requirements.get("build") or ()
        python = test.get("python")
        if python is not None:
            versions = texts(python.get("python_version")) or ("",)
            yield from (f"python {version}".strip() for version in versions)
            if python.get("pip_check", True):
                yield "pip"
        yield from (name for name in ("perl", "r", "ruby") if name in test)


def identity(document: Document) -> tuple[str, str]:
    """Name and version of the top level.

    Raises:
        RecipeError: one of them is missing or no name.
    """
    package = document.section("package")
    name, version = package.get("name"), package.get("version")
    if not name:
        raise RecipeError("the recipe has no `package/name`", where=document.where("package"), hint="add `name:`")
    _check_name(str(name), document.where("package", "name"))
    outputs = document.meta.get("outputs") or ()
    if not version and not (outputs and all(isinstance(out, Mapping) and out.get("version") for out in outputs)):
        raise RecipeError("the recipe has no `package/version`", where=document.where("package"), hint="add `version:`")
    return str(name), _version(version, document.where("package", "version"))


def _check_name(name: str, where: str) -> None:
    if not re.fullmatch(r"[a-z0-9_][a-z0-9_.\-]*", name):
        raise RecipeError(
            f"`{name}` cannot be a package name", where=where,
            hint="use lower-case letters, digits, `-`, `_` and `.`, and start with neither `-` nor `.`",
        )  # fmt: skip


def _version(value: Any, where: str) -> str:
    version = str(value if value is not None else "")
    if not re.fullmatch(r"([A-Za-z0-9_.+!]*[A-Za-z0-9][A-Za-z0-9_.+!]*)?", version):
        raise RecipeError(
            f"`{version}` cannot be a version", where=where, hint="use letters, digits, `.`, `_`, `+` and `!`, no `-`"
        )
    return version


def describe(document: Document, variant: Mapping[str, str], *, pins_own: bool) -> tuple[OutputDescription, ...]:
    """All outputs, skipped ones included, in the order in which the recipe lists them.

    Args:
        document: the rendered recipe.
        variant: the values in force.
        pins_own: whether the top level's requirements use `pin_subpackage`.

    Raises:
        RecipeError: an output without a name, or two with the same.
    """
    name, version = identity(document)
    top_build = document.section("build")
    number_of(top_build, document.where("build", "number"))
    listed = document.meta.get("outputs")
    if not listed:
        return (top_level(document, variant),)
    if len(listed) > MOST_OUTPUTS:
        raise RecipeError(
            f"the recipe has {len(listed)} outputs, more than {MOST_OUTPUTS}", where=document.where("outputs"),
            hint="each may require each other: make several recipes of it",
        )  # fmt: skip
    found: list[OutputDescription] = []
    for index, output in enumerate(listed):
        if not isinstance(output, Mapping):
            raise RecipeError(
                "each output maps keys to values", where=document.where("outputs", index), hint="start with `- name:`"
            )
        if str(output.get("type", "conda")) not in ("conda", "conda_v2"):
            raise RecipeError(
                f"outputs of type `{output['type']}` are not supported", where=document.where("outputs", index, "type"),
                hint="slipway builds conda packages",
            )  # fmt: skip
        own = str(output.get("name") or name)
        _check_name(own, document.where("outputs", index, "name"))
        if output in listed[:index]:
            said = RecipeWarning(
                f"output `{own}` is listed twice in the same words: it is built once, as in conda-build",
                where=document.where("outputs", index, "name"), hint="remove one of them",
            )  # fmt: skip
            warnings.warn(said, stacklevel=2)
            continue
        described = _output(document, index, output, own, (name, version), variant)
        if not described.is_skipped and any(other.name == own and not other.is_skipped for other in found):
            raise RecipeError(
                f"two outputs are called `{own}`", where=document.where("outputs", index, "name"),
                hint="give them different names, or skip one in each variant",
            )  # fmt: skip
        found.append(described)
    if not any(output.name == name for output in found) and (pins_own or _requires_output(document, found)):
        found.append(top_level(document, variant))
    return tuple(found)


def _requires_output(document: Document, outputs: Sequence[OutputDescription]) -> bool:
    names = {output.name for output in outputs}
    return any(name_of(spec) in names for spec in _sections(document.meta.get("requirements"))["run"])


def top_level(document: Document, variant: Mapping[str, str]) -> OutputDescription:
    """The top level as a build of its own, without its outputs."""
    name, version = identity(document)
    build = document.section("build")
    return OutputDescription(
        name=name, version=version, index=None,
        requirements=pinned(_sections(document.meta.get("requirements")), variant),
        build=build, test=document.section("test"), about=document.section("about"),
        script=None, script_commands=texts(build.get("script")), files=(), files_excluded=(), has_own_script=True,
        is_top_level=True, where=document.where("build", "number"),
    )  # fmt: skip


def _output(
    document: Document,
    index: int,
    output: Mapping[str, Any],
    name: str,
    top: tuple[str, str],
    variant: Mapping[str, str],
) -> OutputDescription:
    at = ("outputs", index)
    top_build = document.section("build")
    same = name == top[0]
    requirements = _sections(output.get("requirements"))
    own_build = output.get("build")
    if same:
        inherited = _sections(document.meta.get("requirements"))
        given = _given_sections(output.get("requirements"))
        requirements = {key: requirements[key] if key in given else value for key, value in inherited.items()}
        build = {**top_build, **(own_build or {})}
    elif own_build is not None or "build" in output:
        build = {"number": output.get("number", top_build.get("number")), **(own_build or {})}
    else:
        build = {key: value for key, value in top_build.items() if key not in _NOT_INHERITED}
    if not same and "build" not in output:
        build |= {key: output[key] for key in _BESIDE_BUILD if output.get(key) is not None}
    if not same:  # "x depends on itself" is what a shared requirements template makes of the output it names
        requirements = {
            key: tuple(spec for spec in specs if name_of(spec) != name) if key in _ENVIRONMENTS else specs
            for key, specs in requirements.items()
        }
    about = {**document.section("about"), **(output.get("about") or {})} if same else (
        output["about"] if output.get("about") else document.section("about")
    )  # fmt: skip
    test = output.get("test") or (document.section("test") if same else {})
    script, commands = _script(output.get("script"), build)
    included, excluded = _files(output.get("files"), document.where(*at, "files"))
    return OutputDescription(
        name=name, version=_version(output.get("version") or top[1], document.where(*at, "version")), index=index,
        requirements=pinned(requirements, variant), build=build, test=test, about=about,
        script=script, script_commands=commands, files=included, files_excluded=excluded,
        has_own_script=bool(texts(output.get("script")) or texts((own_build or {}).get("script"))),
        is_top_level=same, where=document.where(*at, "build", "number"),
        noarch_beside_build=_warn_of_hidden_keys(document, at, output) if own_build and not same else False,
    )  # fmt: skip


def _warn_of_hidden_keys(document: Document, at: tuple[str | int, ...], output: Mapping[str, Any]) -> bool:
    """Warn of what an output says beside its `build`, where conda-build reads it not; whether `noarch` is there."""
    for key in sorted((set(_BESIDE_BUILD) - {"number"}) & output.keys() - output["build"].keys()):
        said = RecipeWarning(
            f"`{key}` beside `build` does not count, as in conda-build", where=document.where(*at, key),
            hint=f"write `{key}` into the output's `build` section", code="key-beside-build",
        )  # fmt: skip
        warnings.warn(said, stacklevel=2)
    return bool(output.get("noarch") or output.get("noarch_python"))


def _files(value: Any, where: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Patterns of files to take, and of those to leave out: `files` is a list, or maps `include` and `exclude`."""
    if not isinstance(value, Mapping):
        return texts(value), ()
    if unknown := sorted(set(value) - {"include", "exclude"}):
        raise RecipeError(f"`{unknown[0]}` is no key of `files`", where=where, hint="known: exclude, include")
    included, excluded = texts(value.get("include")), texts(value.get("exclude"))
    return included or (("**",) if excluded else ()), excluded


def _script(value: Any, build: Mapping[str, Any]) -> tuple[str | None, tuple[str, ...]]:
    """An output's `script` is a file's name; `build/script` holds commands."""
    lines = texts(value)
    if len(lines) == 1 and " " not in lines[0].strip() and "." in lines[0]:
        return lines[0].strip(), ()
    return None, lines or texts(build.get("script"))


def _given_sections(value: Any) -> frozenset[str]:
    if isinstance(value, Mapping):
        return frozenset(value)
    return frozenset({"host", "run"}) if value else frozenset()


def _sections(value: Any) -> dict[str, tuple[str, ...]]:
    """Requirements by section; a plain list counts for host and run."""
    if not isinstance(value, Mapping):
        value = {"host": value, "run": value} if value else {}
    sections = ("build", "host", "run", "run_constrained")
    return {section: tuple(spec.strip() for spec in texts(value.get(section))) for section in sections}


def pinned(requirements: Mapping[str, tuple[str, ...]], variant: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Give bare names of variant keys their value, in build and host: ``python`` -> ``python 3.11.*``.

    A key's ``_`` matches ``-`` too. ``numpy x.x`` takes the variant's value in every section.
    """
    result = dict(requirements)
    bare = {key.replace("-", "_"): value for key, value in variant.items()}
    for section in _ENVIRONMENTS:
        specs = []
        for spec in requirements[section]:
            parts = spec.split()
            value = bare.get(parts[0].replace("-", "_"))
            if value is not None and ((len(parts) == 1 and section != "run") or parts[1:] == ["x.x"]):
                spec = starred(f"{parts[0]} {value}")
            specs.append(spec)
        result[section] = tuple(specs)
    return result


def run_exports_of(build: Mapping[str, Any]) -> Any:
    """`run_exports` in the form the recipe gives it: None, a list, or lists by kind."""
    value = build.get("run_exports")
    if isinstance(value, Mapping):
        return {kind: list(texts(specs)) for kind, specs in value.items()}
    return list(texts(value)) if value else None
