"""Inference tensors: what they are, and what may not be done with them."""

from __future__ import annotations

import pytest

import torch


def test_what_is_made_inside_is_an_inference_tensor() -> None:
    normal = torch.ones(3, requires_grad=True)
    with torch.inference_mode():
        made = torch.ones(3)
        assert torch.is_inference(made)
        assert (normal * 2).is_inference()
        assert not (normal * 2).requires_grad
        assert not normal.view(3).is_inference()  # a view of a normal tensor is one
        assert not torch.is_grad_enabled()
        with torch.enable_grad():
            assert not (normal * 2).requires_grad
        with torch.inference_mode(False):
            assert not torch.is_inference_mode_enabled()
            assert not torch.ones(2).is_inference()
            assert (normal * 2).requires_grad
        assert made.add_(1).tolist() == [2, 2, 2]
        assert torch.ones(2).requires_grad_().requires_grad
    assert made.detach().is_inference()
    assert made.view(3).is_inference()
    assert not made.clone().is_inference()
    assert not torch.empty(3).copy_(made).is_inference()


def test_what_is_refused_outside() -> None:
    normal = torch.ones(3, requires_grad=True)
    with torch.inference_mode():
        made, view = torch.ones(3), normal.view(3)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode is not allowed"):
        made.add_(1)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode is not allowed"):
        torch.add(made, made, out=made)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        _ = normal * made
    assert (normal + made).requires_grad  # nothing to save
    with pytest.raises(RuntimeError, match="Setting requires_grad=True on inference tensor outside InferenceMode"):
        made.requires_grad_()
    with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
        _ = made._version
    with pytest.raises(
        RuntimeError, match="A view was created in inference mode and is being modified inplace in normal mode"
    ):
        view.add_(1)


def test_decorators() -> None:
    @torch.inference_mode
    def bare() -> bool:
        return torch.ones(1).is_inference()

    @torch.inference_mode(mode=False)
    def off() -> bool:
        return torch.ones(1).is_inference()

    assert bare()
    assert not off()
    with torch.inference_mode():
        assert not off()
    assert not torch.is_inference_mode_enabled()
