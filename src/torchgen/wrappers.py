"""The C++ text of the functions in namespace at: autograd in front, the native function behind.

Each is two functions, so that the usual case stays small: `add` tests whether a gradient is asked for and otherwise
calls the native function; `add_Tensor_recorded` makes the node, saves what it needs, and calls it with grad mode off.
Between the two, `add_Tensor_asked` hands the call to `__torch_dispatch__` (autograd/dispatch.h) where that is in use.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from torchgen import api
from torchgen.model import SPARSE_ANY, SPARSE_VALUES, Face, FaceKind, Kind

if TYPE_CHECKING:
    from torchgen.nodes import NodeClass, Saved

# They change what autograd knows of a tensor and leave its data alone.
_HISTORY_ONLY = ("detach", "detach_")


def wrapper(face: Face, node: NodeClass | None) -> str:
    """The definition of one face. `node` is that of its native function, None when it has no gradient."""
    if face.is_alias:
        return _alias_face(face)
    if face.wrapped:
        return _number_face(face)
    signature = api.function_signature(face)
    refusal = _refuse_sparse(face)
    if face.kind is FaceKind.OUT:
        names = [out.name for out in face.out_arguments]
        result = names[0] if len(names) == 1 else f"{{{', '.join(names)}}}"
        asked = [f"if (C10_UNLIKELY(dispatch::in_use()) && {_asked_call(face)}) return {result};"]
        body = [*refusal, *_check_out(face, node), *asked, *_guard(face), *_run(face), f"return {result};"]
        return f"{_asked(face)}\n\n{_define(signature, body)}"
    if face.kind is FaceKind.INPLACE and face.native.kind is not Kind.STRUCTURED:
        # What is recorded may need the values that are about to be overwritten.
        kept = f"before_write(self, any_tracked({_tensors(face)}))"
        body = [*_ask_for_whole(face), f"return write_in_place(self, at::{_plain_call(face, self=kept)});"]
        return f"{_asked(face)}\n\n{_define(signature, body)}"
    if face.native.kind is Kind.COMPOSITE:
        call = _native_call(face)
        body = [f"return as_result({call});" if _is_new(face) else f"return {call};"]
        if not face.native.dispatched_whole:
            return _define(signature, body)
        return f"{_asked(face)}\n\n{_define(signature, [*_ask_for_whole(face), *body])}"
    check = _check_inplace_without_formula(face) if node is None else []
    body = [*check, *_ask(face), *_guard(face), *_run(face), *_finish(face), f"return {_returned(face)};"]
    description = f"{_asked(face)}\n\n"
    if node is None:
        return description + _define(signature, refusal + body)
    name = f"{face.schema.full_name.replace('.', '_')}_recorded"
    test = f"any_tracked({_differentiable_inputs(node)})"
    if face.is_inplace:
        # Writing into integers ends a history: copy_ allows that.
        test += " && is_differentiable(self)"
    test = f"if (C10_UNLIKELY({test})) {{"
    call = f"  return {name}({api.pass_on(signature.arguments)});"
    recorded = _define(api.Signature(signature.result, name, signature.arguments), _recorded(face, node))
    return description + f"static C10_NOINLINE {recorded}\n\n" + _define(signature, [*refusal, test, call, "}", *body])


def _define(signature: api.Signature, lines: list[str]) -> str:
    return "\n".join([f"{signature.declaration()} {{", *(f"  {line}" for line in lines), "}"])


def _tensors(face: Face) -> str:
    return ", ".join(item.name for item in face.schema.arguments if item.type.is_tensor or item.type.is_tensor_list)


def _written(face: Face) -> list[str]:
    """What a face writes to, and returns."""
    if face.kind is FaceKind.OUT:
        return [out.name for out in face.out_arguments]
    return ["self"] if face.is_inplace else []


def _asked(face: Face) -> str:
    """The function that describes a call to `__torch_dispatch__`, and says whether somebody has answered it."""
    arguments = [*api.cpp_arguments(face.schema, public=True)]
    written = _written(face)
    results = [] if written or not face.schema.returns else list(_result_names(face))
    types = api.result_types(face.schema) if results else ()
    parameters = [f"{kind}& {name}" for kind, name in zip(types, results)]
    parameters += [argument.declaration(with_default=False) for argument in arguments]
    names = ", ".join(argument.name for argument in arguments)
    what = f'"{face.schema.full_name}", {{{names}}}'
    if written:
        call = f"dispatch::ask_to_write({what}, {{{', '.join(f'&{name}' for name in written)}}})"
    else:
        call = f"dispatch::ask({what}, {{{', '.join(results)}}})"
    return f"static C10_NOINLINE bool {_asked_name(face)}({', '.join(parameters)}) {{\n  return {call};\n}}"


def _asked_name(face: Face) -> str:
    return f"{face.schema.full_name.replace('.', '_')}_asked"


def _asked_call(face: Face) -> str:
    results = [] if _written(face) or not face.schema.returns else list(_result_names(face))
    names = [argument.name for argument in api.cpp_arguments(face.schema, public=True)]
    return f"{_asked_name(face)}({', '.join(results + names)})"


def _declared(face: Face) -> list[str]:
    """The results of a face that writes to no argument, declared."""
    if _written(face) or not face.schema.returns:
        return []
    initial = {"int64_t": " = 0", "double": " = 0", "bool": " = false"}
    types = api.result_types(face.schema)
    return [f"{kind} {name}{initial.get(kind, '')};" for kind, name in zip(types, _result_names(face))]


def _ask(face: Face, condition: str = "C10_UNLIKELY(dispatch::in_use())") -> list[str]:
    """The answer of `__torch_dispatch__`, where there is one, in place of all that follows."""
    declared = _declared(face)
    if not declared:
        returned = " self" if _written(face) else ""
        return [f"if ({condition} && {_asked_call(face)}) return{returned};"]
    lines = [*declared, f"if ({_asked_call(face)}) {{", *(f"  {line}" for line in _finish(face))]
    lines += [f"  return {_returned(face)};", "}"]
    return [f"if ({condition}) {{", *(f"  {line}" for line in lines), "}"]


def _ask_for_whole(face: Face) -> list[str]:
    """The same for what is made of other functions, and is differentiated through them: there those are asked for."""
    tensors = _tensors(face)
    if not tensors:
        return _ask(face)
    return _ask(face, f"C10_UNLIKELY(dispatch::in_use()) && !any_tracked({tensors})")


def _alias_face(face: Face) -> str:
    """Calls the same face under the function's own name."""
    target = api.function_signature(replace(face, name=face.native.schema.name))
    return _define(api.function_signature(face), [f"return at::{api.call(target)};"])


def _plain_call(face: Face, **values: str) -> str:
    """Calls the function that this is the in-place or out= face of."""
    return api.call(api.function_signature(replace(face, kind=FaceKind.SELF)), **values)


def _number_face(face: Face) -> str:
    """Wraps the numbers and calls the face that takes tensors."""
    schema = face.schema
    like = next((argument.name for argument in schema.arguments if argument.type.is_tensor), None)
    device = f", {like}.device()" if like else ""
    tensors = replace(face, wrapped=())
    wrapped = {name: f"wrapped_scalar_tensor({name}{device})" for name in face.wrapped}
    call = api.call(api.function_signature(tensors), **wrapped)
    return _define(api.function_signature(face), [f"return at::{call};"])


def _native_call(face: Face, **replacements: str) -> str:
    """Calls the native function, or what its row names for sparse tensors if there are any."""
    outs = {FaceKind.SELF: "result", FaceKind.INPLACE: "self", FaceKind.OUT: "out"}
    if all(argument.name != "out" for argument in face.native.schema.arguments):
        replacements = {"out": outs[face.kind], **replacements}
    call = f"native::{api.call(api.native_signature(face.native), **replacements)}"
    sparse = face.native.sparse
    if sparse in ("", SPARSE_ANY):
        return call
    if sparse == SPARSE_VALUES:
        out = f", {replacements['out']}" if face.native.kind is Kind.STRUCTURED else ""
        plain = api.call(api.function_signature(Face(face.native, face.native.schema.name, FaceKind.SELF)))
        sparse_call = f"map_sparse_values(self, [&](const Tensor& self) {{ return at::{plain}; }}{out})"
    else:
        sparse_call = api.call(api.sparse_signature(face.native), **replacements)
    return f"C10_UNLIKELY(any_sparse({_perhaps_sparse(face)})) ? native::{sparse_call} : {call}"


def _perhaps_sparse(face: Face) -> str:
    """The arguments that may be sparse, or ask for a sparse result."""
    arguments = api.function_signature(face).arguments
    return ", ".join(item.name for item in arguments if item.is_tensor or item.is_tensor_list or item.is_options)


def _refuse_sparse(face: Face) -> list[str]:
    """What keeps sparse tensors away from a function that has not thought of them; composite ones end in others."""
    inputs = _perhaps_sparse(face)
    if face.native.sparse or face.native.kind is Kind.COMPOSITE or not inputs:
        return []
    return [f'if (C10_UNLIKELY(any_sparse({inputs}))) refuse_sparse("{face.native.schema.full_name}", {inputs});']


def _result_names(face: Face) -> tuple[str, ...]:
    returns = face.schema.returns
    if len(returns) == 1:
        return ("result",)
    return tuple(result.name or f"result{index}" for index, result in enumerate(returns))


def _returned(face: Face) -> str:
    if face.is_inplace:
        return "self"
    names = _result_names(face)
    return names[0] if len(names) == 1 else f"{{{', '.join(f'std::move({name})' for name in names)}}}"


def _guard(face: Face) -> list[str]:
    """Makes the first tensor's device current, for the kernels of devices that come in numbers."""
    for argument in face.schema.arguments:
        if argument.type.is_tensor:
            return [f"const c10::DeviceGuard device_guard(device_of({argument.name}));"]
    return []


def _run(face: Face) -> list[str]:
    """Calls the native function; afterwards the results have the names of `_result_names`, or `self` is written."""
    if face.kind is FaceKind.OUT:
        return _run_into_outs(face)
    call = _native_call(face)
    if face.is_inplace:
        bump = [] if face.schema.name in _HISTORY_ONLY else ["self.impl()->bump_version();"]
        return [f"{call};", *bump]
    if face.native.kind is Kind.STRUCTURED:
        return ["Tensor result;", f"{call};"]
    names = _result_names(face)
    if len(names) > 1:
        return [f"auto [{', '.join(names)}] = {call};"]
    return [f"{api.result_type(face.schema)} result = {call};"]


def _run_into_outs(face: Face) -> list[str]:
    """A structured function writes by itself; of the others the results are copied."""
    names = [out.name for out in face.out_arguments]
    bumps = [f"{name}.impl()->bump_version();" for name in names]
    if face.native.kind is Kind.STRUCTURED:
        return [f"{_native_call(face)};", *bumps]
    call = _native_call(face)
    if any(argument.is_options for argument in api.cpp_arguments(face.schema, public=True)):
        call = _native_call(face, options="options_for_out(options, out)")
    if len(names) == 1:
        return [f"write_out(out, {call});", *bumps]
    results = ", ".join(f"new_{name}" for name in names)
    return [f"const auto [{results}] = {call};", *(f"write_out({name}, new_{name});" for name in names), *bumps]


def _finish(face: Face) -> list[str]:
    """What is owed to results that share memory with an input, and to factories."""
    if _is_view(face):
        several = "s" if face.schema.returns[0].type.is_tensor_list else ""
        return [f"result = as_view{several}(self, std::move(result));"]
    if any(argument.is_options for argument in api.cpp_arguments(face.schema, public=True)):
        return ["if (options.requires_grad()) result.requires_grad_(true);"]
    return []


def _is_view(face: Face) -> bool:
    """Whether the result is a view in autograd's sense. A detached tensor shares memory but has no history to share."""
    result = face.schema.returns[0].type if face.schema.returns else None
    if result is None or result.alias is None or result.alias.is_write:
        return False
    return face.schema.name not in _HISTORY_ONLY


def _is_new(face: Face) -> bool:
    """Whether the results are tensors, and by the schema share memory with no argument."""
    types = [item.type for item in face.schema.returns]
    return bool(types) and all(each.is_tensor and each.alias is None for each in types)


def _check_inplace_without_formula(face: Face) -> list[str]:
    if not face.is_inplace or face.schema.name in _HISTORY_ONLY:
        return []
    return [f'check_no_formula("{face.schema.name}", self);']


def _differentiable_inputs(node: NodeClass) -> str:
    return ", ".join(formula.input for formula in node.formulas)


def _check_out(face: Face, node: NodeClass | None) -> list[str]:
    if face.native.kind is Kind.COMPOSITE:
        tensors = [item.name for item in face.schema.arguments if item.type.is_tensor or item.type.is_tensor_list]
    elif node is None:
        return []
    else:
        tensors = [*(formula.input for formula in node.formulas), *(out.name for out in face.out_arguments)]
    return [f'check_out("{face.native.schema.name}", {", ".join(tensors)});']


def _recorded(face: Face, node: NodeClass) -> list[str]:
    again = f"at::{api.call(api.function_signature(face))}"
    lines = [f"Recording recording({_differentiable_inputs(node)});"]
    if face.is_inplace:
        lines.append("if (recording.is_recorded()) check_inplace(self);")
    is_linear = _is_view(face) or (node.info.forward == "linear" and not face.is_inplace)
    if is_linear:
        source = node.inputs[0].name
        lines += [
            "if (recording.is_repeated()) {",
            f"  return recording.repeat_linear([&](const Tensor& {source}) {{ return {again}; }}, {source});",
            "}",
        ]
    lines.append(f"auto node = make_node<{node.name}>();")
    lines.append("node->set_next_edges(recording.take_edges());")
    lines += [
        f"node->{argument.name}_size = {argument.name}.size();"
        for argument in node.inputs
        if argument.type.is_tensor_list
    ]
    lines += [_save(saved, face, node) for saved in node.saved if saved.kind != "result"]
    run = _run(face)
    declared = [run.pop(0)] if run[0] == "Tensor result;" else []
    if not face.is_inplace and not declared:
        declared, run = _declare_results(face)
    unasked = f"if (C10_LIKELY(!dispatch::in_use() || !{_asked_call(face)})) {{"
    native = ["  const NoGradGuard no_grad;", f"  {unasked}", *(f"    {line}" for line in _guard(face) + run), "  }"]
    finish = _finish(face)
    if is_linear:
        lines += [*declared, "{", *native, "}", *finish]
    else:
        repeated = f"  {_assigned(face)}{again};"
        lines += [*declared, "if (recording.is_repeated()) {", repeated, "} else {", *native, "}", *finish]
    if face.is_inplace:
        moving = ["self"]
        lines.append("recording.rebase_history(self, node);")
    else:
        flags = node.info.output_differentiability
        moving = [name for name, flag in zip(_result_names(face), flags) if flag]
        lines += [f"recording.set_history({name}, node);" for name in moving]
    for saved in node.saved:
        if saved.kind == "result":
            # In place, the result is `self` itself.
            value, view = ("self", ", self.is_view()") if face.is_inplace else (saved.name, "")
            lines.append(f"node->{saved.field} = SavedVariable({value}, recording.is_recorded(){view});")
    if not is_linear:
        lines.append(_propagate(face, node, moving))
    return [*lines, f"return {_returned(face)};"]


def _propagate(face: Face, node: NodeClass, moving: list[str]) -> str:
    is_list = not face.is_inplace and face.schema.returns[0].type.is_tensor_list
    results = moving[0] if is_list else f"{{{', '.join(moving)}}}"
    how = "propagate_elementwise" if node.info.forward == "elementwise" else "propagate"
    return f"recording.{how}(*node, {results}{', true' if face.is_inplace else ''});"


def _assigned(face: Face) -> str:
    if face.is_inplace:
        return ""
    names = _result_names(face)
    return "result = " if len(names) == 1 else f"std::tie({', '.join(names)}) = "


def _declare_results(face: Face) -> tuple[list[str], list[str]]:
    """As `_run`, but with the results declared apart, so that they outlive the scope of the call."""
    call = _native_call(face)
    names = _result_names(face)
    if len(names) == 1:
        return [f"{api.result_type(face.schema)} result;"], [f"result = {call};"]
    return [f"Tensor {', '.join(names)};"], [f"std::tie({', '.join(names)}) = {call};"]


def _save(saved: Saved, face: Face, node: NodeClass) -> str:
    """Stores one field before the call; only when a gradient that needs it is asked for."""
    if saved.kind == "tensors":
        statement = f"node->{saved.field} = save_list({saved.value});"
    elif saved.kind == "tensor":
        # In place, `self` is about to be overwritten: keep a copy of what it was.
        original = "copy_before_write(self)" if face.is_inplace and saved.name == "self" else saved.value
        statement = f"node->{saved.field} = SavedVariable({original}, false);"
    else:
        return f"node->{saved.field} = {saved.value};"
    if len(saved.needed_by) == len(node.inputs) or any(argument.type.is_tensor_list for argument in node.inputs):
        return statement
    condition = " || ".join(f"node->should_compute_output({position})" for position in sorted(saved.needed_by))
    return f"if ({condition}) {statement}"
