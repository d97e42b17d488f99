"""Signed bundles: whoever edits one, its list of contents as well, cannot sign that."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import IntegrityError, VerifyError
from slipway.cli import main
from slipway.pipeline.bundle_archive import pack_files
from slipway.proof.bundles import check_bundle, sign_bundle

if TYPE_CHECKING:
    from pathlib import Path

    from slipway.proof.keys import SigningKey, Trust


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """With one file in it."""
    (tmp_path / "a.txt").write_text("a", encoding="utf-8")
    pack_files(tmp_path / "all.bundle", {"packages/a.txt": tmp_path / "a.txt"})
    return tmp_path / "all.bundle"


def test_it_takes_as_many_as_the_threshold_says(bundle: Path, signing: list[SigningKey], trust: Trust) -> None:
    with pytest.raises(VerifyError, match="nobody has signed for this bundle"):
        check_bundle(bundle, trust)
    sign_bundle(bundle, [signing[0], signing[2]])
    with pytest.raises(VerifyError, match=r"only builder .* 1 signature\(s\) are of keys that nobody trusts"):
        check_bundle(bundle, trust)
    sign_bundle(bundle, [signing[1]])
    assert check_bundle(bundle, trust) == ["builder", "rebuilder"]


def test_edited_with_its_list_of_contents(bundle: Path, signing: list[SigningKey], trust: Trust) -> None:
    """Whole, of the same size, and another one; of before, the signatures are of no use."""
    sign_bundle(bundle, signing[:2])
    (bundle.parent / "a.txt").write_text("b", encoding="utf-8")
    size = bundle.stat().st_size
    pack_files(bundle, {"packages/a.txt": bundle.parent / "a.txt"})
    assert bundle.stat().st_size == size
    with pytest.raises(IntegrityError, match=r"`bundle.json` has the sha256 .*, and its statement tells of"):
        check_bundle(bundle, trust)
    sign_bundle(bundle, [signing[2]])
    with pytest.raises(VerifyError, match="none of them has signed"):
        check_bundle(bundle, trust)


def test_statements_of_other_things(bundle: Path, signing: list[SigningKey], trust: Trust, package: Path) -> None:
    shutil.copy(package, bundle.parent)
    key = bundle.parent / "0.pem"
    assert main(["attest", "--key", str(key), str(bundle.parent / package.name), str(bundle)]) == 0
    shutil.copy(bundle.parent / f"{package.name}.intoto.json", bundle.parent / "all.bundle.intoto.json")
    lenient = type(trust)(trust.keys, 1)
    with pytest.raises(IntegrityError, match="the statement is of another type"):
        check_bundle(bundle, lenient)
    assert main(["attest", "--key", str(key), str(bundle)]) == 0
    assert check_bundle(bundle, lenient) == ["builder"]
    (bundle.parent / "all.bundle.intoto.json").write_text("{", encoding="utf-8")
    with pytest.raises(IntegrityError, match="a signed statement is damaged"):
        check_bundle(bundle, lenient)
    assert main(["attest", "--key", str(key), str(bundle.parent / "a.txt")]) == 6
