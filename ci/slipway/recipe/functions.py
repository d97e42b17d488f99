"""What templates may name besides variant keys: the recipe functions, conda's variables, and the environment."""

from __future__ import annotations

import datetime
import difflib
import json
import re
import time
import tomllib
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, NoReturn, Protocol

import yaml

from slipway.base.errors import RecipeError
from slipway.recipe import defaults, selectors
from slipway.recipe.pins import pin_range

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from slipway.base.platform import Platform

_BARE_VERSION: Final = re.compile(r"[\w.\-]+")
_NEEDS_RUNNING: Final = (
    "load_setup_py_data", "load_setuptools", "load_npm", "installed", "resolved_packages", "ccache"
)  # fmt: skip
_DATETIME: Final = SimpleNamespace(
    **{name: getattr(datetime, name) for name in ("date", "datetime", "time", "timedelta", "timezone", "UTC")}
)
_TIME: Final = SimpleNamespace(
    **{name: getattr(time, name) for name in ("time", "gmtime", "localtime", "mktime", "strftime", "strptime")}
)
"""What templates may use of the two modules, which know the rest of the process."""


class Pins(Protocol):
    """Answers for `pin_subpackage` and `pin_compatible`."""

    def subpackage(self, name: str, *, exact: bool, bounds: Mapping[str, str | None]) -> str:
        """Match spec for another output of the recipe."""

    def compatible(self, name: str, *, exact: bool, bounds: Mapping[str, str | None]) -> str:
        """Match spec for a package of the host environment."""


class NamesOnly:
    """Pins as they read before anything is known about versions: the bare name. Listings show this form."""

    def subpackage(self, name: str, *, exact: bool, bounds: Mapping[str, str | None]) -> str:
        return name

    def compatible(self, name: str, *, exact: bool, bounds: Mapping[str, str | None]) -> str:
        return name


@dataclass(frozen=True)
class ResolvedPins:
    """Pins with versions.

    Attributes:
        outputs: version and build string of each output of this variant, by name.
        versions: exact version of a package in the host environment, or None.
        skipped: further outputs, which no variant builds.
    """

    outputs: Mapping[str, tuple[str, str]]
    versions: Callable[[str], str | None]
    skipped: Collection[str] = ()

    def subpackage(self, name: str, *, exact: bool, bounds: Mapping[str, str | None]) -> str:
        if name not in self.outputs:
            if name in self.skipped:
                return name
            known = sorted({*self.outputs, *self.skipped})
            close = [f"did you mean `{other}`? " for other in difflib.get_close_matches(name, known, n=1)]
            raise RecipeError(
                f"`pin_subpackage` names `{name}`, which is no output of this recipe",
                code="pin-of-no-output",
                hint=f"{''.join(close)}The recipe's outputs are {', '.join(known)}; `pin_compatible` takes packages of "
                "others",
            )
        version, build_string = self.outputs[name]
        return f"{name} {version} {build_string}" if exact else f"{name} {pin_range(version, **bounds)}"

    def compatible(self, name: str, *, exact: bool, bounds: Mapping[str, str | None]) -> str:
        version = self.versions(name)
        if version is None and not bounds.get("lower_bound"):
            upper = bounds.get("upper_bound")
            return f"{name} <{upper}" if upper else name
        if exact:
            return f"{name} {version}"
        return f"{name} {pin_range(version or '0', **bounds)}"


def starred(spec: str) -> str:
    """``python 3.11`` -> ``python 3.11.*``; specs with operators, stars or a build string stay."""
    parts = spec.split()
    if len(parts) != 2 or not _BARE_VERSION.fullmatch(parts[1]) or parts[1] == "x.x":
        return spec
    return f"{parts[0]} {parts[1]}.*"


def toolchain(language: str, kind: str, variant: Mapping[str, Any], platform: Platform) -> str:
    """``compiler('cxx')`` -> ``gxx_linux-64 14.*``: package, target and version by the variant's keys.

    Args:
        language: ``c``, ``cxx``, ``cuda``, ...
        kind: ``compiler`` or ``stdlib``.
    """
    target = defaults.target_of(variant, platform)
    package = variant.get(f"{language}_{kind}", language)
    version = variant.get(f"{language}_{kind}_version")
    return starred(f"{package}_{target} {version}") if version else f"{package}_{target}"


def cdt(name: str, variant: Mapping[str, Any], platform: Platform) -> str:
    """``cdt('libx11')`` -> ``libx11-cos6-x86_64``: a package of the core dependency tree."""
    target = defaults.target_of(variant, platform)
    architecture = variant.get("cdt_arch", target.cpu)
    distribution = variant.get("cdt_name", "cos6" if target.is_x86 else "cos7")
    package, _, version = name.partition(" ")
    return f"{package}-{distribution}-{architecture}{' ' + version if version else ''}"


@dataclass(frozen=True)
class ContextInputs:
    """What a template's names are made from.

    Attributes:
        variant: the values in force, as strings; shared keys included.
        platform: what is built on.
        environ: environment variables.
        pins: answers for the pin functions.
        recipe_dir: folder of the recipe, for ``RECIPE_DIR``.
        read_file: text of a file of the recipe's folder, or None.
        package: name, version and build number, as far as an earlier pass found them.
    """

    variant: Mapping[str, Any]
    platform: Platform
    environ: Mapping[str, str]
    pins: Pins
    recipe_dir: str
    read_file: Callable[[str], str | None]
    package: Mapping[str, str]


def template_context(inputs: ContextInputs) -> dict[str, Any]:
    """Every name a template may use; later ones win: selectors' names, conda's variables, variant keys, functions."""
    names = selectors.namespace(inputs.variant, platform=inputs.platform, environ=inputs.environ)
    variables = {**conda_variables(inputs), **{k: v for k, v in inputs.variant.items() if isinstance(v, str)}}
    environ = selectors.Environment({**inputs.environ, **variables})
    names |= variables
    names |= {key: value for key, value in inputs.variant.items() if not isinstance(value, str)}
    names |= {"CONDA_BUILD_STATE": "RENDER", "environ": environ, "os": selectors.OsNamespace(environ)}
    return names | _functions(inputs)


def conda_variables(inputs: ContextInputs) -> dict[str, str]:
    """Variables that conda-build defines for recipes and scripts; prefixes stay named, as in a shell."""
    variant = inputs.variant
    target = defaults.target_of(variant, inputs.platform)
    python = str(variant["python"]).split()[0].split(".")[:2]
    numpy = str(variant["numpy"]).split()[0].split(".")[:2]
    version = ".".join(python)
    windows = target.is_windows
    return {
        "ARCH": target.suffix,
        "SUBDIR": target.subdir,
        "PREFIX": "$PREFIX",
        "BUILD_PREFIX": "$BUILD_PREFIX",
        "SRC_DIR": "$SRC_DIR",
        "RECIPE_DIR": inputs.recipe_dir,
        "CONDA_BUILD": "1",
        "SHLIB_EXT": target.library_suffix,
        "PY_VER": version,
        "CONDA_PY": "".join(python),
        "PY3K": "1" if python[0] == "3" else "0",
        "PYTHON": "%PYTHON%" if windows else "$PYTHON",
        "SP_DIR": "%SP_DIR%" if windows else f"$PREFIX/lib/python{version}/site-packages",
        "STDLIB_DIR": "%STDLIB_DIR%" if windows else f"$PREFIX/lib/python{version}",
        "NPY_VER": ".".join(numpy),
        "CONDA_NPY": "".join(numpy),
        "PERL_VER": str(variant["perl"]),
        "CONDA_PERL": str(variant["perl"]),
        "LUA_VER": str(variant["lua"]),
        "CONDA_LUA": str(variant["lua"]),
        "R_VER": str(variant["r_base"]),
        "CONDA_R": str(variant["r_base"]),
        "CPU_COUNT": inputs.environ.get("CPU_COUNT", "1"),
        "PKG_NAME": inputs.package.get("name", ""),
        "PKG_VERSION": inputs.package.get("version", ""),
        "PKG_BUILDNUM": inputs.package.get("number", "0"),
        "PKG_BUILD_STRING": "placeholder",
        "PKG_HASH": defaults.HASH_PLACEHOLDER,
    }


def _functions(inputs: ContextInputs) -> dict[str, Any]:
    variant, platform = inputs.variant, inputs.platform

    def pin_subpackage(
        subpackage_name: str,
        min_pin: str | None = "x.x.x.x.x.x",
        max_pin: str | None = "x",
        exact: bool = False,
        lower_bound: str | None = None,
        upper_bound: str | None = None,
    ) -> str:
        bounds = {"min_pin": min_pin, "max_pin": max_pin, "lower_bound": lower_bound, "upper_bound": upper_bound}
        return inputs.pins.subpackage(subpackage_name, exact=exact, bounds=bounds)

    def pin_compatible(
        package_name: str,
        lower_bound: str | None = None,
        upper_bound: str | None = None,
        min_pin: str | None = "x.x.x.x.x.x",
        max_pin: str | None = "x",
        exact: bool = False,
    ) -> str:
        bounds = {"min_pin": min_pin, "max_pin": max_pin, "lower_bound": lower_bound, "upper_bound": upper_bound}
        return inputs.pins.compatible(package_name, exact=exact, bounds=bounds)

    functions: dict[str, Any] = {
        "compiler": lambda language: toolchain(language, "compiler", variant, platform),
        "stdlib": lambda language: toolchain(language, "stdlib", variant, platform),
        "datetime": _DATETIME,
        "time": _TIME,
        "cdt": lambda package_name: cdt(package_name, variant, platform),
        "pin_subpackage": pin_subpackage,
        "pin_compatible": pin_compatible,
        "load_file_data": lambda load_file, fformat=None, from_recipe_dir=False, recipe_dir=None, *args, **kwargs: (
            _parsed(_recipe_file(inputs, "load_file_data", load_file, from_recipe_dir), fformat or load_file)
        ),
        "load_str_data": lambda string, fformat, *args, **kwargs: _parsed(string, fformat),
        "load_file_regex": lambda load_file, regex_pattern, from_recipe_dir=False, recipe_dir=None: _searched(
            _recipe_file(inputs, "load_file_regex", load_file, from_recipe_dir), regex_pattern
        ),
    }
    return functions | {name: _refusal(name) for name in _NEEDS_RUNNING}


def _refusal(name: str) -> Callable[..., NoReturn]:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise RecipeError(
            f"`{name}()` is not supported, because rendering runs nothing and fetches nothing",
            hint="write the value into the recipe, or read a file with `load_file_data(..., from_recipe_dir=True)`",
        )

    return refuse


def _recipe_file(inputs: ContextInputs, function: str, name: str, from_recipe_dir: bool) -> str:
    if not from_recipe_dir:
        raise RecipeError(
            f"`{function}` would read `{name}` from the source, which rendering does not fetch",
            hint="pass `from_recipe_dir=True, recipe_dir=RECIPE_DIR` and keep the file beside meta.yaml",
        )
    text = inputs.read_file(name)
    if text is None:
        raise RecipeError(f"`{function}`: the recipe's folder has no file `{name}`")
    return text


def _parsed(text: str, form: str) -> Any:
    kind = form.rpartition(".")[2].lower()
    try:
        if kind == "json":
            return json.loads(text)
        if kind == "toml":
            return tomllib.loads(text)
        if kind in ("yaml", "yml"):
            return yaml.safe_load(text)
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise RecipeError(f"`{form}` is not valid {kind.upper()}: {str(error).partition(chr(10))[0]}") from None
    raise RecipeError(f"`{form}` names no known format", hint="use json, toml or yaml")


def _searched(text: str, pattern: str) -> re.Match[str] | None:
    try:
        return re.search(pattern, text)
    except re.error as error:
        raise RecipeError(f"the pattern `{pattern}` is not a regular expression: {error}") from None
