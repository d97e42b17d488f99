"""The tables of golden cases, one module each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch_cases import (
    complex_types,
    corners,
    creation,
    distributions,
    element_types,
    errors,
    indexing,
    layouts,
    named_operators,
    nn_functions,
    nn_types,
    operators,
    printing,
    randomness,
    results,
    sparse,
    training,
    view_programs,
)

if TYPE_CHECKING:
    from torch_golden import Case

TABLES: dict[str, dict[str, Case]] = {
    "operators": operators.CASES,
    "gradients": operators.GRADIENTS,
    "complex_types": complex_types.CASES,
    "corners": corners.CASES,
    "creation": creation.CASES,
    "distributions": distributions.CASES,
    "element_types": element_types.CASES,
    "indexing": indexing.CASES,
    "layouts": layouts.CASES,
    "named_operators": named_operators.CASES,
    "nn_functions": nn_functions.CASES,
    "nn_types": nn_types.CASES,
    "printing": printing.CASES,
    "errors": errors.CASES,
    "randomness": randomness.CASES,
    "results": results.CASES,
    "sparse": sparse.CASES,
    "training": training.CASES,
    "view_programs": view_programs.CASES,
}
