"""Each mistake in a YAML file is an error with file, line and advice: one small bad input and one message each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from torchgen import element_types, parse
from torchgen.errors import DeclarationError

if TYPE_CHECKING:
    from pathlib import Path

    from torchgen.model import Declarations

KERNELS = '- {kernel: "add(TensorIterator& iter, const Scalar& alpha)", backends: "CPU, CUDA"}\n'
ADD = "- func: add(Tensor self, Tensor other) -> Tensor\n  kind: native\n"

TYPES = """
// row(C++ type, enumerator, number, Python name, second Python name or "")
  row(float, Float, 6, "float32", "float", "f", "float")  \\
  row(c10::BFloat16, BFloat16, 15, "bfloat16", "", "", "c10::BFloat16")
"""


def load(
    folder: Path,
    functions: str = "",
    kernels: str = KERNELS,
    derivatives: str = "",
    docstrings: str = "",
    types: str = TYPES,
) -> Declarations:
    files = {
        "native_functions": functions,
        "kernels": kernels,
        "derivatives": derivatives,
        "docstrings": docstrings,
    }
    for name, text in files.items():
        (folder / "aten").mkdir(exist_ok=True)
        (folder / "aten" / f"{name}.yaml").write_text(text)
    header = folder / element_types.HEADER
    header.parent.mkdir(parents=True, exist_ok=True)
    header.write_text(types)
    return parse.load(folder)


def message_of(folder: Path, **texts: str) -> str:
    with pytest.raises(DeclarationError) as caught:
        load(folder, **texts)
    return str(caught.value)


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        (ADD + "  color: red\n", "native_functions.yaml:3: unknown key `color`\n  hint: the keys are func, variants"),
        (ADD + "  kind: native\n", "native_functions.yaml:3: the key `kind` stands twice in one entry"),
        (
            ADD + ADD,
            "native_functions.yaml:3: `add` is declared twice\n  hint: the first is at aten/native_functions.yaml:1",
        ),
        ("- func: add(Tensor self)\n", "native_functions.yaml:1: `add(Tensor self)` is not of the form"),
        ("- func: add(Tensor self) -> Tensor\n", "native_functions.yaml:1: the key `kind` is missing"),
        (ADD.replace("native", "magic"), "native_functions.yaml:2: `magic` is no value of `kind`"),
        (ADD + "  variants: function, methud\n", "native_functions.yaml:3: `methud` is no value of `variants`"),
        (ADD + "  variants: function, function\n", "native_functions.yaml:3: `variants` names `function` twice"),
        (
            ADD + "  kernels: sub\n",
            "native_functions.yaml:3: unknown kernel `sub`\n  hint: declare it in aten/kernels.yaml",
        ),
        (
            "- func: max(Tensor self) -> (Tensor values, Tensor indices)\n  kind: native\n  faces: inplace\n",
            "native_functions.yaml:3: `max` has the face inplace, so it must return one `Tensor`",
        ),
        (
            "- func: max(Tensor self) -> (Tensor values, int index)\n  kind: native\n  faces: out\n",
            "native_functions.yaml:3: `max` has the face out, so it must return new `Tensor`s",
        ),
        (ADD + "  python_module: algebra\n", "native_functions.yaml:3: `algebra` is no value of `python_module`"),
        (ADD + "  aliases: Plus\n", "native_functions.yaml:3: `Plus` is no second name for `add`"),
        (ADD + "  aliases: add\n", "native_functions.yaml:3: `add` is no second name for `add`"),
        (ADD + "  aliases: plus_\n", "native_functions.yaml:3: `plus_` is no second name for `add`"),
        (
            ADD + "  aliases: plus\n- func: sub(Tensor self) -> Tensor\n  kind: native\n  aliases: plus\n",
            "native_functions.yaml:6: `plus` is a name of `add` already, so it cannot be one of `sub`",
        ),
        (ADD + "  impl: 2add\n", "native_functions.yaml:3: `2add` is no C++ name"),
        (ADD + "  numbers: third\n", "native_functions.yaml:3: `add` has no argument `Tensor third`"),
        (
            "- func: zeros(int[] size) -> Tensor\n  kind: native\n  variants: method\n",
            "native_functions.yaml:3: `zeros` has no Tensor `self`, so it cannot be a method",
        ),
        (
            "- func: max(Tensor self) -> (Tensor values, Tensor indices)\n  kind: structured\n",
            "native_functions.yaml:2: `max` is structured, so it must return one `Tensor`",
        ),
        (
            "- func: fill(Tensor(a!) self) -> Tensor(a!)\n  kind: native\n",
            "native_functions.yaml:1: `fill`: a name ends in `_` exactly when its first argument is `Tensor(a!)`",
        ),
        (
            "- func: where(Tensor a, Tensor self) -> Tensor\n  kind: structured\n  faces: inplace\n",
            "native_functions.yaml:3: `where` has the face inplace, so it must start with `Tensor self`",
        ),
        (
            "- func: f.a(int a) -> Tensor\n  kind: native\n- func: f.b(int b) -> Tensor\n  kind: native\n",
            "native_functions.yaml:3: `f.b` and `f.a` have the same implementation `f(int)`\n  hint: rename one",
        ),
        ("- a: [\n", "native_functions.yaml:2: not YAML"),
        ("func: x\n", "native_functions.yaml:1: expected a list of entries"),
        ("- x\n", "native_functions.yaml:1: expected an entry of the form `key: value`"),
        ("- func: [a, b]\n", "native_functions.yaml:1: `func` must be text, not a list"),
    ],
)
def test_wrong_function(tmp_path: Path, functions: str, message: str) -> None:
    assert message in message_of(tmp_path, functions=functions)


COMPOSITE = ADD.replace("native", "composite") + "  aliases: plus\n"


@pytest.mark.parametrize(
    ("docstrings", "message"),
    [
        ("- function: add\n", "docstrings.yaml:1: the key `text` is missing"),
        ("- function: sub\n  text: A.\n", "docstrings.yaml:1: no function is called `sub`\n  hint: write a name of"),
        ("- function: add\n  text: A.\n  note: B\n", "docstrings.yaml:3: unknown key `note`"),
        ("- function: add\n  text: A\n", "docstrings.yaml:2: the text of `add` must begin with a sentence"),
        (
            "- function: add\n  text: A.\n  example: x\n",
            "docstrings.yaml:3: the example of `add` must begin with `>>> `",
        ),
        (
            "- function: add\n  text: A.\n- function: add\n  text: B.\n",
            "docstrings.yaml:3: `add` is described twice\n  hint: the first is at aten/docstrings.yaml:1",
        ),
    ],
)
def test_wrong_docstring(tmp_path: Path, docstrings: str, message: str) -> None:
    assert message in message_of(tmp_path, functions=COMPOSITE, docstrings=docstrings)


def test_element_types(tmp_path: Path, source: Path) -> None:
    assert load(tmp_path, functions=COMPOSITE).element_types == (
        element_types.ElementType("Float", ("float32", "float")),
        element_types.ElementType("BFloat16", ("bfloat16",)),
    )
    names = {name for item in element_types.load_element_types(source) for name in item.names}
    assert {"float32", "float", "int8", "int64", "bool", "half"} < names
    assert "ScalarType.h:1: has no rows of element types" in message_of(tmp_path, functions=COMPOSITE, types="none")


def test_a_docstring(tmp_path: Path) -> None:
    text = "- function: plus\n  text: |\n    The sum\n    of both.\n\n    Shapes.\n  example: |\n    >>> 1\n    1\n"
    (docstring,) = load(tmp_path, functions=COMPOSITE, docstrings=text).docstrings
    assert docstring.summary == "The sum of both."
    assert docstring.text == "The sum\nof both.\n\nShapes."
    assert docstring.example == ">>> 1\n1"


@pytest.mark.parametrize(
    ("kernels", "message"),
    [
        (KERNELS + KERNELS, "kernels.yaml:2: the kernel `add` is declared twice"),
        ('- {kernel: "add", backends: CPU}\n', "kernels.yaml:1: `add` is not of the form `name(C++ arguments)`"),
        ('- {kernel: "add(int)", backends: CPU}\n', "kernels.yaml:1: `int` is not a C++ argument"),
        ('- {kernel: "add(int64_t a)", backends: TPU}\n', "kernels.yaml:1: unknown backend `TPU`"),
        ('- {kernel: "add(int64_t a)"}\n', "kernels.yaml:1: the kernel `add` names no backend"),
        (
            '- {kernel: "add( int64_t a)", backends: CPU}\n',
            "kernels.yaml:1: `add( int64_t a)` must be written `add(int64_t a)`",
        ),
    ],
)
def test_wrong_kernel(tmp_path: Path, kernels: str, message: str) -> None:
    assert message in message_of(tmp_path, kernels=kernels)


NAME = "- name: add(Tensor self, Tensor other) -> Tensor\n"


@pytest.mark.parametrize(
    ("derivatives", "message"),
    [
        ("", "native_functions.yaml:1: `add` has no entry in aten/derivatives.yaml"),
        (
            "- name: add(Tensor self) -> Tensor\n",
            "derivatives.yaml:1: no function has the schema `add(Tensor self) -> Tensor`",
        ),
        (NAME + "  self: grad\n", "derivatives.yaml:1: the input `other` of `add` has no formula"),
        (NAME + "  third: grad\n", "derivatives.yaml:2: unknown key `third`"),
        (
            NAME + "  self: grad\n  non_differentiable: third\n",
            "derivatives.yaml:3: `add` has no Tensor argument `third`",
        ),
        (
            NAME + "  self: grad\n  other: grad\n  non_differentiable: other\n",
            "the input `other` of `add` has both a formula and `non_differentiable`",
        ),
        (
            NAME + "  output_differentiability: [True, False]\n",
            "derivatives.yaml:2: expected a list of 1 times True or False",
        ),
        (
            (NAME + "  self: grad\n  other: grad\n") * 2,
            "derivatives.yaml:4: `add(Tensor self, Tensor other) -> Tensor` stands twice",
        ),
    ],
)
def test_wrong_derivative(tmp_path: Path, derivatives: str, message: str) -> None:
    assert message in message_of(tmp_path, functions=ADD, derivatives=derivatives)


def test_composite_has_no_formula(tmp_path: Path) -> None:
    text = message_of(
        tmp_path, functions=ADD.replace("native", "composite"), derivatives=NAME + "  self: grad\n  other: grad\n"
    )
    assert "derivatives.yaml:1: `add` is composite: it is differentiated through its parts" in text


def test_kernels_print_back(source: Path, declarations: Declarations) -> None:
    text = (source / parse.KERNELS_FILE).read_text()
    for kernel in declarations.kernels:
        assert f'"{kernel}"' in text
