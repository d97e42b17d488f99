"""The C++ signatures of schemas; each row is one line of the table in ARCHITECTURE.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from torchgen import api
from torchgen.schema import parse_schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchgen.model import NativeFunction

FACTORY = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"


@pytest.mark.parametrize(
    ("schema", "cpp"),
    [
        ("Tensor self", "const Tensor& self"),
        ("Tensor? weight=None", "const Tensor& weight = {}"),
        ("Tensor[] tensors", "TensorList tensors"),
        ("Tensor?[] indices", "TensorList indices"),
        ("int dim=-1", "int64_t dim = -1"),
        ("int? end=None", "::std::optional<int64_t> end = ::std::nullopt"),
        ("int[] size", "IntArrayRef size"),
        ("int[1] dim=[]", "IntArrayRef dim = {}"),
        ("int[2] dims=[1, 0]", "IntArrayRef dims = {1, 0}"),
        ("int[1]? dim=None", "OptionalIntArrayRef dim = ::std::nullopt"),
        ("float eps=1e-05", "double eps = 1e-05"),
        ("bool keepdim=False", "bool keepdim = false"),
        ("Scalar alpha=1", "const Scalar& alpha = 1"),
        ("Scalar? min=None", "const ::std::optional<Scalar>& min = ::std::nullopt"),
        ("str approximate='none'", '::std::string_view approximate = "none"'),
        ("str? mode", "::std::optional<::std::string_view> mode"),
        ("ScalarType? dtype=None", "::std::optional<ScalarType> dtype = ::std::nullopt"),
        ("Device? device=None", "::std::optional<Device> device = ::std::nullopt"),
        ("Generator? generator=None", "const Generator& generator = {}"),
        (FACTORY, "const TensorOptions& options = {}"),
        (FACTORY.replace("dtype=None", "dtype=long"), "const TensorOptions& options = kLong"),
    ],
)
def test_arguments(schema: str, cpp: str) -> None:
    (argument,) = api.cpp_arguments(parse_schema(f"f({schema}) -> Tensor"), public=True)
    assert argument.declaration(with_default=True) == cpp


@pytest.mark.parametrize(
    ("schema", "cpp"),
    [
        ("Tensor", "Tensor"),
        ("Tensor[]", "::std::vector<Tensor>"),
        ("Scalar", "Scalar"),
        ("bool", "bool"),
        ("(Tensor values, Tensor indices)", "::std::tuple<Tensor, Tensor>"),
        ("()", "void"),
    ],
)
def test_results(schema: str, cpp: str) -> None:
    assert api.result_type(parse_schema(f"f(int a) -> {schema}")) == cpp


def test_a_structured_function_writes_to_out(function: Callable[[str], NativeFunction]) -> None:
    made = function(
        "- func: add.Tensor(Tensor self, Tensor other) -> Tensor\n  kind: structured\n  faces: inplace, out\n"
    )
    assert api.native_signature(made).declaration() == "void add(const Tensor& self, const Tensor& other, Tensor& out)"
    declarations = [api.function_signature(face).declaration() for face in made.faces]
    assert declarations == [
        "Tensor add(const Tensor& self, const Tensor& other)",
        "Tensor& add_(Tensor& self, const Tensor& other)",
        "Tensor& add_out(Tensor& out, const Tensor& self, const Tensor& other)",
    ]


def test_the_native_optional_list_is_a_std_optional() -> None:
    (argument,) = api.cpp_arguments(parse_schema("f(int[1]? dim) -> Tensor"), public=False)
    assert argument.type == "::std::optional<IntArrayRef>"


def test_random_factories_have_an_overload_without_generator(function: Callable[[str], NativeFunction]) -> None:
    made = function(f"- func: rand(int[] size, *, Generator? generator=None, {FACTORY}) -> Tensor\n  kind: native\n")
    short = api.without_generator(api.function_signature(made.faces[0]))
    assert short is not None
    assert short.declaration() == "Tensor rand(IntArrayRef size, const TensorOptions& options)"
