"""The C++ text of the functions in namespace at, for one operator of each sort."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from torchgen import parse
from torchgen.nodes import node_classes
from torchgen.wrappers import wrapper

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from torchgen.model import NativeFunction

    Wrap = Callable[[str, str], list[str]]


@pytest.fixture
def wrappers(function: Callable[[str], NativeFunction], tmp_path: Path) -> Wrap:
    """The wrappers of one entry's faces; `formulas` is its entry in derivatives.yaml without the name."""

    def make(entry: str, formulas: str = "") -> list[str]:
        made = function(dedent(entry))
        path = tmp_path / "derivatives.yaml"
        path.write_text(f"- name: {made.schema}\n{formulas}" if formulas else "")
        nodes = node_classes(parse.load_derivatives(path, "derivatives.yaml", [made]))
        return [wrapper(face, nodes[0] if nodes else None) for face in made.faces]

    return make


def expect(text: str, expected: str) -> None:
    assert text == dedent(expected).strip()


MUL = """\
- func: mul.Tensor(Tensor self, Tensor other) -> Tensor
  kind: structured
  faces: inplace, out
  numbers: other
"""
MUL_FORMULAS = "  self: grad * other\n  other: grad * self\n"


def test_structured(wrappers: Wrap) -> None:
    expect(
        wrappers(MUL, MUL_FORMULAS)[0],
        """
        static C10_NOINLINE bool mul_Tensor_asked(Tensor& result, const Tensor& self, const Tensor& other) {
          return dispatch::ask("mul.Tensor", {self, other}, {result});
        }

        static C10_NOINLINE Tensor mul_Tensor_recorded(const Tensor& self, const Tensor& other) {
          Recording recording(self, other);
          auto node = make_node<MulBackward0>();
          node->set_next_edges(recording.take_edges());
          if (node->should_compute_output(0)) node->other_ = SavedVariable(other, false);
          if (node->should_compute_output(1)) node->self_ = SavedVariable(self, false);
          Tensor result;
          if (recording.is_repeated()) {
            result = at::mul(self, other);
          } else {
            const NoGradGuard no_grad;
            if (C10_LIKELY(!dispatch::in_use() || !mul_Tensor_asked(result, self, other))) {
              const c10::DeviceGuard device_guard(device_of(self));
              native::mul(self, other, result);
            }
          }
          recording.set_history(result, node);
          recording.propagate(*node, {result});
          return result;
        }

        Tensor mul(const Tensor& self, const Tensor& other) {
          if (C10_UNLIKELY(any_sparse(self, other))) refuse_sparse("mul.Tensor", self, other);
          if (C10_UNLIKELY(any_tracked(self, other))) {
            return mul_Tensor_recorded(self, other);
          }
          if (C10_UNLIKELY(dispatch::in_use())) {
            Tensor result;
            if (mul_Tensor_asked(result, self, other)) {
              return result;
            }
          }
          const c10::DeviceGuard device_guard(device_of(self));
          Tensor result;
          native::mul(self, other, result);
          return result;
        }
        """,
    )


def test_numbers_are_wrapped(wrappers: Wrap) -> None:
    expect(
        wrappers(MUL, MUL_FORMULAS)[1],
        """
        Tensor mul(const Tensor& self, const Scalar& other) {
          return at::mul(self, wrapped_scalar_tensor(other, self.device()));
        }
        """,
    )


def test_in_place_keeps_a_copy_of_self(wrappers: Wrap) -> None:
    expect(
        wrappers(MUL, MUL_FORMULAS)[2],
        """
        static C10_NOINLINE bool mul__Tensor_asked(Tensor& self, const Tensor& other) {
          return dispatch::ask_to_write("mul_.Tensor", {self, other}, {&self});
        }

        static C10_NOINLINE Tensor& mul__Tensor_recorded(Tensor& self, const Tensor& other) {
          Recording recording(self, other);
          if (recording.is_recorded()) check_inplace(self);
          auto node = make_node<MulBackward0>();
          node->set_next_edges(recording.take_edges());
          if (node->should_compute_output(0)) node->other_ = SavedVariable(other, false);
          if (node->should_compute_output(1)) node->self_ = SavedVariable(copy_before_write(self), false);
          if (recording.is_repeated()) {
            at::mul_(self, other);
          } else {
            const NoGradGuard no_grad;
            if (C10_LIKELY(!dispatch::in_use() || !mul__Tensor_asked(self, other))) {
              const c10::DeviceGuard device_guard(device_of(self));
              native::mul(self, other, self);
              self.impl()->bump_version();
            }
          }
          recording.rebase_history(self, node);
          recording.propagate(*node, {self}, true);
          return self;
        }

        Tensor& mul_(Tensor& self, const Tensor& other) {
          if (C10_UNLIKELY(any_sparse(self, other))) refuse_sparse("mul.Tensor", self, other);
          if (C10_UNLIKELY(any_tracked(self, other) && is_differentiable(self))) {
            return mul__Tensor_recorded(self, other);
          }
          if (C10_UNLIKELY(dispatch::in_use()) && mul__Tensor_asked(self, other)) return self;
          const c10::DeviceGuard device_guard(device_of(self));
          native::mul(self, other, self);
          self.impl()->bump_version();
          return self;
        }
        """,
    )


def test_out_refuses_gradients(wrappers: Wrap) -> None:
    expect(
        wrappers(MUL, MUL_FORMULAS)[4],
        """
        static C10_NOINLINE bool mul_Tensor_out_asked(const Tensor& self, const Tensor& other, Tensor& out) {
          return dispatch::ask_to_write("mul.Tensor_out", {self, other, out}, {&out});
        }

        Tensor& mul_out(Tensor& out, const Tensor& self, const Tensor& other) {
          if (C10_UNLIKELY(any_sparse(out, self, other))) refuse_sparse("mul.Tensor", out, self, other);
          check_out("mul", self, other, out);
          if (C10_UNLIKELY(dispatch::in_use()) && mul_Tensor_out_asked(self, other, out)) return out;
          const c10::DeviceGuard device_guard(device_of(self));
          native::mul(self, other, out);
          out.impl()->bump_version();
          return out;
        }
        """,
    )


def test_an_alias_calls_the_function_itself(wrappers: Wrap) -> None:
    texts = wrappers(MUL + "  aliases: multiply\n", MUL_FORMULAS)
    assert len(texts) == 12
    expect(texts[6], "Tensor multiply(const Tensor& self, const Tensor& other) {\n  return at::mul(self, other);\n}")
    expect(texts[8], "Tensor& multiply_(Tensor& self, const Tensor& other) {\n  return at::mul_(self, other);\n}")
    expect(
        texts[10],
        """
        Tensor& multiply_out(Tensor& out, const Tensor& self, const Tensor& other) {
          return at::mul_out(out, self, other);
        }
        """,
    )


def test_out_of_a_composite_takes_the_result(wrappers: Wrap) -> None:
    _, out = wrappers("- func: hstack(Tensor[] tensors) -> Tensor\n  kind: composite\n  faces: out\n")
    expect(
        out,
        """
        static C10_NOINLINE bool hstack_out_asked(TensorList tensors, Tensor& out) {
          return dispatch::ask_to_write("hstack.out", {tensors, out}, {&out});
        }

        Tensor& hstack_out(Tensor& out, TensorList tensors) {
          check_out("hstack", tensors, out);
          if (C10_UNLIKELY(dispatch::in_use()) && hstack_out_asked(tensors, out)) return out;
          const c10::DeviceGuard device_guard(device_of(out));
          write_out(out, native::hstack(tensors));
          out.impl()->bump_version();
          return out;
        }
        """,
    )


def test_a_view_is_marked_outside_of_the_scope_without_grad(wrappers: Wrap) -> None:
    (text,) = wrappers("- func: t(Tensor(a) self) -> Tensor(a)\n  kind: native\n", "  self: grad.t()\n")
    expect(
        text,
        """
        static C10_NOINLINE bool t_asked(Tensor& result, const Tensor& self) {
          return dispatch::ask("t", {self}, {result});
        }

        static C10_NOINLINE Tensor t_recorded(const Tensor& self) {
          Recording recording(self);
          if (recording.is_repeated()) {
            return recording.repeat_linear([&](const Tensor& self) { return at::t(self); }, self);
          }
          auto node = make_node<TBackward0>();
          node->set_next_edges(recording.take_edges());
          Tensor result;
          {
            const NoGradGuard no_grad;
            if (C10_LIKELY(!dispatch::in_use() || !t_asked(result, self))) {
              const c10::DeviceGuard device_guard(device_of(self));
              result = native::t(self);
            }
          }
          result = as_view(self, std::move(result));
          recording.set_history(result, node);
          return result;
        }

        Tensor t(const Tensor& self) {
          if (C10_UNLIKELY(any_sparse(self))) refuse_sparse("t", self);
          if (C10_UNLIKELY(any_tracked(self))) {
            return t_recorded(self);
          }
          if (C10_UNLIKELY(dispatch::in_use())) {
            Tensor result;
            if (t_asked(result, self)) {
              result = as_view(self, std::move(result));
              return result;
            }
          }
          const c10::DeviceGuard device_guard(device_of(self));
          Tensor result = native::t(self);
          result = as_view(self, std::move(result));
          return result;
        }
        """,
    )


def test_only_differentiable_results_get_a_history(wrappers: Wrap) -> None:
    (text,) = wrappers(
        "- func: max.dim(Tensor self, int dim) -> (Tensor values, Tensor indices)\n  kind: native\n  impl: max_dim\n",
        "  self: back(grad, dim, indices)\n  output_differentiability: [True, False]\n",
    )
    assert "recording.set_history(values, node);" in text
    assert "set_history(indices, node);" not in text
    assert "std::tie(values, indices) = native::max_dim(self, dim);" in text
    assert "node->indices_ = SavedVariable(indices, recording.is_recorded());" in text


def test_composite_only_passes_on(wrappers: Wrap) -> None:
    expect(
        wrappers("- func: square(Tensor self) -> Tensor\n  kind: composite\n", "")[0],
        """
        Tensor square(const Tensor& self) {
          return as_result(native::square(self));
        }
        """,
    )
    # What may be a view of an argument stays one.
    expect(
        wrappers("- func: flat(Tensor(a) self) -> Tensor(a)\n  kind: composite\n", "")[0],
        """
        Tensor flat(const Tensor& self) {
          return native::flat(self);
        }
        """,
    )


def test_a_composite_that_is_dispatched_whole(wrappers: Wrap) -> None:
    entry = "- func: stack(Tensor[] tensors) -> Tensor\n  kind: composite\n  dispatch: whole\n"
    expect(
        wrappers(entry)[0],
        """
        static C10_NOINLINE bool stack_asked(Tensor& result, TensorList tensors) {
          return dispatch::ask("stack", {tensors}, {result});
        }

        Tensor stack(TensorList tensors) {
          if (C10_UNLIKELY(dispatch::in_use()) && !any_tracked(tensors)) {
            Tensor result;
            if (stack_asked(result, tensors)) {
              return result;
            }
          }
          return as_result(native::stack(tensors));
        }
        """,
    )


def test_factories_honour_requires_grad(wrappers: Wrap) -> None:
    factory = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
    (text,) = wrappers(f"- func: zeros(int[] size, *, {factory}) -> Tensor\n  kind: native\n", "")
    expect(
        text,
        """
        static C10_NOINLINE bool zeros_asked(Tensor& result, IntArrayRef size, const TensorOptions& options) {
          return dispatch::ask("zeros", {size, options}, {result});
        }

        Tensor zeros(IntArrayRef size, const TensorOptions& options) {
          if (C10_UNLIKELY(any_sparse(options))) refuse_sparse("zeros", options);
          if (C10_UNLIKELY(dispatch::in_use())) {
            Tensor result;
            if (zeros_asked(result, size, options)) {
              if (options.requires_grad()) result.requires_grad_(true);
              return result;
            }
          }
          Tensor result = native::zeros(size, options);
          if (options.requires_grad()) result.requires_grad_(true);
          return result;
        }
        """,
    )


def test_in_place_without_a_formula_is_refused(wrappers: Wrap) -> None:
    entry = "- func: eq(Tensor self, Tensor other) -> Tensor\n  kind: structured\n  faces: inplace\n"
    (_, text) = wrappers(entry, "  output_differentiability: [False]\n")
    assert 'check_no_formula("eq_", self);' in text


def test_detaching_in_place_writes_no_data(wrappers: Wrap) -> None:
    (text,) = wrappers("- func: detach_(Tensor(a!) self) -> Tensor(a!)\n  kind: native\n", "")
    assert "bump_version" not in text


def test_sparse_tensors_have_a_function_of_their_own(wrappers: Wrap) -> None:
    made = wrappers(MUL + "  sparse: mul_sparse\n", MUL_FORMULAS)
    call = "C10_UNLIKELY(any_sparse({0})) ? native::mul_sparse(self, other, {1}) : native::mul(self, other, {1});"
    for number, arguments, out in (
        (0, "self, other", "result"),
        (2, "self, other", "self"),
        (4, "out, self, other", "out"),
    ):
        assert call.format(arguments, out) in made[number]
        assert "refuse_sparse" not in made[number]


def test_sparse_tensors_whose_values_are_changed(wrappers: Wrap) -> None:
    structured = wrappers(
        "- func: neg(Tensor self) -> Tensor\n  kind: structured\n  sparse: values\n", "  self: -grad\n"
    )[0]
    assert "map_sparse_values(self, [&](const Tensor& self) { return at::neg(self); }, result)" in structured
    composite = wrappers("- func: isnan(Tensor self) -> Tensor\n  kind: composite\n  sparse: values\n")[0]
    assert (
        "map_sparse_values(self, [&](const Tensor& self) { return at::isnan(self); }) : native::isnan(self)"
        in composite
    )


def test_sparse_tensors_that_are_taken_as_they_are(wrappers: Wrap) -> None:
    for entry in ("kind: native\n  sparse: any", "kind: composite"):
        assert "sparse" not in wrappers(f"- func: sparse_dim(Tensor self) -> int\n  {entry}\n")[0].replace(
            "sparse_dim", ""
        )
