"""ONNX: names that programs mention. Nothing is exported here."""

from __future__ import annotations

from typing import Any, NoReturn

from torch import _unavailable

__all__ = ["export", "is_in_onnx_export", "is_onnxrt_backend_supported", "register_custom_op_symbolic"]


class OnnxExporterError(RuntimeError):
    """A model cannot be exported."""


def export(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError: load the model's state_dict into another framework, and export there."""
    raise NotImplementedError(
        "torch.onnx.export is not supported: load the state_dict in a framework that exports to ONNX, such as PyTorch"
    )


dynamo_export = export


def is_in_onnx_export() -> bool:
    """Whether a model is being exported: no."""
    return False


def is_onnxrt_backend_supported() -> bool:
    """Whether torch.compile can use ONNX Runtime: no."""
    return False


def register_custom_op_symbolic(symbolic_name: str, symbolic_fn: Any, opset_version: int) -> None:
    """Accepted: nothing is exported that would ask."""


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Accepted."""


def select_model_mode_for_export(model: Any, mode: Any) -> NoReturn:
    """Raises NotImplementedError, as `export` does."""
    export()


__getattr__ = _unavailable.define(__name__, "nothing is exported to ONNX here")
