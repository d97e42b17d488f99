"""The faces of a native function: their schemas, names and places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchgen.model import FaceKind, Variant

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchgen.model import NativeFunction

    Make = Callable[[str], NativeFunction]

ADD = """\
- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  variants: function, method
  kind: structured
  faces: inplace, out
  numbers: other
"""


def test_faces_of_a_binary_operator(function: Make) -> None:
    assert [str(face.schema) for face in function(ADD).faces] == [
        "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
        "add.Scalar(Tensor self, Scalar other, *, Scalar alpha=1) -> Tensor",
        "add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
        "add_.Scalar(Tensor(a!) self, Scalar other, *, Scalar alpha=1) -> Tensor(a!)",
        "add.Tensor_out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
        "add.Scalar_out(Tensor self, Scalar other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
    ]


def test_where_faces_are_found(function: Make) -> None:
    places = {face.kind: face.variants for face in function(ADD).faces if not face.wrapped}
    assert places == {
        FaceKind.SELF: {Variant.FUNCTION, Variant.METHOD},
        FaceKind.INPLACE: {Variant.METHOD},
        FaceKind.OUT: {Variant.FUNCTION},
    }


def test_several_numbers_give_every_combination(function: Make) -> None:
    where = function(
        "- func: where.self(Tensor condition, Tensor self, Tensor other) -> Tensor\n"
        "  variants: function, method\n  kind: structured\n  numbers: self, other\n"
    )
    assert [face.schema.full_name for face in where.faces] == [
        "where.self",
        "where.ScalarSelf",
        "where.ScalarOther",
        "where.Scalar",
    ]
    # A number has no methods.
    assert [Variant.METHOD in face.variants for face in where.faces] == [True, False, True, False]


def test_a_native_function_is_its_only_face(function: Make) -> None:
    fill = function("- func: fill_(Tensor(a!) self, Scalar value) -> Tensor(a!)\n  kind: native\n")
    (face,) = fill.faces
    assert face.is_inplace
    assert face.schema == fill.schema
