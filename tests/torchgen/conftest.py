"""What torchgen's tests share: the repository's own declarations, and small ones written for a test."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from torchgen import parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchgen.model import Declarations, NativeFunction


@pytest.fixture(scope="session")
def source() -> Path:
    """The folder that holds `aten/`."""
    return Path(__file__).parents[2] / "src"


@pytest.fixture(scope="session")
def declarations(source: Path) -> Declarations:
    """What the repository declares."""
    return parse.load(source)


@pytest.fixture
def function(tmp_path: Path) -> Callable[[str], NativeFunction]:
    """Makes the native function of one entry; the kernel `add` exists."""

    def make(text: str) -> NativeFunction:
        (tmp_path / "kernels.yaml").write_text('- {kernel: "add(TensorIterator& iter)", backends: CPU}\n')
        (tmp_path / "functions.yaml").write_text(text)
        kernels = parse.load_kernels(tmp_path / "kernels.yaml", "kernels.yaml")
        (made,) = parse.load_functions(tmp_path / "functions.yaml", "functions.yaml", kernels)
        return made

    return make
