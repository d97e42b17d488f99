"""What can go wrong with ONNX."""

from __future__ import annotations

__all__ = [
    "DataDependentError",
    "DynamicShapeError",
    "ImportModelError",
    "MissingPackageError",
    "OnnxExporterError",
    "OnnxExporterWarning",
    "SymbolicValueError",
    "UnsupportedOperatorError",
]


class OnnxExporterWarning(UserWarning):
    """Something about an export that its user should know."""


class OnnxExporterError(RuntimeError):
    """A model cannot be exported."""

    __module__ = "torch.onnx"


class SymbolicValueError(OnnxExporterError):
    """A translation met a value that ONNX has no form for."""


class UnsupportedOperatorError(OnnxExporterError):
    """The model uses operators that have no translation, or uses one in a way that has none."""


class DataDependentError(OnnxExporterError):
    """Python asked for a value that is known only when the graph runs."""


class DynamicShapeError(OnnxExporterError):
    """A size that was said to be dynamic is not: the graph would be wrong for other sizes."""


class MissingPackageError(OnnxExporterError, ImportError):
    """A package that is only needed here is not installed."""

    def __init__(self, message: str, *, name: str) -> None:
        super().__init__(message)
        self.name = name


class ImportModelError(RuntimeError):
    """An ONNX file cannot become a module: it is damaged, hostile, or asks for what is not here."""
