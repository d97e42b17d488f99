"""Where slipway runs from."""

from __future__ import annotations

from pathlib import Path

import pytest

from slipway.base import checkout
from slipway.base.errors import UsageError


def test_from_a_checkout() -> None:
    folder = Path(__file__).resolve().parents[3]
    assert checkout.find_checkout() == checkout.require_checkout() == checkout.default_folder() == folder
    assert folder / "ci" == checkout.PACKAGE_ROOT


def test_installed_as_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkout, "PACKAGE_ROOT", tmp_path / "lib/python3.11/site-packages")
    monkeypatch.chdir(tmp_path)
    assert checkout.find_checkout() is None
    assert checkout.default_folder() == tmp_path
    with pytest.raises(UsageError, match="needs a checkout"):
        checkout.require_checkout()
