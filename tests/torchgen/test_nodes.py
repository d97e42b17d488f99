"""What a formula makes a node keep, and how nodes are named."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from torchgen import parse
from torchgen.errors import DeclarationError
from torchgen.nodes import identifiers, node_classes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from torchgen.model import Declarations, NativeFunction
    from torchgen.nodes import NodeClass

    Make = Callable[[str], NativeFunction]


@pytest.fixture
def node(function: Make, tmp_path: Path) -> Callable[[str, str], NodeClass]:
    """Makes the node of one function and its entry in derivatives.yaml."""

    def make(schema: str, formulas: str) -> NodeClass:
        made = function(f"- func: {schema}\n  kind: native\n")
        path = tmp_path / "derivatives.yaml"
        path.write_text(f"- name: {schema}\n{formulas}")
        (result,) = node_classes(parse.load_derivatives(path, "derivatives.yaml", [made]))
        return result

    return make


def test_only_what_is_mentioned_is_saved(node: Callable[[str, str], NodeClass]) -> None:
    made = node("mul(Tensor self, Tensor other, int n) -> Tensor", "  self: grad * other\n  other: grad * self\n")
    assert made.name == "MulBackward0"
    # Each is needed for the gradient of the other input only.
    assert [(saved.field, saved.kind, saved.needed_by) for saved in made.saved] == [
        ("other_", "tensor", frozenset({0})),
        ("self_", "tensor", frozenset({1})),
    ]


def test_a_property_is_saved_instead_of_its_tensor(node: Callable[[str, str], NodeClass]) -> None:
    made = node(
        "sum(Tensor self, int[1]? dim) -> Tensor", "  self: sum_backward(grad, self.sizes(), dim, self.dim())\n"
    )
    assert made.expressions == ("sum_backward(grad, self_sizes, dim, self_dim)",)
    assert [(saved.field, saved.cpp_type, saved.value) for saved in made.saved] == [
        ("dim", "::std::optional<::std::vector<int64_t>>", "dim.vec()"),
        ("self_dim", "int64_t", "self.dim()"),
        ("self_sizes", "::std::vector<int64_t>", "self.sizes().vec()"),
    ]


def test_results_and_lists(node: Callable[[str, str], NodeClass]) -> None:
    made = node(
        "pick(Tensor[] tensors, Tensor?[] indices) -> (Tensor values, Tensor places)",
        "  tensors: back(grad, sizes_of(tensors), indices, places)\n  non_differentiable: indices\n"
        "  output_differentiability: [True, False]\n",
    )
    assert {saved.name: saved.kind for saved in made.saved} == {
        "indices": "tensors",
        "places": "result",
        "tensors_sizes": "value",
    }


def test_a_formula_must_use_grad(node: Callable[[str, str], NodeClass]) -> None:
    with pytest.raises(DeclarationError, match=r"derivatives\.yaml:2: the formula of `self` does not use `grad`"):
        node("f(Tensor self) -> Tensor", "  self: self * 2\n")


def test_inputs_whose_gradients_come_together(node: Callable[[str, str], NodeClass]) -> None:
    made = node("f(Tensor a, Tensor b, Tensor c) -> Tensor", "  a: both(grad, a, b)\n  b: with a\n  c: grad\n")
    assert made.expressions == ("both(grad, a, b)", "", "grad")
    with pytest.raises(DeclarationError, match="expected `with` and the input before"):
        node("f(Tensor a, Tensor b, Tensor c) -> Tensor", "  a: grad\n  b: grad\n  c: with a\n")


def test_identifiers_are_names_that_stand_alone() -> None:
    assert identifiers('grad.expand(self_sizes) * at::neg(x->y) + other("text")') == {
        "grad",
        "self_sizes",
        "x",
        "other",
    }


@pytest.mark.parametrize(
    "name",
    [
        "AddBackward0", "MmBackward0", "AddmmBackward0", "SigmoidBackward0", "MseLossBackward0", "TBackward0",
        "ViewBackward0", "SumBackward0", "SumBackward1", "NllLossBackward0", "LogSoftmaxBackward0", "SoftmaxBackward0",
        "CloneBackward0", "ToCopyBackward0", "SelectBackward0", "SliceBackward0", "IndexBackward0", "CopyBackwards",
        "AsStridedBackward0", "PowBackward0", "PowBackward1", "MaxBackward0", "MaxBackward1", "MeanBackward0",
    ],
)  # fmt: skip
def test_names_are_those_of_pytorch(declarations: Declarations, name: str) -> None:
    assert name in {node.name for node in node_classes(declarations.derivatives)}


def test_names_are_unique(declarations: Declarations) -> None:
    names = [node.name for node in node_classes(declarations.derivatives)]
    assert len(set(names)) == len(names)


def test_every_formula_is_compared_with_central_differences(source: Path, declarations: Declarations) -> None:
    """The C++ tests have a row, or another test, for every function that has a formula."""
    tests = source / "test" / "cpp" / "autograd"
    rows = "".join((tests / name).read_text() for name in ("formulas.cpp", "formulas_nn.cpp"))
    missing = [
        node.info.function.schema.full_name
        for node in node_classes(declarations.derivatives)
        if not re.search(rf"(::|\.|UNARY\(){node.info.function.schema.name}\b", rows)
    ]
    assert missing == []
