"""The pages behind the codes of errors and warnings, read from `error_pages.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from slipway.base.schema import read_yaml

PAGES = Path(__file__).with_suffix(".yaml")


@dataclass(frozen=True)
class ErrorPage:
    """What an error means and what to do about it; `example` is a message of this kind."""

    title: str
    text: str
    example: str

    def to_markdown(self, code: str) -> str:
        """The page."""
        return f"## {code}\n\n{self.title}.\n\n    {self.example}\n\n{self.text.strip()}\n"


def read_pages() -> Mapping[str, ErrorPage]:
    """Every page by its code."""
    pages: Mapping[str, ErrorPage] = read_yaml(PAGES, Mapping[str, ErrorPage])  # type: ignore[type-abstract]
    return pages
