"""Where things are built: one folder for every build of a name, one after the other."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from slipway.base.errors import HostError
from slipway.engines.build_folder import VARIABLE, build_place, build_root


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


def test_at_the_same_time_one_waits_for_the_other_and_gets_the_same(environ: dict[str, str]) -> None:
    """The bytes of a package depend on where it was built: never on who else built meanwhile."""
    told, places, waits = list[str](), list[Path](), threading.Event()

    def build_second() -> None:
        def tell() -> None:
            told.append("waiting")
            waits.set()

        with build_place("libtoy", environ, tell) as second:
            places.append(second)

    thread = threading.Thread(target=build_second)
    with build_place("libtoy", environ) as first:
        thread.start()
        assert waits.wait(20)
        with build_place("libtoy-2", environ) as other:
            assert other.name == "libtoy-2"
        assert not places
    thread.join(20)
    assert (places, told) == ([first], ["waiting"])


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
