"""A schema parses into its parts and prints back; a wrong one says what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from torchgen.errors import SchemaError
from torchgen.model import BaseType
from torchgen.schema import parse_schema, parse_type

if TYPE_CHECKING:
    from torchgen.model import Declarations


def test_every_schema_and_face_prints_back(declarations: Declarations) -> None:
    for face in declarations.faces:
        assert str(parse_schema(str(face.schema))) == str(face.schema)
        assert parse_schema(str(face.schema)) == face.schema


def test_parts() -> None:
    schema = parse_schema("sum.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor")
    assert (schema.name, schema.overload, schema.full_name) == ("sum", "dim", "sum.dim")
    assert [argument.name for argument in schema.positional] == ["self", "dim", "keepdim"]
    assert [argument.name for argument in schema.keyword_only] == ["dtype"]
    dim = schema.argument("dim").type
    assert (dim.base, dim.is_list, dim.list_size, dim.optional) == (BaseType.INT, True, 1, True)
    assert schema.argument("keepdim").default == "False"
    assert schema.self_argument is schema.arguments[0]


def test_lists_of_optional_tensors() -> None:
    indices = parse_type("Tensor?[]")
    assert indices.is_tensor_list
    assert indices.element_optional
    assert not indices.optional


def test_aliases() -> None:
    schema = parse_schema("fill_(Tensor(a!) self, Scalar value) -> Tensor(a!)")
    assert schema.is_inplace
    assert schema.arguments[0].type.is_write
    assert not parse_schema("t(Tensor(a) self) -> Tensor(a)").is_inplace


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("add(Tensor self)", "is not of the form `name.overload(Type argument, ...) -> Type`"),
        ("add(Tenser self) -> Tensor", "`Tenser` is not a type"),
        ("add(Tensor) -> Tensor", "`Tensor` is not an argument of the form"),
        ("add(Tensor self, Tensor self) -> Tensor", "two arguments are called `self`"),
        ("add(Tensor self, *, int a, *, int b) -> Tensor", "`*` stands twice"),
        ("add(int a=1, int b) -> Tensor", "`int b` has no default but follows `int a=1`, which has one"),
        ("add(int a=x) -> Tensor", "`int a=x`: `x` is no int"),
        ("add(bool a=1) -> Tensor", "`bool a=1`: `1` is no bool"),
        ("add(int a=None) -> Tensor", "only a type with `?` can be None"),
        ("add(int[] a=1) -> Tensor", "the default of a list is written `[1, 2]`"),
        ("add(int(a) self) -> Tensor", "only a Tensor can alias another"),
        ("t(Tensor self) -> Tensor(a)", "the result `Tensor(a)` aliases no argument"),
        ("add(Tensor self,  int a) -> Tensor", "must be written `add(Tensor self, int a) -> Tensor`"),
    ],
)
def test_wrong_schema(text: str, message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        parse_schema(text)
    assert message in str(caught.value)
