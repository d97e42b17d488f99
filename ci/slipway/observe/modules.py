"""The modules of a build, read from the Ninja file that CMake wrote: its targets, and what each links or waits for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slipway.observe.ninja import Edge, Step

_LINKER = re.compile(r"(?P<language>[A-Z]+)_(?P<kind>[A-Z]+(?:_LIBRARY)?)_LINKER__")
_KINDS = {
    "SHARED_LIBRARY": "shared library",
    "MODULE_LIBRARY": "module",
    "STATIC_LIBRARY": "static library",
    "EXECUTABLE": "program",
}
_OBJECT_FOLDER = re.compile(r"(?:^|/)CMakeFiles/(?P<target>[^/]+)\.dir(?:/|$)")
_ORDER = "cmake_object_order_depends_target_"
_EXTERNAL = re.compile(r"/\S+/(?P<file>(?:lib[^/\s]+\.(?:so|a)[.\d]*|[^/\s]+\.dylib|[^/\s]+\.lib))$")
_NAMED = re.compile(r"-l(?P<name>[\w+.-]+)$")
_TOOLCHAIN = frozenset(("dl", "pthread", "m", "rt", "c", "gcc", "gcc_s", "stdc++", "cudadevrt", "cudart_static"))
"""What every program links: no news in a picture."""


@dataclass(frozen=True)
class Module:
    """A target of CMake, or a library that comes from elsewhere.

    Attributes:
        kind: ``shared library``, ``module``, ``static library``, ``program``, ``objects``, ``generator``, ``external``.
        file: what it makes, as named on disk; empty for a generator.
        sources: how many files are compiled for it.
        seconds: of all its steps together.
        links: names of the modules that go into it.
        waits: names of the modules that must merely be made first (generated headers, programs).
    """

    name: str
    kind: str
    file: str = ""
    sources: int = 0
    seconds: float = 0.0
    links: tuple[str, ...] = ()
    waits: tuple[str, ...] = ()


def read_modules(edges: Sequence[Edge], steps: Sequence[Step]) -> list[Module]:
    """Every target that compiles, links or generates, with its libraries; libraries from elsewhere follow them."""
    took = {output: step.seconds for step in steps for output in step.outputs}
    compiled = _find_compilations(edges)
    linked = {edge.outputs[0]: target for edge in edges if (target := _link_target(edge)) is not None}
    aliases = {
        output: target
        for edge in edges
        for name in edge.outputs
        if (target := linked.get(name)) is not None
        for output in edge.outputs
    }
    for edge in edges:  # libtorch.so -> libtorch.so.2.2, where a library has a version
        if edge.rule.startswith("CMAKE_SYMLINK"):
            target = next((aliases[name] for name in edge.inputs if name in aliases), None)
            if target is not None:
                aliases.update(dict.fromkeys(edge.outputs, target))
    generators = _generators(edges, took)
    modules: dict[str, Module] = {}
    externals: dict[str, Module] = {}
    waits = _waits(edges, {PurePosixPath(name).name: name for name in generators} | aliases)
    for edge in edges:
        target = _link_target(edge)
        match = _LINKER.match(edge.rule)
        if target is None or match is None:
            continue
        links = [compiled[name] for name in edge.inputs if name in compiled and compiled[name] != target]
        links += [aliases[name] for name in edge.inputs + edge.implicit if name in aliases]
        for external in _external_libraries(edge, aliases):
            externals.setdefault(external.name, external)
            links.append(external.name)
        own = [name for name, owner in compiled.items() if owner == target]
        modules[target] = Module(
            name=target,
            kind=_KINDS.get(match["kind"], match["kind"].lower().replace("_", " ")),
            file=PurePosixPath(edge.outputs[0]).name,
            sources=len(own),
            seconds=sum(took.get(name, 0.0) for name in (*own, edge.outputs[0])),
            links=_unique(links, without=target),
            waits=_unique([name for name in waits.get(target, ()) if name not in links], without=target),
        )
    for target in dict.fromkeys(compiled.values()):
        if target not in modules:  # an object library: compiled here, linked by others
            own = [name for name, owner in compiled.items() if owner == target]
            seconds = sum(took.get(name, 0.0) for name in own)
            modules[target] = Module(
                target, "objects", "", len(own), seconds, (), _unique(waits.get(target, ()), target)
            )
    used = {name for module in modules.values() for name in module.waits}
    for name, seconds in generators.items():
        if name in used:
            modules.setdefault(name, Module(name, "generator", seconds=seconds))
    return [*modules.values(), *(module for name, module in externals.items() if name not in modules)]


def merge(listed: Sequence[tuple[str, Sequence[Module]]]) -> list[tuple[str, Module]]:
    """The modules of several outputs as one graph: a library that another output builds is not from elsewhere.

    Args:
        listed: each output's name with its modules.

    Returns:
        Pairs of output (empty for a library from elsewhere) and module.
    """
    makers = {
        _stem(module.file): module.name
        for _, modules in listed
        for module in modules
        if module.kind != "external" and module.file
    }
    merged: dict[str, tuple[str, Module]] = {}
    for output, modules in listed:
        names = {
            module.name: makers.get(_stem(module.file), module.name) for module in modules if module.kind == "external"
        }
        for module in modules:
            if module.kind == "external":
                if names[module.name] == module.name:
                    merged.setdefault(module.name, ("", module))
                continue
            links = _unique([names.get(name, name) for name in module.links], without=module.name)
            changed = Module(module.name, module.kind, module.file, module.sources, module.seconds, links, module.waits)
            if module.name not in merged or module.seconds > merged[module.name][1].seconds:
                merged[module.name] = (output, changed)
    return list(merged.values())


def _stem(file: str) -> str:
    return re.sub(r"\.(?:so|a)[.\d]*$", "", file)


def _unique(names: Sequence[str], without: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name != without))


def _find_compilations(edges: Sequence[Edge]) -> dict[str, str]:
    """Object file -> the target it is compiled for."""
    found: dict[str, str] = {}
    for edge in edges:
        if "_COMPILER__" in edge.rule and edge.outputs:
            match = _OBJECT_FOLDER.search(edge.outputs[0])
            if match:
                found[edge.outputs[0]] = match["target"]
    return found


def _link_target(edge: Edge) -> str | None:
    if not _LINKER.match(edge.rule) or not edge.outputs:
        return None
    match = _OBJECT_FOLDER.search(edge.variables.get("OBJECT_DIR", ""))
    return match["target"] if match else PurePosixPath(edge.outputs[0]).stem


def _external_libraries(edge: Edge, aliases: Mapping[str, str]) -> list[Module]:
    found: dict[str, Module] = {}
    # What the link depends on has a path; what is only on the command line may be `-lname`.
    for word in (*edge.implicit, *edge.variables.get("LINK_LIBRARIES", "").split()):
        path, option = _EXTERNAL.match(word), _NAMED.match(word)
        if path is None and option is None:
            continue
        file = path["file"] if path else f"lib{option['name']}.so" if option else ""
        name = _stem(file).removeprefix("lib")
        if word not in aliases and name not in _TOOLCHAIN:
            found.setdefault(name, Module(name, "external", file))
    return list(found.values())


def _generators(edges: Sequence[Edge], took: Mapping[str, float]) -> dict[str, float]:
    """Targets made of custom commands alone (``add_custom_target``) and the seconds of those commands."""
    commands = {output: edge for edge in edges if edge.rule == "CUSTOM_COMMAND" for output in edge.outputs}
    found: dict[str, float] = {}
    for edge in edges:
        if edge.rule != "phony" or len(edge.outputs) != 1:
            continue
        made = {id(commands[name]): commands[name] for name in edge.needs if name in commands}
        real = [command for command in made.values() if not all(name.endswith(".util") for name in command.outputs)]
        if real and not edge.outputs[0].startswith(_ORDER) and not edge.outputs[0].endswith("/all"):
            name = PurePosixPath(edge.outputs[0]).name
            seconds = [max((took.get(output, 0.0) for output in command.outputs), default=0.0) for command in real]
            found[name] = sum(seconds)
    return found


def _waits(edges: Sequence[Edge], makers: Mapping[str, str]) -> dict[str, list[str]]:
    """Target -> the targets that must be made before it; `makers` says whose a file or name is."""
    found: dict[str, list[str]] = {}
    for edge in edges:
        if edge.rule == "phony" and edge.outputs and edge.outputs[0].startswith(_ORDER):
            names = [makers.get(name) or makers.get(PurePosixPath(name).name) for name in edge.order]
            found[edge.outputs[0].removeprefix(_ORDER)] = [name for name in names if name is not None]
    return found
