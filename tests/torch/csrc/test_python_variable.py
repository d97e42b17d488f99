"""Tensors as Python objects: identity, attributes, reference cycles, and nothing that leaks."""

from __future__ import annotations

import gc
import resource
import weakref

import pytest

import torch


def test_the_object_survives_while_only_the_graph_holds_the_tensor() -> None:
    parameter = torch.nn.Parameter(torch.ones(3))
    parameter.tag = "mine"
    total = (parameter * 2).sum()
    identity = id(parameter)
    reference = weakref.ref(parameter)
    del parameter
    gc.collect()
    leaf = total.grad_fn.next_functions[0][0].next_functions[0][0].variable
    assert (id(leaf), leaf.tag, type(leaf)) == (identity, "mine", torch.nn.Parameter)
    del leaf, total
    gc.collect()
    assert reference() is None


def test_a_weak_reference_can_outlive_the_graph() -> None:
    parameter = torch.nn.Parameter(torch.ones(3))
    total = (parameter * 2).sum()
    reference = weakref.ref(parameter)
    del parameter
    again = reference()
    assert again is not None
    del total
    gc.collect()
    assert again.tolist() == [1, 1, 1]
    assert again.requires_grad


def test_grad_is_one_object_with_attributes() -> None:
    x = torch.ones(2, requires_grad=True)
    (x * 3).sum().backward()
    x.grad.note = 1
    gc.collect()
    assert x.grad is x.grad
    assert x.grad.note == 1


def test_cycles_are_collected() -> None:
    class Keep(torch.autograd.Function):
        @staticmethod
        def forward(ctx: object, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: object, grad: torch.Tensor) -> torch.Tensor:
            return grad * 2

    x = torch.ones(2, requires_grad=True)
    out = Keep.apply(x)
    out.grad_fn.result = out  # object -> tensor -> node -> context -> object
    through_graph = weakref.ref(out.grad_fn)
    plain = torch.ones(2)
    plain.myself = plain
    through_itself = weakref.ref(plain)
    del out, plain
    gc.collect()
    assert through_graph() is None
    assert through_itself() is None


def test_subclasses_with_slots_and_del() -> None:
    deleted = []

    class Slotted(torch.Tensor):
        __slots__ = ("extra",)

        def __del__(self) -> None:
            deleted.append(self.extra)

    tensor = torch._C._make_subclass(Slotted, torch.ones(2))
    tensor.extra = "value"
    del tensor
    gc.collect()
    assert deleted == ["value"]


def test_nothing_leaks() -> None:
    def work(times: int) -> None:
        for _ in range(times):
            x = torch.ones(16, requires_grad=True)
            (x * 2 + 1).sum().backward()
            assert x.grad is not None
            x[3:5].tolist()
            torch.tensor([1.0, 2.0]).sort()

    work(2000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    work(20000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4096  # KiB; one tensor a round would be 20 MiB


def test_the_base_cannot_be_made() -> None:
    with pytest.raises(RuntimeError, match="Cannot instantiate TensorBase"):
        torch._C.TensorBase()


def test_hash_is_by_identity_and_types_are_pickled_by_name() -> None:
    x = torch.ones(2)
    assert {x: 1}[x] == 1
    assert torch.float32.__reduce__() == "float32"
    assert torch.device("cuda", 1).__reduce__()[1] == ("cuda", 1)
