"""The picture of the modules: which box stands for which, what is written in it, and its colour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from slipway.base.text import human_seconds
from slipway.report.graph import Link, draw

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slipway.observe.modules import Module
    from slipway.report.layout import Box

CHARACTER = 7.8
"""Pixels per character of a node's name, at the page's font size; an estimate on the wide side."""


@dataclass(frozen=True)
class Node:
    """A module in the picture: its box, two lines of text, the output it belongs to (its colour)."""

    module: Module
    box: Box
    detail: str
    output: str
    group: int


@dataclass(frozen=True)
class ModuleDrawing:
    """The picture of the modules; `outputs` in the order of their colours."""

    width: float
    height: float
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    waits: frozenset[tuple[str, str]]
    outputs: tuple[str, ...]


def module_drawing(modules: Sequence[tuple[str, Module]]) -> ModuleDrawing | None:
    """The modules of all outputs as one picture; None when none are known."""
    if not modules:
        return None
    details = {module.name: _detail(module) for _, module in modules}
    widths = {
        module.name: max(72.0, 30 + CHARACTER * max(len(module.name), len(details[module.name]) * 0.86))
        for _, module in modules
    }
    names = set(widths)
    links = {module.name: (*module.links, *module.waits) for _, module in modules}
    drawing = draw(widths, links)
    outputs = tuple(dict.fromkeys(output for output, _ in modules if output))
    return ModuleDrawing(
        drawing.width,
        drawing.height,
        tuple(
            Node(
                module,
                drawing.nodes[module.name],
                details[module.name],
                output,
                outputs.index(output) + 1 if output else 0,
            )
            for output, module in modules
        ),
        drawing.links,
        frozenset((module.name, other) for _, module in modules for other in module.waits if other in names),
        outputs,
    )


def _detail(module: Module) -> str:
    if module.kind == "external":
        return "from a dependency"
    if module.kind == "generator":
        return f"generates, {human_seconds(module.seconds)}" if module.seconds else "generates"
    files = f"{module.sources} file{'s' if module.sources != 1 else ''}"
    return f"{files}, {human_seconds(module.seconds)}" if module.seconds else files
