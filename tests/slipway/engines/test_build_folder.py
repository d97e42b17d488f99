"""Where things are built: one folder for every build of a name, another for each that runs at the same time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import HostError
from slipway.engines.build_folder import VARIABLE, build_place, build_root

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """A root of our own."""
    return {VARIABLE: str(tmp_path / "root")}


def test_one_after_the_other_get_the_same_empty_folder(environ: dict[str, str]) -> None:
    with build_place("libtoy", environ) as first:
        (first / "file").touch()
    assert not first.exists()
    with build_place("libtoy", environ) as second:
        assert second == first
        assert list(second.iterdir()) == []


def test_at_the_same_time_each_gets_its_own(environ: dict[str, str]) -> None:
    with build_place("libtoy", environ) as first, build_place("libtoy", environ) as second:
        assert (first.name, second.name) == ("libtoy", "libtoy-2")
        with build_place("libtoy-2", environ) as other:  # an output that is really called so
            assert other.name == "libtoy-2-2"


def test_what_failed_stays_until_the_next(environ: dict[str, str]) -> None:
    def fail() -> None:
        with build_place("libtoy", environ) as folder:
            (folder / "trace").touch()
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert (build_root(environ) / "libtoy/trace").exists()
    with build_place("libtoy", environ) as again:
        assert not (again / "trace").exists()


def test_a_root_that_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(HostError, match="belongs to somebody else"):
        build_root({VARIABLE: str(tmp_path / "file")})
