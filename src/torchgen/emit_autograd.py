"""Writes the autograd graph's nodes (Nodes.h, Nodes_N.cpp) and the functions of namespace at (Wrappers_N.cpp)."""

from __future__ import annotations

import re
import zlib
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from torchgen.nodes import NodeClass, Saved, node_classes
from torchgen.output import Output, fill
from torchgen.wrappers import wrapper

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchgen.model import Declarations

FOLDER = PurePosixPath("torch/csrc/autograd/generated")
NODE_SHARDS = 3
WRAPPER_SHARDS = 4


def outputs(declarations: Declarations) -> Iterator[Output]:
    nodes = node_classes(declarations.derivatives)
    yield Output(FOLDER / "Nodes.h", fill("Nodes.h", classes="\n\n".join(map(_class, nodes))))
    for shard in range(NODE_SHARDS):
        bodies = [_apply(node) for node in nodes if _shard(node.name, NODE_SHARDS) == shard]
        yield Output(FOLDER / f"Nodes_{shard}.cpp", fill("Nodes.cpp", definitions="\n\n".join(bodies)))
    by_schema = {str(node.info.function.schema): node for node in nodes}
    for shard in range(WRAPPER_SHARDS):
        bodies = [
            wrapper(face, by_schema.get(str(face.native.schema)))
            for face in declarations.faces
            if _shard(face.native.schema.full_name, WRAPPER_SHARDS) == shard
        ]
        yield Output(FOLDER / f"Wrappers_{shard}.cpp", fill("Wrappers.cpp", definitions="\n\n".join(bodies)))


def _shard(name: str, count: int) -> int:
    """A steady choice: a new operator changes one file, not all."""
    return zlib.crc32(name.encode()) % count


def _class(node: NodeClass) -> str:
    fields = "\n".join(f"  {saved.cpp_type} {saved.field}{_initial(saved)};" for saved in node.saved)
    released = [_release(saved) for saved in node.saved if saved.kind != "value"]
    release = f"  void release_variables() override {{ {' '.join(released)} }}\n" if released else ""
    shown = " ".join(f'visitor.visit("{_shown_name(saved)}", {saved.field});' for saved in node.saved)
    visit = f"  void visit_saved(SavedVisitor& visitor) override {{ {shown} }}\n" if shown else ""
    lists = [f"  size_t {argument.name}_size = 0;\n" for argument in node.inputs if argument.type.is_tensor_list]
    return (
        f"class TORCH_API {node.name} final : public Node {{\n public:\n"
        f"  variable_list apply(variable_list&& grads) override;\n"
        f'  std::string name() const override {{ return "{node.name}"; }}\n'
        f"{release}{visit}{''.join(lists)}{fields}\n}};"
    )


def _shown_name(saved: Saved) -> str:
    """PyTorch's name: sizes may be symbols there."""
    return re.sub("_(sizes|strides|numel|storage_offset)$", r"_sym_\1", saved.name)


def _initial(saved: Saved) -> str:
    return {"Device": " = kCPU", "Layout": " = c10::kStrided", "ScalarType": " = ScalarType::Undefined"}.get(
        saved.cpp_type, " {}" if saved.cpp_type in ("int64_t", "double", "bool") else ""
    )


def _release(saved: Saved) -> str:
    if saved.kind == "tensors":
        return f"for (auto& saved : {saved.field}) saved.reset();"
    return f"{saved.field}.reset();"


def _unpacked(saved: Saved) -> str:
    if saved.kind == "tensors":
        return f"unpack_list({saved.field})"
    owner = "shared_from_this()" if saved.kind == "result" else ""
    return f"{saved.field}.unpack({owner})"


def _unpack(saved: Saved, wanted: str = "") -> str:
    """A formula's name for what was saved, empty if nothing is `wanted` of it."""
    value, cpp_type = _unpacked(saved), "variable_list" if saved.kind == "tensors" else "Tensor"
    return f"const {cpp_type} {saved.name} = " + (f"{wanted} ? {value} : {cpp_type}();" if wanted else f"{value};")


def _apply(node: NodeClass) -> str:
    """The code of a node: each formula runs when its input needs a gradient.

    What is saved is unpacked once, however many formulas mention it: hooks of saved tensors count on that.
    """
    lines = [f"variable_list {node.name}::apply(variable_list&& grads) {{"]
    uses_grads = any("grads" in expression for expression in node.expressions)
    if not uses_grads:
        lines.append("  const Tensor& grad = grads[0];")
    sizes = [f"{argument.name}_size" if argument.type.is_tensor_list else "1" for argument in node.inputs]
    lines.append(f"  variable_list grad_inputs({' + '.join(sizes)});")
    if not uses_grads:
        lines.append("  if (!grad.defined()) return grad_inputs;")
    steps = []  # where a formula's gradients begin, whether they are wanted, what puts them there
    for position, (argument, expression) in enumerate(zip(node.inputs, node.expressions)):
        if not expression:  # comes with the input before
            continue
        offset = " + ".join(sizes[:position]) or "0"
        together = 1
        while node.expressions[position + together : position + together + 1] == ("",):
            together += 1
        if argument.type.is_tensor_list or together > 1:
            condition = f"task_should_compute_any({offset}, {' + '.join(sizes[position : position + together])})"
            steps.append((position, condition, f"move_into(grad_inputs, {offset}, {expression});"))
        else:
            steps.append((position, f"task_should_compute_output({offset})", f"grad_inputs[{offset}] = {expression};"))
    every = frozenset(range(len(node.inputs)))
    alone: dict[int, list[str]] = {}
    for saved in node.saved:
        if saved.kind == "value":
            continue
        users = [(position, condition) for position, condition, _ in steps if position in saved.needed_by]
        if saved.needed_by == every:
            lines.append(f"  {_unpack(saved)}")
        elif len(users) > 1:
            lines.append(f"  {_unpack(saved, ' || '.join(condition for _, condition in users))}")
        elif users:
            alone.setdefault(users[0][0], []).append(f"    {_unpack(saved)}")
    for position, condition, assign in steps:
        lines += [f"  if ({condition}) {{", *alone.get(position, []), f"    {assign}", "  }"]
    return "\n".join([*lines, "  return grad_inputs;", "}"])
