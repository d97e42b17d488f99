"""The tables of golden cases, one module each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch_cases import creation, element_types, errors, indexing, nn_types, operators, printing, randomness, training

if TYPE_CHECKING:
    from torch_golden import Case

TABLES: dict[str, dict[str, Case]] = {
    "operators": operators.CASES,
    "gradients": operators.GRADIENTS,
    "creation": creation.CASES,
    "element_types": element_types.CASES,
    "indexing": indexing.CASES,
    "nn_types": nn_types.CASES,
    "printing": printing.CASES,
    "errors": errors.CASES,
    "randomness": randomness.CASES,
    "training": training.CASES,
}
