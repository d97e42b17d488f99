"""`Graph`: the steps of a function in order, and the Python text of them."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.fx._text import (
    BUILTINS,
    _Namespace,
    annotation_text,
    argument_text,
    inplace_methods as inplace_methods,
    magic_methods as magic_methods,
    object_name,
    reflectable_magic_methods as reflectable_magic_methods,
    snake_case,
    target_text,
)
from torch.fx.node import Node, map_arg

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["CodeGen", "Graph", "PythonCode"]


@dataclass
class PythonCode:
    """The text of a function `forward`, and the objects that it names."""

    src: str
    globals: dict[str, Any]


class CodeGen:
    """Writes the text of a graph. Subclasses change the signature, and what comes in and goes out."""

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        """The line with `def`."""
        if not free_vars or free_vars[0] != "self":
            free_vars.insert(0, "self")
        return f"def forward({', '.join(free_vars)}){maybe_return_annotation}:"

    def generate_output(self, output_args: Any) -> str:
        """The line with `return`."""
        return f"return {argument_text(output_args, {})}"

    def process_inputs(self, *args: Any) -> Any:
        """What an interpreter takes for the arguments of a call."""
        return args

    def process_outputs(self, outputs: Any) -> Any:
        """What an interpreter returns."""
        return outputs

    def additional_globals(self) -> list[tuple[str, Any]]:
        """More names for the text."""
        return []


class _node_list:
    """The nodes of a graph in order; nodes may be added and erased while one iterates."""

    def __init__(self, graph: Graph, direction: str = "_next") -> None:
        self.graph = graph
        self.direction = direction

    def __len__(self) -> int:
        return self.graph._len

    def __iter__(self) -> Iterator[Node]:
        node = getattr(self.graph._root, self.direction)
        while node is not self.graph._root:
            if not node._erased:
                yield node
            node = getattr(node, self.direction)

    def __reversed__(self) -> _node_list:
        return _node_list(self.graph, "_prev" if self.direction == "_next" else "_next")


class Graph:
    """A function as a list of nodes: inputs, calls, the output.

    >>> graph = Graph()
    >>> x = graph.placeholder("x")
    >>> _ = graph.output(graph.call_function(torch.relu, (x,)))
    >>> print(graph.python_code("self").src.strip())
    def forward(self, x):
        relu = torch.relu(x);  x = None
        return relu
    """

    def __init__(self, owning_module: Any = None, tracer_cls: Any = None, tracer_extras: Any = None) -> None:
        self._root = Node(self, "", "root", "", (), {})
        self._insert: Callable[[Node], None] = self._root.prepend
        self._len = 0
        self._graph_namespace = _Namespace()
        self._owning_module = owning_module
        self._tracer_cls = tracer_cls
        self._tracer_extras = tracer_extras
        self._codegen = CodeGen()
        self._transforms: list[Any] = []

    @property
    def owning_module(self) -> Any:
        """The GraphModule that the graph belongs to, if any."""
        return self._owning_module

    @owning_module.setter
    def owning_module(self, module: Any) -> None:
        self._owning_module = module

    @property
    def nodes(self) -> _node_list:
        """All nodes in order."""
        return _node_list(self)

    def output_node(self) -> Node:
        """The node that returns."""
        return next(node for node in reversed(self.nodes) if node.op == "output")

    def find_nodes(self, *, op: str, target: Any = None, sort: bool = True) -> list[Node]:
        """The nodes of a kind, and of a target if one is given."""
        return [node for node in self.nodes if node.op == op and (target is None or node.target == target)]

    # ------------------------------------------------------------------ making nodes

    def create_node(
        self,
        op: str,
        target: Any,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """A new node at the insertion point (at first the end)."""
        args = () if args is None else args
        kwargs = {} if kwargs is None else kwargs
        if not isinstance(args, tuple):
            raise AssertionError("args must be a tuple")
        if not isinstance(kwargs, dict):
            raise AssertionError("kwargs must be a dict")
        candidate = name if name is not None else self._target_to_str(target)
        node = Node(self, self._graph_namespace.create_name(candidate), op, target, args, kwargs, type_expr)
        self._graph_namespace.associate_name_with_obj(node.name, node)
        self._insert(node)
        self._len += 1
        return node

    def _target_to_str(self, target: Any) -> str:
        if callable(target) and not isinstance(target, str):
            return snake_case(target.__name__.rstrip("_") if target.__module__ == "builtins" else target.__name__)
        text = target[2:-2] if target.startswith("__") and target.endswith("__") else target
        return snake_case(text)

    def placeholder(self, name: str, type_expr: Any = None, default_value: Any = ...) -> Node:
        """An input; without a default if it is `...`."""
        args = () if default_value is ... else (default_value,)
        return self.create_node("placeholder", name, args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """A parameter or buffer of the module, by its path."""
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(
        self, module_name: str, args: Any = None, kwargs: dict[str, Any] | None = None, type_expr: Any = None
    ) -> Node:
        """A call of a submodule, by its path."""
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(
        self, method_name: str, args: Any = None, kwargs: dict[str, Any] | None = None, type_expr: Any = None
    ) -> Node:
        """A call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(
        self,
        the_function: Callable[..., Any],
        args: Any = None,
        kwargs: dict[str, Any] | None = None,
        type_expr: Any = None,
        name: str | None = None,
    ) -> Node:
        """A call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name=name, type_expr=type_expr)

    def output(self, result: Any, type_expr: Any = None) -> Node:
        """What the function returns."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Any] = lambda node: node) -> Node:
        """A copy of another graph's node, whose arguments `arg_transform` finds in this graph."""
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        copy = self.create_node(node.op, node.target, args, dict(kwargs), node.name, node.type)
        copy.meta = dict(node.meta)
        return copy

    def graph_copy(self, g: Graph, val_map: dict[Node, Node], return_output_node: bool = False) -> Any:
        """Copies all nodes of `g` but the output, whose value in this graph is returned; `val_map` is filled."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                value = map_arg(node.args[0], lambda inner: val_map[inner])
                return (value, node) if return_output_node else value
            val_map[node] = self.node_copy(node, lambda inner: val_map[inner])
        return None

    def __deepcopy__(self, memo: Any = None) -> Graph:
        copy = Graph(tracer_cls=self._tracer_cls)
        copy._codegen = self._codegen
        answer = copy.graph_copy(self, {}, return_output_node=True)
        if answer is not None:
            value, old = answer
            output = copy.output(value, old.type)
            output.meta = dict(old.meta)
        return copy

    def erase_node(self, to_erase: Node) -> None:
        """Takes a node without users out of the graph."""
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the graph: "
                f"{to_erase.users}!"
            )
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            return
        to_erase._unlink()
        to_erase._erased = True
        self._len -= 1
        to_erase._set_arguments((), {})

    # ------------------------------------------------------------------ where new nodes go

    @contextmanager
    def _inserting(self, place: Callable[[Node], None]) -> Iterator[None]:
        before, self._insert = self._insert, place
        try:
            yield
        finally:
            self._insert = before

    def inserting_before(self, n: Node | None = None) -> Any:
        """Inside `with`, new nodes go before `n`; the start of the graph without one."""
        return self._inserting((self._root._next if n is None else n).prepend)

    def inserting_after(self, n: Node | None = None) -> Any:
        """Inside `with`, new nodes go after `n`, in the order in which they are made."""
        last = self._root if n is None else n

        def insert(node: Node) -> None:
            nonlocal last
            last.append(node)
            last = node

        return self._inserting(insert)

    # ------------------------------------------------------------------ checks and changes

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Erases nodes whose result nobody uses, unless they are called for what they do; whether there were some."""
        self.lint()
        impure = is_impure_node or (lambda node: node.is_impure())
        changed = False
        for node in reversed(self.nodes):
            if not node.users and not impure(node):
                self.erase_node(node)
                changed = True
        return changed

    def lint(self) -> None:
        """RuntimeError unless every argument is made before it is used, names differ and paths exist in the module."""
        names: set[str] = set()
        seen: set[Node] = set()
        for node in self.nodes:
            if node.op not in ("placeholder", "call_method", "call_module", "call_function", "get_attr", "output"):
                raise RuntimeError(f"Node {node} had unknown opcode {node.op}!")
            if node.graph is not self:
                raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
            for argument in node.all_input_nodes:
                if argument.graph is not self:
                    raise RuntimeError(f"Argument '{argument}' of Node '{node}' does not belong to this Graph")
                if argument not in seen:
                    raise RuntimeError(
                        f"Argument '{argument}' of Node '{node}' was used before it has been defined! Please check "
                        "that Nodes in the graph are topologically ordered"
                    )
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            seen.add(node)
            names.add(node.name)
            if self._owning_module is not None and node.op in ("get_attr", "call_module"):
                self._check_path(node)

    def _check_path(self, node: Node) -> None:
        value = self._owning_module
        for part in node.target.split("."):
            if not hasattr(value, part):
                raise RuntimeError(
                    f"Node {node} target {node.target} references nonexistent attribute {part} of "
                    f"{type(value).__name__}"
                )
            value = getattr(value, part)
        if node.op == "call_module" and not isinstance(value, torch.nn.Module):
            raise RuntimeError(f"Node {node} target {node.target} does not reference an nn.Module")

    # ------------------------------------------------------------------ text

    def set_codegen(self, codegen: CodeGen) -> None:
        """Who writes the text from now on."""
        self._codegen = codegen

    def on_generate_code(self, make_transformer: Callable[[Any], Callable[[list[str]], list[str]]]) -> None:
        """Registers `make_transformer(None)`, a function from the lines of the body to such lines."""
        self._transforms.append(make_transformer(None))

    def process_inputs(self, *args: Any) -> Any:
        """What the code generator makes of a call's arguments."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out: Any) -> Any:
        """And of the result."""
        return self._codegen.process_outputs(out)

    def python_code(self, root_module: str, **options: Any) -> PythonCode:
        """The text of `forward`, in which the module is called `root_module`."""
        objects = {**BUILTINS, **dict(self._codegen.additional_globals())}
        last_uses: dict[Node, list[Node]] = {}
        used_later: set[Node] = set()
        for node in reversed(self.nodes):
            for argument in node.all_input_nodes:
                if argument not in used_later:
                    used_later.add(argument)
                    last_uses.setdefault(node, []).append(argument)
        parameters: list[str] = []
        annotation = [""]
        body: list[str] = []
        for node in self.nodes:
            if node.op == "placeholder":
                parameters.append(self._parameter_text(node, objects, body))
                continue
            body.append(self._statement(node, root_module, objects, annotation) + self._deletions(node, last_uses))
        if not body:
            body = ["pass"]
        for transform in self._transforms:
            body = transform([f"{line}\n" for line in body])
            body = [line.rstrip("\n") for line in body]
        lines = "\n".join(f"    {line}" for line in body)
        head = self._codegen.gen_fn_def(parameters, annotation[0])
        # So that a second trace records these functions as calls, too.
        wrapped = {object_name(n.target, objects): None for n in self.nodes if n.meta.get("is_wrapped")}
        wraps = "\n".join(f'torch.fx._symbolic_trace.wrap("{name}")' for name in wrapped)
        return PythonCode(f"\n{wraps}\n\n{head}\n{lines}\n    ", objects)

    def _parameter_text(self, node: Node, objects: dict[str, Any], body: list[str]) -> str:
        raw = node.target.replace("*", "")
        if raw != node.name:
            body.append(f"{node.name} = {raw}")
        annotation = f" : {annotation_text(node.type, objects)}" if node.type is not None else ""
        default = f" = {argument_text(node.args[0], objects)}" if node.args else ""
        return f"{node.target}{annotation}{default}"

    def _statement(self, node: Node, root: str, objects: dict[str, Any], annotation: list[str]) -> str:
        if node.op == "output":
            if node.type is not None:
                annotation[0] = f" -> {annotation_text(node.type, objects)}"
            argument_text(node.args[0], objects)
            return self._codegen.generate_output(node.args[0])
        name = node.name + (f" : {annotation_text(node.type, objects)}" if node.type is not None else "")
        if node.op == "get_attr":
            return f"{name} = {target_text(node.target, root)}"
        texts = [argument_text(argument, objects) for argument in node.args]
        named = [f"{key} = {argument_text(value, objects)}" for key, value in node.kwargs.items()]
        arguments = ", ".join([*texts, *named])
        if node.op == "call_method":
            first = texts[0] if isinstance(node.args[0], Node) else f"({texts[0]})"
            return f"{name} = {first}.{node.target}({', '.join([*texts[1:], *named])})"
        if node.op == "call_module":
            return f"{name} = {target_text(node.target, root)}({arguments})"
        function = node.target
        plain = getattr(function, "__module__", "") == "_operator" and not node.kwargs
        if plain and function.__name__ in magic_methods:
            return f"{name} = {magic_methods[function.__name__].format(*texts)}"
        if plain and function.__name__ in inplace_methods:
            return f"{inplace_methods[function.__name__].format(*texts)};  {name} = {texts[0]}"
        if function is getattr and isinstance(node.args[1], str) and node.args[1].isidentifier() and len(texts) == 2:
            return f"{name} = {texts[0]}.{node.args[1]}"
        return f"{name} = {object_name(function, objects)}({arguments})"

    def _deletions(self, node: Node, last_uses: dict[Node, list[Node]]) -> str:
        """Lets go of values after their last use, so that memory is free as early as in the original."""
        if node.op == "output":
            return ""
        dead = [argument.name for argument in last_uses.get(node, ())]
        if not node.users:
            dead.append(node.name)
        return f";  {' = '.join([*dead, 'None'])}" if dead else ""

    def __str__(self) -> str:
        placeholders: list[str] = []
        returned = [""]
        lines = [node.format_node() for node in self.nodes]
        text = f"graph({', '.join(placeholders)}){returned[0]}:"
        return "\n    ".join([text, *(line for line in lines if line)])

    def print_tabular(self) -> None:
        """Prints a table with a row for each node."""
        header = ("opcode", "name", "target", "args", "kwargs")
        rows = [header, *((n.op, n.name, str(n.target), str(n.args), str(n.kwargs)) for n in self.nodes)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
        rows.insert(1, tuple("-" * width for width in widths))  # type: ignore[arg-type]
        print("\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows))
