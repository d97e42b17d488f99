"""What a project's own files say of it, and the recipe that follows from that."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from packaging.requirements import InvalidRequirement, Requirement

from slipway.base.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

_PROJECT: Final = re.compile(r"\bproject\s*\(\s*([\w.+-]+)([^)]*)\)", re.IGNORECASE)
_VERSION: Final = re.compile(r"\bVERSION\s+([\d.]+)")
_ENABLED: Final = re.compile(r"enable_language\s*\(\s*(\w+)", re.IGNORECASE)
_CUDA: Final = re.compile(r"find_package\s*\(\s*CUDA", re.IGNORECASE)
_COMPILES: Final = frozenset(
    {"cffi", "cython", "maturin", "meson-python", "nanobind", "numpy", "pybind11", "scikit-build", "scikit-build-core"}
)
"""What only projects with compiled code are built with."""

_TODO: Final = "TODO"


@dataclass(frozen=True)
class Project:
    """What is known of a project; None and nothing where its files do not say.

    Attributes:
        languages: of compilers, as `compiler()` takes them.
        build_requires, run_requires: match specs of conda's.
        module: the Python module that it installs.
        scripts: the commands of a Python project, as entry points.
        place: the folder for its recipe.
    """

    name: str
    version: str | None
    summary: str | None
    license: str | None
    license_file: str | None
    is_python: bool
    languages: tuple[str, ...]
    build_requires: tuple[str, ...] = ()
    run_requires: tuple[str, ...] = ()
    python: str = "python"
    module: str | None = None
    scripts: tuple[str, ...] = ()
    place: str = "recipe"


def read_project(folder: Path) -> Project:
    """The project in `folder`.

    Raises:
        UsageError: there is neither a pyproject.toml nor a CMakeLists.txt, or it cannot be read.
    """
    cmake = _read(folder / "CMakeLists.txt")
    python = _read(folder / "pyproject.toml")
    if cmake is None and python is None:
        raise UsageError(
            "there is no project here that a recipe could be made of", where=str(folder),
            hint="name a folder that holds a pyproject.toml or a CMakeLists.txt",
        )  # fmt: skip
    licence = next(
        (path.name for path in sorted(folder.glob("[Ll][Ii][Cc][Ee][Nn][CcSs][Ee]*")) if path.is_file()), None
    )
    found = _PROJECT.search(cmake or "")
    version = _VERSION.search(found[2]) if found is not None else None
    languages = _languages(cmake, found[2] if found is not None else "") if cmake is not None else ()
    if python is None:
        name = found[1] if found is not None else folder.name
        return Project(_conda_name(name), version[1] if version else None, None, None, licence, False, languages)
    try:
        content = tomllib.loads(python)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"not valid TOML: {error}", where=str(folder / "pyproject.toml")) from None
    project = content.get("project") or content.get("tool", {}).get("poetry") or {}
    build = tuple(_specs(content.get("build-system", {}).get("requires") or ["setuptools"]))
    if not languages and (_COMPILES & {spec.split()[0] for spec in build} or _has_extensions(folder, content)):
        languages = ("rust",) if any(spec.startswith("maturin") for spec in build) else ("c", "cxx")
    name = str(project.get("name") or folder.name)
    return Project(
        name=_conda_name(name),
        version=str(project["version"]) if "version" in project else version[1] if version else None,
        summary=project.get("description"),
        license=_licence_of(project),
        license_file=licence,
        is_python=True,
        languages=languages,
        build_requires=build,
        run_requires=tuple(_specs(_texts(project.get("dependencies")))),
        python=f"python {project['requires-python']}" if project.get("requires-python") else "python",
        module=_module(folder, name),
        scripts=tuple(f"{command} = {target}" for command, target in (project.get("scripts") or {}).items()),
        place="ci/recipe" if _is_searched_for_packages(folder, content) else "recipe",
    )


def _languages(cmake: str, arguments: str) -> tuple[str, ...]:
    """What CMake compiles: those that `project()` says, by default C and C++, and those that are enabled later."""
    _, given, words = arguments.partition("LANGUAGES")
    named = set(words.upper().split()) if given else {"C", "CXX"}
    named |= {word.upper() for word in _ENABLED.findall(cmake)}
    named |= {"CUDA"} if _CUDA.search(cmake) else set()
    return tuple(name.lower() for name in ("C", "CXX", "FORTRAN", "CUDA") if name in named)


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else None


def _conda_name(name: str) -> str:
    return re.sub(r"[^a-z0-9_.-]", "-", name.lower()).strip("-.")


def _licence_of(project: Mapping[str, Any]) -> str | None:
    licence = project.get("license")
    text = licence.get("text") if isinstance(licence, dict) else licence
    return str(text) if text and len(str(text)) < 80 else None


def _texts(value: Any) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []


def _specs(requirements: Iterable[str]) -> list[str]:
    """Python's requirements as conda's, those of other systems left out."""
    specs = []
    for text in requirements:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        if requirement.marker is None or requirement.marker.evaluate({"extra": "", "sys_platform": "linux"}):
            bounds = ",".join(sorted(map(str, requirement.specifier), reverse=True))
            specs.append(f"{_conda_name(requirement.name)} {bounds}".strip())
    return specs


def _has_extensions(folder: Path, content: Mapping[str, Any]) -> bool:
    setup = _read(folder / "setup.py") or ""
    return "ext_modules" in setup or "ext-modules" in content.get("tool", {}).get("setuptools", {})


def _is_searched_for_packages(folder: Path, content: Mapping[str, Any]) -> bool:
    """Whether setuptools would take a folder `recipe` for one more package, and refuse; `ci` it leaves out."""
    backend = content.get("build-system", {}).get("build-backend", "setuptools")
    said = {"packages", "py-modules", "package-dir"} & content.get("tool", {}).get("setuptools", {}).keys()
    scripts = [_read(folder / name) or "" for name in ("setup.py", "setup.cfg")]
    is_said = bool(said) or any(re.search(r"packages|py_modules|package_dir", text) for text in scripts)
    return backend.startswith("setuptools") and not is_said and not (folder / "src").is_dir()


def _module(folder: Path, name: str) -> str | None:
    wanted = name.lower().replace("-", "_")
    for place in (folder / "src", folder):
        if (place / wanted / "__init__.py").is_file() or (place / f"{wanted}.py").is_file():
            return wanted
    return None


def write_recipe(project: Project) -> dict[str, str]:
    """The files of a recipe in the project's `place` for it, by their names."""
    noarch = project.is_python and not project.languages
    python = [project.python if noarch else "python"] if project.is_python else []
    lines = [
        f'{{% set version = "{project.version or _TODO}" %}}',
        "",
        "package:",
        f"  name: {project.name}",
        "  version: {{ version }}",
        "",
        "source:",
        f"  path: {'/'.join(['..'] * len(project.place.split('/')))}",
        "",
        "build:",
        "  number: 0",
        *(["  noarch: python"] if noarch else []),
        *(["  entry_points:"] if project.scripts and noarch else []),
        *(f"    - {script}" for script in project.scripts if noarch),
        "  script:",
        *(f"    - {line}" for line in _script(project)),
        "",
        "requirements:",
        *_section("build", _build(project)),
        *_section("host", [*python, *(["pip"] if project.is_python else []), *project.build_requires]),
        *_section("run", [*python, *project.run_requires]),
        "",
        "test:",
        *_test(project),
        "",
        "about:",
        f"  summary: {_quoted(project.summary or _TODO)}",
        f"  license: {project.license or 'LicenseRef-' + _TODO}",
        *([f"  license_file: {project.license_file}"] if project.license_file else []),
    ]  # fmt: skip
    return {"meta.yaml": "\n".join(lines) + "\n"}


def _script(project: Project) -> list[str]:
    if project.is_python:
        return ["{{ PYTHON }} -m pip install . -vv --no-deps --no-build-isolation"]
    return [
        "cmake -S . -B build -G Ninja $CMAKE_ARGS -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=$PREFIX",
        "cmake --build build",
        "cmake --install build",
    ]


def _build(project: Project) -> list[str]:
    compilers = [f"{{{{ compiler('{language}') }}}}" for language in project.languages]
    standard = ["{{ stdlib('c') }}"] if compilers else []
    uses_cmake = not project.is_python or any("scikit-build" in spec for spec in project.build_requires)
    return [*compilers, *standard, *(["cmake", "ninja"] if uses_cmake else [])]


def _section(name: str, specs: list[str]) -> list[str]:
    return [f"  {name}:", *(f"    - {spec}" for spec in specs)] if specs else []


def _test(project: Project) -> list[str]:
    if project.module is not None:
        return ["  imports:", f"    - {project.module}"]
    todo = "  # What users do with it: import the module, run the program, link the library."
    return [todo, "  commands:", f"    - test -e $PREFIX/conda-meta  # {_TODO}"]


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
