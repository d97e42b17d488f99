"""`GraphModule`: a module whose `forward` is the code of a graph."""

from __future__ import annotations

import copy
import inspect
import itertools
import linecache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.fx._text import BUILTINS
from torch.fx.graph import Graph, PythonCode
from torch.fx.proxy import GraphAppendingTracer

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["GraphModule"]

_numbers = itertools.count()


def _compile(code: PythonCode, name: str = "forward") -> Any:
    """The function of the text; tracebacks show its lines."""
    file = f"<eval_with_key>.{next(_numbers)}"
    linecache.cache[file] = (len(code.src), None, [f"{line}\n" for line in code.src.splitlines()], file)
    space = dict(code.globals)
    exec(compile(code.src, file, "exec"), space)
    return space[name]


def _copy_attribute(source: nn.Module, target: nn.Module, path: str) -> None:
    *parents, last = path.split(".")
    for name in parents:
        inner = getattr(source, name)
        if not hasattr(target, name):
            setattr(target, name, nn.Module())
        source, target = inner, getattr(target, name)
    value = getattr(source, last)
    if isinstance(value, torch.Tensor) and not isinstance(value, nn.Parameter):
        target.register_buffer(last, value)
    else:
        setattr(target, last, value)


def _assign_attribute(value: Any, target: nn.Module, path: str) -> None:
    *parents, last = path.split(".")
    for name in parents:
        if not hasattr(target, name):
            setattr(target, name, nn.Module())
        target = getattr(target, name)
    if isinstance(value, torch.Tensor) and not isinstance(value, nn.Parameter):
        target.register_buffer(last, value)
    else:
        setattr(target, last, value)


class GraphModule(nn.Module):
    """A module made of a graph. `code` is the text of its `forward`; after changes of `graph` call `recompile()`.

    `root` is the module that has what the graph names, or a dict from paths to such things.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        # Each instance has a class of its own, which has its forward.
        base = next(kind for kind in cls.__mro__ if kind.__qualname__ != "GraphModule.__new__.<locals>.GraphModuleImpl")

        class GraphModuleImpl(base):  # type: ignore[misc, valid-type]
            pass

        return super().__new__(GraphModuleImpl)

    def __init__(self, root: nn.Module | Mapping[str, Any], graph: Graph, class_name: str = "GraphModule") -> None:
        super().__init__()
        type(self).__name__ = class_name
        if isinstance(root, nn.Module):
            if hasattr(root, "training"):
                self.training = root.training
            for node in graph.nodes:
                if node.op in ("get_attr", "call_module"):
                    _copy_attribute(root, self, node.target)
        elif isinstance(root, dict):
            wanted = [node.target for node in graph.nodes if node.op in ("get_attr", "call_module")]
            for path in wanted:
                if path not in root:
                    raise RuntimeError(f"Node target {path} is missing from the provided root dict")
            for path in sorted(set(wanted), key=lambda path: path.count(".")):
                _assign_attribute(root[path], self, path)
        else:
            raise RuntimeError(f"Unsupported type {type(root)} passed for root!")
        self.graph = graph
        self.meta: dict[str, Any] = dict(getattr(root, "meta", None) or {})

    @property
    def graph(self) -> Graph:
        """What `forward` does. A graph that is assigned is copied if another module has it."""
        return self._graph

    @graph.setter
    def graph(self, g: Graph) -> None:
        if not isinstance(g, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(g)}")
        self._graph = g if g.owning_module is None or g.owning_module is self else copy.deepcopy(g)
        self._graph.owning_module = self
        self.recompile()

    @property
    def code(self) -> str:
        """The text of `forward`."""
        return self._code

    def recompile(self) -> PythonCode:
        """Makes `forward` of the graph as it is now."""
        python_code = self._graph.python_code(root_module="self")
        self._code = python_code.src
        type(self).forward = _compile(python_code)
        return python_code

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Replaced by the graph's code."""
        raise NotImplementedError("recompile() has not been called")

    # ------------------------------------------------------------------ submodules

    def add_submodule(self, target: str, m: nn.Module) -> bool:
        """Puts a module at a path, with empty modules above it where there are none; False if the path is taken."""
        *parents, last = target.split(".")
        module: nn.Module = self
        for name in parents:
            if not hasattr(module, name):
                setattr(module, name, nn.Module())
            module = getattr(module, name)
            if not isinstance(module, nn.Module):
                return False
        module.add_module(last, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Takes a module away; False if there is none at the path."""
        *parents, last = target.split(".")
        module: Any = self
        for name in parents:
            module = getattr(module, name, None)
            if not isinstance(module, nn.Module):
                return False
        if not isinstance(getattr(module, last, None), nn.Module):
            return False
        delattr(module, last)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Takes modules away that the graph neither calls nor looks into."""
        used: set[str] = set()
        for node in self.graph.nodes:
            if node.op not in ("call_module", "get_attr"):
                continue
            parts = node.target.split(".")
            used.update(".".join(parts[: count + 1]) for count in range(len(parts)))
            if node.op == "call_module":
                used.update(
                    f"{node.target}.{name}" for name, _ in self.get_submodule(node.target).named_modules() if name
                )
        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    # ------------------------------------------------------------------ copies and text

    def __deepcopy__(self, memo: Any) -> Any:
        root = nn.Module()
        root.__dict__.update(
            copy.deepcopy({key: value for key, value in self.__dict__.items() if key != "_graph"}, memo)
        )
        made = GraphModule(root, copy.deepcopy(self.graph), type(self).__name__)
        for name in ("_state_dict_hooks", "_forward_hooks", "_forward_pre_hooks", "_backward_hooks"):
            made.__dict__[name] = root.__dict__[name]
        made.training = self.training
        for name, value in root.__dict__.items():
            made.__dict__.setdefault(name, value)
        return made

    def __copy__(self) -> Any:
        made = GraphModule(self, self.graph, type(self).__name__)
        made.meta = self.meta
        return made

    def __reduce__(self) -> Any:
        body = {key: value for key, value in self.__dict__.items() if key not in ("_graph", "_code")}
        return _rebuild_graph_module, (body, self.code, type(self).__name__)

    def __str__(self) -> str:
        hint = "# To see more debug info, please use `graph_module.print_readable()`"
        return "\n".join([super().__str__(), self._code, hint])

    def print_readable(
        self,
        print_output: bool = True,
        include_stride: bool = False,
        include_device: bool = False,
        colored: bool = False,
        **options: Any,
    ) -> str:
        """The class of this module as text, with those of submodules that are GraphModules; prints it, too."""
        body = self._code.strip("\n").rstrip()
        lines = [f"class {type(self).__name__}(torch.nn.Module):", *(f"    {line}" for line in body.split("\n"))]
        for child in self.children():
            if isinstance(child, GraphModule):
                text = child.print_readable(print_output=False)
                lines += ["", *(f"    {line}" for line in text.split("\n"))]
        output = "\n".join(lines)
        if print_output:
            print(output)
        return output

    def to_folder(self, folder: str | Path, module_name: str = "FxModule") -> None:
        """Writes the module as Python source into `folder`, with its parameters and submodules in a file beside it."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        torch.save({"parts": dict(self._modules), "state": self.state_dict()}, place / "state.pt")
        lines = [
            "import torch",
            "from math import inf, nan",
            "from pathlib import Path",
            "from torch import device",
            "NoneType = type(None)",
            "",
            f"class {module_name}(torch.nn.Module):",
            "    def __init__(self):",
            "        super().__init__()",
            "        saved = torch.load(Path(__file__).parent / 'state.pt', weights_only=False)",
            "        for name, part in saved['parts'].items():",
            "            setattr(self, name, part)",
        ]
        for name, parameter in self._parameters.items():
            if parameter is not None:
                lines.append(f"        self.{name} = torch.nn.Parameter(torch.empty({list(parameter.shape)}))")
        for name, buffer in self._buffers.items():
            if buffer is not None:
                lines.append(
                    f"        self.register_buffer('{name}', torch.empty({list(buffer.shape)}, dtype={buffer.dtype}))"
                )
        lines += ["        self.load_state_dict(saved['state'])", *(f"    {line}" for line in self._code.split("\n"))]
        (place / "module.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (place / "__init__.py").write_text(f"from .module import {module_name}\n", encoding="utf-8")


class _Path:
    """`self` while the text of a pickled graph is run to record it: its attributes, and calls of its submodules."""

    def __init__(self, tracer: GraphAppendingTracer, module: nn.Module, path: str = "") -> None:
        self._tracer, self._module, self._path = tracer, module, path

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module, name)
        path = f"{self._path}.{name}" if self._path else name
        if isinstance(value, nn.Module):
            return _Path(self._tracer, value, path)
        return self._tracer.create_proxy("get_attr", path, (), {})

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._tracer.create_proxy("call_module", self._path, args, kwargs)


def _rebuild_graph_module(body: dict[str, Any], code: str, name: str) -> nn.Module:
    root = nn.Module()
    root.__dict__.update(body)
    forward = _compile(PythonCode(code, dict(BUILTINS)))
    graph = Graph()
    tracer = GraphAppendingTracer(graph)
    proxies = []
    for parameter in list(inspect.signature(forward).parameters.values())[1:]:
        default = () if parameter.default is parameter.empty else (parameter.default,)
        proxies.append(tracer.create_proxy("placeholder", parameter.name, default, {}))
    graph.output(tracer.create_arg(forward(_Path(tracer, root), *proxies)))
    return GraphModule(root, graph, name)
