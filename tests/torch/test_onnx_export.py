"""torch.onnx.export: families of models in onnxruntime, at the sizes they were recorded at and at others."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import onnx_models
import pytest

import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.nn import functional as F
from torch.onnx import _program, errors
from torch.onnx._recording import flatten_outputs

onnx = pytest.importorskip("onnx", reason="onnx is not installed")
pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

if TYPE_CHECKING:
    from pathlib import Path

FAMILIES = onnx_models.cases()


def export(model: Any, *args: Any, **options: Any) -> Any:
    return torch.onnx.export(model, args, **options)


def check(program: Any, model: Any, *args: Any, **kwargs: Any) -> None:
    """onnxruntime gives what the model gives."""
    with torch.no_grad():
        expected = list(flatten_outputs(model(*args, **kwargs)))
    for mine, other in zip(program(*args, **kwargs), expected, strict=True):
        torch.testing.assert_close(mine, torch.as_tensor(other), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("opset", [17, 18, 20, 23])
@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_runs_at_its_sizes_and_at_others(name: str, opset: int) -> None:
    model, args, dynamic, others = FAMILIES[name]
    program = export(model, *args, dynamic_shapes=dynamic, opset_version=opset)
    check(program, model, *args)
    check(program, model, *others)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_with_static_sizes(name: str) -> None:
    model, args, _, _ = FAMILIES[name]
    program = export(model, *args)
    check(program, model, *args)
    sizes = [size for port in program.model_proto.graph.input for size in port.type.tensor_type.shape.dim]
    assert all(size.HasField("dim_value") for size in sizes)


# ---------------------------------------------------------------------- what a graph cannot be


class DependsOnData(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            return x * 2
        return x


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (DependsOnData(), "bool(tensor)"),
        (lambda x: x * x.max().item(), "tensor.item()"),
        (lambda x: x * float(x.max()), "float(tensor)"),
        (lambda x: x[: int(x.abs().max())], "int(tensor)"),
        (lambda x: torch.tensor(x.tolist()), "tensor.tolist()"),
        (lambda x: torch.from_numpy(x.numpy()), "tensor.numpy()"),
        (lambda x: x if torch.equal(x, x) else -x, "tensor.equal()"),
    ],
)
def test_control_flow_that_depends_on_data_is_refused_with_its_place(function: Any, words: str) -> None:
    with pytest.raises(
        errors.DataDependentError, match=rf"test_onnx_export\.py:\d+: {words.replace('(', '.').replace(')', '.')}"
    ):
        export(function, torch.ones(3))


def burnt_in(function: Any, **options: Any) -> Any:
    return pytest.raises(errors.DynamicShapeError, match=r"test_onnx_export\.py:\d+"), function, options


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * int(x.shape[0]),
        lambda x: x * len(x),
        lambda x: x / math.sqrt(x.shape[0]),
        lambda x: sum(x[row] for row in range(x.shape[0])),
        lambda x: x + torch.arange(int(x.shape[0])).float()[:, None],
        lambda x: x + torch.tensor([float(f"{x.shape[0]}")]),
        lambda x: torch.cat(list(x)),
        lambda x: x * 2 if x.shape[0] > 100 else x,
        lambda x: x if x.shape[0] % 2 == 0 else -x,
        lambda x: x[: min(x.shape[0], 5)],
    ],
)
def test_a_size_that_was_burnt_in_is_an_error_with_its_place(function: Any) -> None:
    with pytest.raises(errors.DynamicShapeError, match=r"test_onnx_export\.py:\d+"):
        export(function, torch.randn(4, 3), dynamic_shapes=({0: "rows"},))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * x.shape[0],
        lambda x: x / x.shape[0] ** 0.5,
        lambda x: x[: x.shape[0] // 2 + 1],
        lambda x: x.reshape(x.shape[0] * x.shape[1]),
        lambda x: x.view(-1),
        lambda x: x + torch.arange(x.size(0), dtype=torch.float32)[:, None],
        lambda x: torch.zeros(x.shape[0], x.shape[1] + 2).scatter(1, torch.zeros(x.shape, dtype=torch.int64), x),
        lambda x: torch.nn.functional.pad(x, (0, 0, 0, math.ceil(x.shape[0] / 4) * 4 - x.shape[0])),
        lambda x: x[-x.shape[0] + 1 :],
        lambda x: torch.full((x.shape[0],), 2.0) * x.shape[0],
        lambda x: (x.shape[0], x.numel(), x.mean(0)),
        lambda x: x.mean(0) * x.var(0) + x.std(),
        lambda x: x.roll(1, 0).flip(0),
        lambda x: x[x[:, 0] > 0].sum(0) + x[x > 0].numel(),
        lambda x: x.masked_select(x > 0).mean(),
        lambda x: x.unsqueeze(1).expand(-1, x.shape[0], -1).tril(),
        lambda x: x.sort(0, descending=True)[0].cumsum(0),
        lambda x: x.repeat(2, 1).chunk(2, 1)[1],
        lambda x: torch.stack(torch.meshgrid(x[:, 0], x[0], indexing="xy")),
        lambda x: x[torch.arange(x.shape[0]) // 2],
        lambda x: x.unfold(0, 3, 2),
        lambda x: F.unfold(x[None, None], (2, 3), padding=1, dilation=(2, 1), stride=(2, 1)),
        lambda x: F.affine_grid(torch.eye(2, 3).repeat(x.shape[0], 1, 1), [x.shape[0], 1, 2, 3], align_corners=False),
        lambda x: torch.zeros_like(x).index_add_(0, torch.where(x > 0)[0], x[torch.where(x > 0)[0]]).view(x.shape),
    ],
)
def test_sizes_are_computed_in_the_graph(function: Any) -> None:
    program = export(function, torch.randn(4, 3), dynamic_shapes=({0: "rows"},))
    for rows in (4, 7, 12):
        check(program, function, torch.randn(rows, 3))


NARROW = {
    "extremes": lambda x: (x.clamp(1, 3), torch.minimum(x, x.flip(0)), x.argmax(1), x.max(1)[0]),
    "choices": lambda x: (torch.where(x > 1, x, x * 0), x.masked_fill(x > 1, 0), x.masked_scatter(x > 2, x * 0 + 1)),
    "places": lambda x: (x.nonzero(), x.unique(), x.tril(), F.pad(x, (1, 1))),
    "products": lambda x: (x @ x.T, torch.einsum("ij,kj->ik", x, x), F.linear(x, x)),
    "sums": lambda x: (x.sum(1), x.scatter_add(1, torch.zeros(3, 2, dtype=torch.int64), x[:, :2]), -x, x.sign()),
    "truths": lambda x: (x.bool().median(), torch.bucketize(x.bool(), torch.tensor([False, True]))),
}


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.float16, torch.bool])
@pytest.mark.parametrize("name", NARROW)
def test_types_that_the_runtime_lacks_are_computed_in_others(name: str, dtype: torch.dtype) -> None:
    x = torch.tensor([[1, 0, 3, 2], [2, 3, 1, 0], [4, 1, 0, 100]]).to(dtype)
    function = NARROW[name]
    try:
        expected = function(x)
    except (RuntimeError, NotImplementedError):
        pytest.skip("not in torch")
    for mine, other in zip(export(function, x)(x), expected, strict=True):
        assert mine.dtype == other.dtype
        torch.testing.assert_close(mine, other)


def test_a_limit_makes_a_comparison_certain() -> None:
    def model(x: Tensor) -> Tensor:
        return x[:8] if x.shape[0] > 8 else x

    with pytest.raises(errors.DynamicShapeError, match=r"rows > 8.*False here.*True for rows=9"):
        export(model, torch.randn(4), dynamic_shapes=({0: "rows"},))
    check(export(model, torch.randn(4), dynamic_shapes=({0: Dim("rows", max=8)},)), model, torch.randn(8))


def test_a_size_of_one_that_decides_dimensions() -> None:
    with pytest.raises(errors.DynamicShapeError, match=r"test_onnx_export\.py:\d+: squeeze gives 1 dimensions"):
        export(lambda x: x.squeeze(0), torch.randn(1, 3), dynamic_shapes=({0: "rows"},))


def test_what_cannot_be_recorded_is_not_taken_for_a_constant() -> None:
    def slope(x: Tensor) -> Tensor:
        return torch.func.grad(lambda y: (y**3).sum())(x) * 2

    with pytest.raises(torch.onnx.OnnxExporterError, match="depends on the inputs"):
        export(slope, torch.randn(3))
    kept = torch.randn(3)  # a tensor from outside is a constant
    check(export(lambda x: x * kept, torch.randn(3)), lambda x: x * kept, torch.randn(3))


def test_a_model_that_takes_no_other_values_is_exported_with_a_warning() -> None:
    def strict(x: Tensor) -> Tensor:
        found = x[x > 0]
        if found.shape[0] != 2:
            raise ValueError("two are needed")
        return found * 2

    with pytest.warns(errors.OnnxExporterWarning, match="ValueError: two are needed"):
        program = export(strict, torch.tensor([1.0, -1.0, 2.0, -3.0, -4.0]))
    check(program, strict, torch.tensor([-2.0, 3.0, -1.0, -1.0, 4.0]))


@pytest.mark.parametrize("dynamic", [None, ({0: "rows"}, {0: "rows"})])
def test_one_tensor_given_twice_is_two_inputs(dynamic: Any) -> None:
    def add(x: Tensor, y: Tensor) -> Tensor:
        return x + 2 * y

    x = torch.randn(3)
    check(export(add, x, x, dynamic_shapes=dynamic), add, torch.randn(3), torch.randn(3))


def test_one_name_is_one_size() -> None:
    def add(x: Tensor, y: Tensor) -> Tensor:
        return x + y

    two = torch.randn(4, 2), torch.randn(4, 2)
    for names in ("ab", "aa"):  # sizes of two names may be equal
        program = export(add, *two, dynamic_shapes={"x": {0: names[0]}, "y": {0: names[1]}})
        check(program, add, torch.randn(6, 2), torch.randn(6, 2))
    with pytest.raises(errors.DynamicShapeError, match="at no other choice"):
        export(lambda x: x + torch.ones(4, 2), two[0], dynamic_shapes=({0: "a"},))
    with pytest.raises(ValueError, match="one name is one size"):
        export(lambda x, y: (x, y), torch.randn(2), torch.randn(3), dynamic_shapes=({0: "a"}, {0: "a"}))


# ---------------------------------------------------------------------- arguments


def test_dynamic_axes_names_and_keywords(tmp_path: Path) -> None:
    model = onnx_models.Mlp().eval()
    path = tmp_path / "mlp.onnx"
    result = torch.onnx.export(
        model, (torch.randn(2, 6), {"scale": 2.0}), path, dynamo=False, input_names=["features"],
        output_names=["scores"],
        dynamic_axes={"features": {0: "n"}, "scores": [0]}, opset_version=18, do_constant_folding=False,
    )  # fmt: skip
    assert result is None
    graph = onnx.load(path).graph
    assert [port.name for port in (*graph.input, *graph.output)] == ["features", "scores"]
    assert graph.input[0].type.tensor_type.shape.dim[0].dim_param == "n"
    assert graph.output[0].type.tensor_type.shape.dim[0].dim_param
    assert "layers.0.weight" in {each.name for each in graph.initializer}


def test_weights_can_be_inputs_or_absent(tmp_path: Path) -> None:
    model = nn.Linear(3, 2)
    torch.onnx.export(model, (torch.randn(1, 3),), tmp_path / "with.onnx", keep_initializers_as_inputs=True)
    torch.onnx.export(model, (torch.randn(1, 3),), tmp_path / "without.onnx", export_params=False)
    for name, initializers in (("with", 2), ("without", 0)):
        graph = onnx.load(tmp_path / f"{name}.onnx").graph
        assert [port.name for port in graph.input] == ["input", "weight", "bias"]
        assert len(graph.initializer) == initializers


def test_external_data(tmp_path: Path) -> None:
    import onnxruntime

    model = nn.Linear(64, 64)
    program = export(model, torch.randn(1, 64))
    program.save(tmp_path / "model.onnx", external_data=True)
    assert (tmp_path / "model.onnx.data").stat().st_size == 64 * 64 * 4
    assert (tmp_path / "model.onnx").stat().st_size < 4096
    onnx.checker.check_model(tmp_path / "model.onnx")
    x = torch.randn(1, 64)
    (y,) = onnxruntime.InferenceSession(tmp_path / "model.onnx").run(None, {"input": x.numpy()})
    torch.testing.assert_close(torch.from_numpy(y), model(x).detach(), rtol=1e-4, atol=1e-5)


def test_weights_that_no_message_can_hold_go_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_program, "_LARGEST", 2000)
    model, x = nn.Linear(64, 64), torch.randn(1, 64)
    torch.onnx.export(model, (x,), tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx.data").stat().st_size == 64 * 64 * 4
    torch.testing.assert_close(torch.onnx.load(tmp_path / "model.onnx")(x), model(x), rtol=1e-4, atol=1e-5)
    program = export(model, x)
    check(program, model, x)
    with pytest.raises(errors.OnnxExporterError, match="save\\(path\\) with external data"):
        program.save(tmp_path / "model.onnx", external_data=False)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.matmul(input=x, other=x.T),
        lambda x: torch.baddbmm(x[None], batch1=x[None], batch2=x[None], beta=0.5),
        lambda x: torch.where(condition=x > 0, input=x, other=-x),
        lambda x: torch.chunk(x, chunks=2, dim=1),
        lambda x: torch.split(tensor=x, split_size_or_sections=[1, 2], dim=1),
        lambda x: torch.inner(x, other=x),
        lambda x: x.reshape(shape=(9,)).add(other=1),
        lambda x: torch.complex(real=x, imag=x).abs(),
    ],
)
def test_operands_may_be_given_by_name(function: Any) -> None:
    x = torch.randn(3, 3)
    check(export(function, x), function, x)


@pytest.mark.filterwarnings("ignore:in training mode")
def test_a_dropout_of_channels_is_refused_in_training() -> None:
    with pytest.raises(errors.UnsupportedOperatorError, match="in training"):
        export(nn.Sequential(nn.Dropout2d(0.5)).train(), torch.randn(1, 2, 3, 3))


def test_code_can_ask_whether_it_is_exported() -> None:
    def pick(x: Tensor) -> Tensor:
        return x + 1 if torch.compiler.is_exporting() and torch.compiler.is_compiling() else x

    assert export(pick, torch.zeros(2))(torch.zeros(2))[0].tolist() == [1, 1]
    assert not torch.compiler.is_exporting()


def test_weights_of_a_program_can_be_replaced() -> None:
    model, other = nn.Linear(3, 2), nn.Linear(3, 2)
    program = export(model, torch.randn(4, 3))
    program.apply_weights(other.state_dict())
    check(program, other, torch.randn(4, 3))
    with pytest.raises(ValueError, match=r"weight is torch\.float32 of shape"):
        program.apply_weights({"weight": torch.randn(3, 3)})


def test_a_model_is_afterwards_as_it_was() -> None:
    model = nn.Sequential(nn.BatchNorm1d(3), nn.Dropout(0.5))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    x = torch.randn(4, 3)
    state = torch.get_rng_state()
    kept = x.clone()
    with pytest.warns(errors.OnnxExporterWarning, match="training mode"):
        export(model, x)
    assert torch.onnx.export(model, (x,), dynamo=False) is None
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(x, kept)
    assert model.training
    assert not torch.onnx.is_in_onnx_export()


def test_chance_is_part_of_the_graph() -> None:
    program = export(lambda x: torch.rand_like(x) + torch.randn(3) + torch.nn.functional.dropout(x), torch.ones(3))
    assert not torch.equal(program(torch.ones(3))[0], program(torch.ones(3))[0])


@pytest.mark.parametrize("opset", [16, 24, 0, -1])
def test_an_opset_that_is_not_written(opset: int) -> None:
    with pytest.raises(ValueError, match="opset_version has to be 17 to 23"):
        export(nn.ReLU(), torch.ones(1), opset_version=opset)


def test_operators_without_a_form_are_all_named() -> None:
    with pytest.raises(errors.UnsupportedOperatorError, match=r"digamma .*test_onnx_export.*lgamma .*test_onnx_export"):
        export(lambda x: torch.lgamma(torch.digamma(x)), torch.ones(4))
    with pytest.raises(errors.UnsupportedOperatorError, match="sparse"):
        export(lambda x: torch.sparse.mm(torch.eye(2).to_sparse(), x), torch.ones(2, 2))


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"input_names": ["a", "b"]}, ValueError, "input_names has 2 names"),
        ({"output_names": ["a", "b"]}, ValueError, "output_names has 2 names"),
        ({"dynamic_axes": {"y": [0]}}, ValueError, "dynamic_axes names 'y'"),
        ({"dynamic_axes": {"x": [3]}}, ValueError, "axis 3 cannot be dynamic"),
        ({"dynamic_shapes": {"y": {0: "a"}}}, ValueError, "dynamic_shapes names"),
        ({"dynamic_shapes": ({0: Dim("a", max=1)},)}, ValueError, "outside"),
        ({"report": True}, NotImplementedError, "report"),
    ],
)
def test_arguments_that_are_wrong(options: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        torch.onnx.export(lambda x: x * 2, (torch.ones(3),), **options)


# ---------------------------------------------------------------------- translations of others


def test_a_translation_of_ones_own() -> None:
    def lgamma(graph: Any, x: Any) -> Any:
        return graph.op("mine::Lgamma", x, exact=1)

    program = export(
        lambda x: torch.lgamma(x), torch.ones(3), custom_translation_table={torch.ops.aten.lgamma.default: lgamma}
    )
    node = program.model_proto.graph.node[0]
    assert (node.domain, node.op_type, node.attribute[0].i) == ("mine", "Lgamma", 1)
    assert {each.domain: each.version for each in program.model_proto.opset_import} == {"": 20, "mine": 1}


def test_symbolics_are_registered_and_taken_back() -> None:
    def lgamma(graph: Any, x: Any) -> Any:
        return graph.op("Mul", x, x)

    torch.onnx.register_custom_op_symbolic("aten::lgamma", lgamma, 17)
    try:
        check(export(lambda x: torch.lgamma(x), torch.ones(3)), lambda x: x * x, torch.tensor([1.0, 2.0, 3.0]))
    finally:
        torch.onnx.unregister_custom_op_symbolic("aten::lgamma", 17)
    with pytest.raises(errors.UnsupportedOperatorError):
        export(lambda x: torch.lgamma(x), torch.ones(3))
    with pytest.raises(ValueError, match="domain::name"):
        torch.onnx.register_custom_op_symbolic("lgamma", lgamma, 17)


def test_verify_compares_with_onnxruntime() -> None:
    def wrong(graph: Any, x: Any) -> Any:
        return graph.op("Neg", x)

    assert torch.onnx.export(nn.ReLU(), (torch.ones(3),), verify=True) is not None
    with pytest.raises(torch.onnx.OnnxExporterError, match="not what the model gives"):
        torch.onnx.export(
            nn.ReLU(), (torch.ones(3),), verify=True, custom_translation_table={torch.ops.aten.relu.default: wrong}
        )
