"""Finds a pattern in a graph, and puts another graph in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.fx._symbolic_trace import symbolic_trace
from torch.fx.graph import Graph
from torch.fx.graph_module import GraphModule
from torch.fx.node import Node, map_arg

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]


class Match(NamedTuple):
    """A place where a pattern was found: its last node, and what each node of the pattern stands for."""

    anchor: Node
    nodes_map: dict[Node, Node]


class ReplacedPatterns(NamedTuple):
    """The same, with the nodes that were put there."""

    anchor: Node
    nodes_map: dict[Node, Node]
    replacements: list[Node]


class _Matcher:
    """Compares a pattern with a graph from its result back to its inputs."""

    def __init__(self, pattern: Graph) -> None:
        self.pattern = pattern
        self.output = pattern.output_node()
        self.anchors = [node for node in self.output.all_input_nodes if len(node.users) == 1]

    def find(self, graph: Graph) -> list[dict[Node, Any]]:
        """Matches that share no node, in the graph's order."""
        if not self.anchors:
            return []
        found: list[dict[Node, Any]] = []
        taken: set[Node] = set()
        for node in graph.nodes:
            matched = self._match_all(node, graph)
            if matched is None:
                continue
            inner = {graph_node for pattern_node, graph_node in matched.items() if pattern_node.op != "placeholder"}
            if inner & taken or not self._is_contained(matched, inner):
                continue
            taken |= inner
            found.append(matched)
        return found

    def _match_all(self, anchor: Node, graph: Graph) -> dict[Node, Any] | None:
        matched: dict[Node, Any] = {}
        if not self._match(self.anchors[0], anchor, matched):
            return None
        for other in self.anchors[1:]:
            if other in matched:
                continue
            for candidate in graph.nodes:
                attempt = dict(matched)
                if self._match(other, candidate, attempt):
                    matched = attempt
                    break
            else:
                return None
        return matched

    def _match(self, pattern: Any, node: Any, matched: dict[Node, Any]) -> bool:
        if not isinstance(pattern, Node):
            if isinstance(pattern, (tuple, list)) and isinstance(node, (tuple, list)):
                return len(pattern) == len(node) and all(
                    self._match(one, two, matched) for one, two in zip(pattern, node, strict=True)
                )
            if isinstance(pattern, dict) and isinstance(node, dict):
                return pattern.keys() == node.keys() and all(self._match(pattern[k], node[k], matched) for k in pattern)
            if isinstance(pattern, slice) and isinstance(node, slice):
                parts = ((pattern.start, node.start), (pattern.stop, node.stop), (pattern.step, node.step))
                return all(self._match(one, two, matched) for one, two in parts)
            return not isinstance(node, Node) and type(pattern) is type(node) and bool(pattern == node)
        if pattern in matched:
            return matched[pattern] is node
        if pattern.op == "placeholder":
            matched[pattern] = node
            return True
        if not isinstance(node, Node) or node.op != pattern.op or node.target != pattern.target:
            return False
        if len(node.args) != len(pattern.args):
            return False
        attempt = {**matched, pattern: node}
        if not self._match(pattern.args, node.args, attempt) or not self._match(pattern.kwargs, node.kwargs, attempt):
            return False
        matched.update(attempt)
        return True

    def _is_contained(self, matched: dict[Node, Any], inner: set[Node]) -> bool:
        """Whether nobody outside uses a result inside that the pattern does not return."""
        returned = {matched[node] for node in self.output.all_input_nodes}
        return all(user in inner for node in inner if node not in returned for user in node.users)


def _graph_of(pattern: Any) -> Graph:
    if isinstance(pattern, Graph):
        return pattern
    return pattern.graph if isinstance(pattern, GraphModule) else symbolic_trace(pattern).graph


def replace_pattern(
    gm: GraphModule,
    pattern: Callable[..., Any] | GraphModule | Graph,
    replacement: Callable[..., Any] | GraphModule | Graph,
) -> list[Match]:
    """Puts `replacement` wherever `pattern` is found, and recompiles; the places.

    Both are functions, or graphs, of the same parameters, which stand for any value. Where two places share a node, the
    first is taken.
    """
    return [Match(found.anchor, found.nodes_map) for found in replace_pattern_with_filters(gm, pattern, replacement)]


def replace_pattern_with_filters(
    gm: GraphModule,
    pattern: Any,
    replacement: Any = None,
    match_filters: list[Callable[[Any, Graph, Graph], bool]] | None = None,
    ignore_literals: bool = False,
    *,
    replacement_callback: Callable[[Any, Graph, Graph], Graph] | None = None,
) -> list[ReplacedPatterns]:
    """The same at the places for which every filter, called with the place, the graph and the pattern, is true."""
    if ignore_literals:
        raise NotImplementedError(
            "replace_pattern_with_filters: ignore_literals=True is not supported; write parameters"
        )
    graph, pattern_graph = gm.graph, _graph_of(pattern)
    matcher = _Matcher(pattern_graph)
    results: list[ReplacedPatterns] = []
    renamed: dict[Node, Any] = {}
    for matched in matcher.find(graph):
        matched = {
            key: renamed.get(value, value) if isinstance(value, Node) else value for key, value in matched.items()
        }
        place = Match(matched[matcher.anchors[0]], matched)
        if not all(accept(place, graph, pattern_graph) for accept in match_filters or ()):
            continue
        if replacement_callback is not None:
            replacement_graph = replacement_callback(place, graph, pattern_graph)
        else:
            replacement_graph = _graph_of(replacement)
        results.append(_replace(graph, matcher, matched, replacement_graph, renamed))
    source = replacement if isinstance(replacement, torch.nn.Module) else None
    if source is not None:
        _add_missing(gm, source)
    gm.recompile()
    return results


def _replace(
    graph: Graph, matcher: _Matcher, matched: dict[Node, Any], replacement: Graph, renamed: dict[Node, Any]
) -> ReplacedPatterns:
    inputs = [node for node in replacement.nodes if node.op == "placeholder"]
    outer = [node for node in matcher.pattern.nodes if node.op == "placeholder"]
    if len(inputs) != len(outer):
        raise ValueError(f"the replacement takes {len(inputs)} values, the pattern {len(outer)}")
    values = {new: matched.get(old) for new, old in zip(inputs, outer, strict=True)}
    inner = [node for node in graph.nodes if node in {matched[key] for key in matched if key.op != "placeholder"}]
    with graph.inserting_after(inner[-1]):
        before = set(graph.nodes)
        result = graph.graph_copy(replacement, values)  # type: ignore[arg-type]
        added = [node for node in graph.nodes if node not in before]
    old_results: list[Node] = []
    map_arg(matcher.output.args[0], lambda node: old_results.append(matched[node]))
    new_results = list(result) if isinstance(result, (tuple, list)) else [result]
    if len(old_results) != len(new_results):
        raise ValueError(f"the replacement returns {len(new_results)} values, the pattern {len(old_results)}")
    for old, new in zip(old_results, new_results, strict=True):
        old.replace_all_uses_with(new, lambda user: user not in added)
        renamed[old] = new
    for node in reversed(inner):
        if not node.users:
            graph.erase_node(node)
    anchor = matched[matcher.anchors[0]]
    nodes_map = {key: value for key, value in matched.items() if isinstance(value, Node)}
    return ReplacedPatterns(anchor, nodes_map, added)


def _add_missing(gm: GraphModule, source: torch.nn.Module) -> None:
    """Submodules and tensors of the replacement that the module lacks."""
    for node in gm.graph.nodes:
        if node.op not in ("call_module", "get_attr"):
            continue
        try:
            gm.get_submodule(node.target) if node.op == "call_module" else gm.get_parameter(node.target)
        except AttributeError:
            if node.op == "call_module":
                gm.add_submodule(node.target, source.get_submodule(node.target))
            else:
                setattr(gm, node.target, getattr(source, node.target))
