"""Extensions with pybind11, compiled by torch.utils.cpp_extension.load: what goes between C++ and Python."""

from __future__ import annotations

import ast
import gc
import runpy
import subprocess
import sys
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

import extension_sources
import pytest

import torch

pytest.importorskip("setuptools", reason="extensions are built with setuptools")

from torch.utils import cpp_extension
from torch.utils._extension_paths import folders, pybind11_folder

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(pybind11_folder() is None, reason="pybind11 is not installed"),
    pytest.mark.skipif(not cpp_extension.is_ninja_available(), reason="Ninja is not installed"),
    pytest.mark.skipif(
        not any((folder / "torch" / "extension.h").is_file() for folder in folders("include")),
        reason="torch's headers are not installed",
    ),
]


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A cache of compiled extensions of these tests' own."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("torch_extensions")
        patch.setenv("TORCH_EXTENSIONS_DIR", str(folder))
        yield folder


@pytest.fixture(scope="module")
def m(cache: Path) -> Any:
    return cpp_extension.load_inline(
        "conversions", extension_sources.CONVERSIONS, extra_cflags=["-O0", "-Wall", "-Werror"]
    )


def test_tensors_keep_their_python_object(m: Any) -> None:
    x = torch.arange(3.0)
    x.note = "mine"
    assert m.same(x) is x
    assert m.maybe(x) is x
    assert m.last([torch.ones(1), x]) is x
    assert m.swapped((torch.ones(1), x))[0] is x
    assert m.with_size(x) == (x, 3)
    assert m.twice(x=x).tolist() == [0.0, 2.0, 4.0]
    assert type(m.twice(x)) is torch.Tensor
    parameter = torch.nn.Parameter(torch.ones(2))
    assert m.same(parameter) is parameter
    m.add_one(x)
    assert x.tolist() == [1.0, 2.0, 3.0]
    assert m.c_api(x) == 3


def test_none(m: Any) -> None:
    assert m.maybe(None) is None
    assert m.maybe() is None
    assert m.undefined() is None
    assert m.maybe_dtype(None) is None


@pytest.mark.parametrize("wrong", [None, 3, [1.0], "x"])
def test_what_is_no_tensor_is_refused(m: Any, wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"incompatible function arguments(.|\n)*x: torch.Tensor\) -> torch.Tensor"):
        m.twice(wrong)
    with pytest.raises(TypeError, match="no tensor"):
        m.c_api(wrong)


def test_sizes_numbers_dtypes_and_devices(m: Any) -> None:
    full = m.filled((2, 3), 1.5)
    assert (full.shape, full.dtype, full.sum().item()) == ((2, 3), torch.float32, 9.0)
    assert m.filled([2], True, dtype=torch.bool).tolist() == [True, True]
    assert m.filled(torch.Size([1]), 7, torch.int64, torch.device("meta")).device.type == "meta"
    assert m.filled(size=(torch.tensor(2),), value=torch.tensor(4), dtype=float).tolist() == [4.0, 4.0]
    assert m.list_of((1, 2**40)) == [1, 2**40]
    assert m.sizes(torch.empty(2, 0)) == (2, 0)
    assert m.dtype_of(torch.ones(1, dtype=torch.float64)) is torch.float64
    assert m.maybe_dtype(torch.uint8) is torch.uint8
    assert m.device_of(torch.ones(1)) == torch.device("cpu")
    assert [(type(value), value) for value in (m.scalar(2), m.scalar(2.5), m.scalar(True))] == [
        (int, 2), (float, 2.5), (bool, True)
    ]  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    [(3, 1), ((1.5,), 1), ((True,), 1), (("a",), 1), ((1,), "a"), ((1,), None), ((1,), 1, "float32"),
     ((1,), 1, torch.float32, "cpu"), ((1,), 1, torch.float32, 0)],
)  # fmt: skip
def test_other_types_are_refused(m: Any, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError, match="incompatible function arguments"):
        m.filled(*arguments)


def test_values_that_cannot_be_are_told(m: Any) -> None:
    assert m.filled((1,), 1, torch.float16).dtype is torch.float16
    with pytest.raises(ValueError, match="Overflow when unpacking long"):
        m.list_of((2**70,))


@pytest.mark.parametrize(
    ("kind", "exception", "message"),
    [("error", RuntimeError, "^it is an error$"), ("index", IndexError, "^it is an index$"),
     ("value", ValueError, "^it is a value$"), ("type", TypeError, "^it is a type$"),
     ("not implemented", NotImplementedError, "^it is to do$"), ("out of range", IndexError, "^pybind11's own$"),
     ("std", RuntimeError, "^of the library$"), ("python", KeyError, "of Python")],
)  # fmt: skip
def test_errors_become_exceptions(m: Any, kind: str, exception: type[Exception], message: str) -> None:
    with pytest.raises(exception, match=message) as caught:
        m.fail(kind)
    assert caught.type is exception


def test_errors_of_operators_and_of_python_below_c(m: Any) -> None:
    with pytest.raises(RuntimeError, match="grad"):
        m.backward(torch.ones(1))

    class Mine(Exception):
        pass

    def hook(grad: torch.Tensor) -> None:
        raise Mine("from a hook")

    x = torch.ones(1, requires_grad=True)
    x.register_hook(hook)
    with pytest.raises(Mine, match="from a hook"):
        m.backward(x * 2)


def test_gil_can_be_released(m: Any) -> None:
    assert m.gil_is_released()


@pytest.mark.parametrize("call", ["same", "twice", "maybe", "refused", "failed"])
def test_nothing_leaks(m: Any, call: str) -> None:
    functions: dict[str, Callable[[torch.Tensor], Any]] = {
        "same": m.same,
        "twice": m.twice,
        "maybe": m.maybe,
        "refused": lambda x: _fails(lambda: m.filled(x, 1)),
        "failed": lambda x: _fails(lambda: m.filled((1,), torch.ones(2), x)),
    }
    x = torch.ones(1000)
    before = sys.getrefcount(x)
    for _ in range(100):
        functions[call](x)
    gc.collect()
    assert sys.getrefcount(x) == before
    reference = weakref.ref(x)
    result = functions[call](x)
    del x, result
    gc.collect()
    assert reference() is None


def _fails(call: Callable[[], Any]) -> None:
    with pytest.raises(TypeError):
        call()


def test_function_with_forward_and_backward_in_cpp(tmp_path: Path) -> None:
    source = tmp_path / "gate.cpp"
    source.write_text(extension_sources.GATE)
    gate = cpp_extension.load("gate", [str(source)], extra_cflags=["-O0"])

    class Gate(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, input: Any, weight: Any, bias: Any) -> Any:
            output, z, gates = gate.forward(input, weight, bias)
            ctx.save_for_backward(input, weight, z, gates)
            return output

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return tuple(gate.backward(grad.contiguous(), *ctx.saved_tensors))

    inputs = [torch.randn(*size, dtype=torch.float64, requires_grad=True) for size in ((4, 3), (2, 3), (2,))]
    assert torch.autograd.gradcheck(Gate.apply, inputs)
    input, weight, bias = inputs
    expected = torch.nn.functional.silu(torch.nn.functional.linear(input, weight, bias))
    assert torch.allclose(Gate.apply(*inputs), expected)
    with pytest.raises(RuntimeError, match="grad and output differ in size"):
        gate.backward(torch.ones(1, 1), *(torch.ones(2, 2) for _ in range(4)))


def test_example(capsys: pytest.CaptureFixture[str]) -> None:
    program = Path(__file__).resolve().parents[2] / "examples" / "extension.py"
    runpy.run_path(str(program))
    assert capsys.readouterr().out in ast.get_docstring(ast.parse(program.read_text())) + "\n"


ANSWER = "int64_t answer() { return %d; }"


def test_what_was_compiled_is_used_again(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(number: int) -> Any:
        return cpp_extension.load_inline("answer", ANSWER % number, functions="answer", extra_cflags=["-O0"])

    first, second = answer(41), answer(42)
    assert (first.answer(), second.answer()) == (41, 42)
    libraries = {path: path.stat().st_mtime_ns for path in cache.glob("py*/answer/*/answer.so")}
    assert len(libraries) == 2
    assert answer(41) is first
    assert {path: path.stat().st_mtime_ns for path in cache.glob("py*/answer/*/answer.so")} == libraries
    monkeypatch.setenv("CXX", "false")
    with pytest.raises(Exception, match="false"):
        answer(43)


def test_changed_header_is_compiled_again_and_loaded(tmp_path: Path) -> None:
    header, source = tmp_path / "number.h", tmp_path / "number.cpp"
    source.write_text('#include "number.h"\n#include <torch/extension.h>\n'
                      "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.attr(\"number\") = NUMBER; }\n")  # fmt: skip
    build = tmp_path / "build with spaces"
    build.mkdir()
    for number in (1, 2, 3):
        header.write_text(f"#define NUMBER {number}\n")
        module = cpp_extension.load("number", str(source), build_directory=str(build), extra_cflags=["-O0"])
        assert module.number == number
    assert (build / "number.so").is_file()


def test_program_and_plain_library(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program, library = tmp_path / "program.cpp", tmp_path / "library.cpp"
    program.write_text("#include <torch/torch.h>\n#include <cstdio>\n"
                       'int main() { std::printf("%g\\n", at::ones({5}).sum().item<double>()); }\n')  # fmt: skip
    path = cpp_extension.load("program", str(program), is_standalone=True, verbose=True)
    assert subprocess.run([path], capture_output=True, text=True, check=True).stdout == "5\n"
    assert "Building extension program" in capfd.readouterr().out
    library.write_text(
        '#include <cstdio>\nstatic const int once = [] { std::fputs("loaded\\n", stderr); return 1; }();\n'
    )
    assert cpp_extension.load("library", str(library), is_python_module=False) is None
    assert capfd.readouterr().err == "loaded\n"


def test_what_cannot_be_built_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RuntimeError, match=r"Error building extension 'broken'(.|\n)*error: (.|\n)*nonsense"):
        cpp_extension.load_inline("broken", "int f() { return nonsense; }", functions=["f"])
    with pytest.raises(FileNotFoundError, match=r"missing\.cpp"):
        cpp_extension.load("x", [str(tmp_path / "missing.cpp")])
    for arguments in ({"cuda_sources": "x"}, {"with_cuda": True}):
        with pytest.raises(NotImplementedError, match="find_package"):
            cpp_extension.load_inline("x", "", **arguments)
    with pytest.raises(ValueError, match="identifier"):
        cpp_extension.load_inline("a-b", "")
    with pytest.raises(ValueError, match="no name of a C"):
        cpp_extension.load_inline("x", "", functions=["f(); evil"])
    with pytest.raises(FileNotFoundError, match="does not exist"):
        cpp_extension.load_inline("x", "", build_directory=str(tmp_path / "nowhere"))
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(RuntimeError, match="no-such-compiler"):
        cpp_extension.load_inline("x", "")


def test_missing_pybind11_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from torch.utils import _jit_extension

    monkeypatch.setattr(_jit_extension, "pybind11_folder", lambda: None)
    with pytest.raises(FileNotFoundError, match="conda install pybind11"):
        cpp_extension.load_inline("x", "")
    source = tmp_path / "bare.cpp"
    source.write_text("#include <torch/extension.h>\n")
    headers = tmp_path / "include"  # torch's and pybind11's may share a folder
    headers.mkdir()
    for entry in Path(cpp_extension.include_paths()[0]).iterdir():
        if entry.name != "pybind11":
            (headers / entry.name).symlink_to(entry)
    monkeypatch.setattr(_jit_extension, "include_paths", lambda: [str(headers)])
    with pytest.raises(RuntimeError, match="pip install pybind11"):
        cpp_extension.load("bare", str(source))
