"""Names that PyTorch has for other machines: here they answer as PyTorch does on one CPU, or say what is missing."""

from __future__ import annotations

from typing import Any

import pytest

import torch
from torch import _switches
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

NO_CUDA = pytest.mark.skipif(torch.cuda.is_available(), reason="a machine without CUDA")


@NO_CUDA
def test_autocast_and_scaler_for_cuda_do_nothing_without_it() -> None:
    with pytest.warns(UserWarning, match="not available"), torch.autocast("cuda"):
        assert torch.ones(2).sum().dtype is torch.float32
    with pytest.warns(UserWarning, match="not available"):
        scaler = torch.amp.GradScaler()
    assert not scaler.is_enabled()
    assert scaler.scale(3) == 3
    assert scaler.state_dict() == {}
    with torch.cuda.amp.autocast(enabled=False):
        pass


def test_scaler_leaves_out_steps_that_are_not_finite() -> None:
    x = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([x], lr=1.0)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=1)
    scaler.scale((x * 0.5).sum()).backward()
    assert x.grad.tolist() == [4.0, 4.0]
    scaler.step(optimizer)
    scaler.update()
    assert x.tolist() == [0.5, 0.5]
    assert scaler.get_scale() == 16.0
    x.grad.fill_(float("inf"))
    scaler.step(optimizer)
    scaler.update()
    assert x.tolist() == [0.5, 0.5]
    assert scaler.get_scale() == 8.0
    other = torch.amp.GradScaler("cpu")
    other.load_state_dict(scaler.state_dict())
    assert other.get_scale() == 8.0


def test_no_other_devices() -> None:
    assert not torch.distributed.is_initialized()
    assert not torch.backends.mps.is_available()
    assert not torch.mps.is_available()
    assert not torch.xpu.is_available()
    assert torch.accelerator.is_available() is torch.cuda.is_available()
    with torch.backends.cudnn.flags(benchmark=True):
        assert torch.backends.cudnn.benchmark
    assert not torch.backends.cudnn.benchmark
    assert torch.backends.cuda.matmul.allow_tf32 is False


def test_switches_of_cudnn() -> None:
    """As PyTorch has them without a device: those of the convolution are bools, and the limit is none without cuDNN."""
    cudnn = torch.backends.cudnn
    assert (cudnn.version() is None) is not cudnn.is_available()
    assert cudnn.benchmark_limit == (10 if cudnn.is_available() else None)
    assert (cudnn.enabled, cudnn.benchmark, cudnn.deterministic) == (True, False, False)
    assert not cudnn.is_acceptable(torch.ones(2))
    for name in ("enabled", "benchmark", "deterministic"):
        with pytest.raises(RuntimeError, match=f"set_{name}_cudnn expects a bool, but got int"):
            setattr(cudnn, name, 1)
    for name in ("cudnn", "native", "auto"):
        cudnn.depthwise_kernel = name
        assert cudnn.depthwise_kernel == name
    with pytest.raises(RuntimeError, match="Unknown cuDNN depthwise kernel mode: x"):
        cudnn.depthwise_kernel = "x"
    with _switches.kept_fp32_precisions():
        before = cudnn.set_flags(True, True, 3, True)
        assert (cudnn.enabled, cudnn.benchmark, cudnn.deterministic) == (True, True, True)
        assert before[:2] == (True, False)
        cudnn.set_flags(*before)
    assert (cudnn.enabled, cudnn.benchmark, cudnn.deterministic) == (True, False, False)
    with cudnn.flags(enabled=False, deterministic=True):
        assert (cudnn.enabled, cudnn.deterministic) == (False, True)
    assert (cudnn.enabled, cudnn.deterministic) == (True, False)


def test_switches_are_kept() -> None:
    torch.set_float32_matmul_precision("high")
    assert torch.get_float32_matmul_precision() == "high"
    torch.set_float32_matmul_precision("highest")
    torch.use_deterministic_algorithms(True, warn_only=True)
    assert torch.get_deterministic_debug_mode() == 1
    torch.use_deterministic_algorithms(False)
    assert not torch.are_deterministic_algorithms_enabled()


def test_words_for_the_precision_of_float32() -> None:
    """As PyTorch answers, step by step: cudnn.allow_tf32, cudnn's word, that of conv, rnn and matmul, and of all."""
    backends = torch.backends
    cudnn, matmul = backends.cudnn, backends.cuda.matmul

    def words() -> tuple[object, ...]:
        own = (cudnn.fp32_precision, cudnn.conv.fp32_precision, cudnn.rnn.fp32_precision, matmul.fp32_precision)
        return cudnn.allow_tf32, *own, backends.fp32_precision

    before = words()
    with _switches.kept_fp32_precisions():
        matmul.fp32_precision = "none"  # other tests have had their say
        assert words() == (True, "none", "tf32", "tf32", "none", "none")
        backends.fp32_precision = "ieee"
        assert words() == (False, "ieee", "ieee", "ieee", "ieee", "ieee")
        backends.fp32_precision = "none"
        cudnn.conv.fp32_precision = "ieee"
        assert words() == (False, "none", "ieee", "tf32", "none", "none")
        cudnn.conv.fp32_precision = "none"
        assert words() == (False, "none", "none", "tf32", "none", "none")
        cudnn.fp32_precision = "tf32"
        assert words() == (True, "tf32", "tf32", "tf32", "tf32", "none")
        torch.set_float32_matmul_precision("highest")
        assert matmul.fp32_precision == "ieee"
        with cudnn.flags(enabled=True, allow_tf32=False):
            assert words() == (False, "none", "none", "none", "ieee", "none")
        assert words() == (True, "tf32", "tf32", "tf32", "ieee", "none")
        backends.fp32_precision = "ieee"
        cudnn.allow_tf32 = False
        cudnn.fp32_precision = "none"
        assert words() == (False, "ieee", "ieee", "ieee", "ieee", "ieee")
        cudnn.allow_tf32 = True
        assert words() == (True, "ieee", "tf32", "tf32", "ieee", "ieee")
        with pytest.raises(RuntimeError, match="Unknown precision: x"):
            cudnn.conv.fp32_precision = "x"
    assert words() == before


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_checkpoints_have_the_same_gradients(use_reentrant: bool) -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout(0.5), torch.nn.Tanh(), torch.nn.Linear(3, 1))
    x = torch.ones(4, 3, requires_grad=True)
    answers = []
    for run in (
        model,
        lambda value: checkpoint(model, value, use_reentrant=use_reentrant),
        lambda value: checkpoint_sequential(model, 2, value, use_reentrant=use_reentrant),
    ):
        torch.manual_seed(1)
        model.zero_grad()
        x.grad = None
        run(x).sum().backward()
        answers.append([x.grad, *(parameter.grad for parameter in model.parameters())])
    for answer in answers[1:]:
        assert all(torch.equal(one, other) for one, other in zip(answers[0], answer, strict=True))


def test_checkpoint_without_gradients_of_its_arguments() -> None:
    weight = torch.ones(2, requires_grad=True)
    checkpoint(
        lambda value, scale: (weight * value * scale).sum(), torch.ones(2), scale=3, use_reentrant=False
    ).backward()
    assert weight.grad.tolist() == [3.0, 3.0]


def test_variables_are_tensors() -> None:
    x = torch.autograd.Variable(torch.ones(2), requires_grad=True)
    assert x.requires_grad
    assert isinstance(x, torch.autograd.Variable)


def test_datasets_in_chains_and_stacks_and_for_processes() -> None:
    data = torch.utils.data

    class Stream(data.IterableDataset[int]):
        def __iter__(self) -> Any:
            return iter([1, 2])

    assert list(data.ChainDataset([Stream(), Stream()])) == [1, 2, 1, 2]
    assert data.StackDataset([1, 2], [3, 4])[1] == (2, 4)
    assert data.StackDataset(a=[1, 2], b=[3, 4])[0] == {"a": 1, "b": 3}
    with pytest.raises(ValueError, match="mismatch"):
        data.StackDataset([1], [1, 2])
    parts = [list(data.DistributedSampler(range(5), 2, rank, shuffle=False)) for rank in range(2)]
    assert parts == [[0, 2, 4], [1, 3, 0]]
    shuffled = data.DistributedSampler(range(10), 3, 1, seed=2)  # PyTorch's order
    first = list(shuffled)
    shuffled.set_epoch(1)
    assert (first, list(shuffled)) == ([7, 6, 4, 8], [0, 8, 9, 6])
    with pytest.raises((RuntimeError, ValueError), match=r"num_replicas|not been initialized"):
        data.DistributedSampler(range(5))


def test_what_is_not_exported_says_so() -> None:
    with pytest.raises(NotImplementedError, match=r"torch.export.export is not supported"):
        torch.export.export(torch.nn.Linear(1, 1), (torch.ones(1),))
    assert torch.export.Dim("batch", min=1).__name__ == "batch"


def test_types_that_tensors_cannot_be_of() -> None:
    assert str(torch.float4_e2m1fn_x2) == "torch.float4_e2m1fn_x2"
    assert torch.float4_e2m1fn_x2.itemsize == 1
    assert torch.float4_e2m1fn_x2.is_floating_point
    with pytest.raises(NotImplementedError, match=r"there are no tensors of torch.float4_e2m1fn_x2 here"):
        torch.zeros(2, dtype=torch.float4_e2m1fn_x2)
    assert torch.ones(1).layout is torch.strided
    with pytest.raises(NotImplementedError, match=r"there are no tensors of layout torch.sparse_bsr here"):
        torch.zeros(2, layout=torch.sparse_bsr)
