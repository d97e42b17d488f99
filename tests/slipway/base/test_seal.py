"""What a seal tells apart, and who can make one."""

import secrets
from pathlib import Path

import pytest

from slipway.base.seal import key_of_user, seal_files


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    contents = (b"a" * 700_000, b"", b"b")
    for number, content in enumerate(contents):
        (tmp_path / str(number)).write_bytes(content)
    return [tmp_path / str(number) for number in range(len(contents))]


def test_same_bytes_have_the_same_seal_only_where_it_is_compared(paths: list[Path]) -> None:
    key = secrets.token_bytes(32)
    sealed = seal_files(key, paths)
    assert seal_files(key, paths, like=sealed) == sealed
    assert seal_files(key, paths) != sealed, "two seals with one nonce would give the key away"


@pytest.mark.parametrize("change", ["flip", "cut", "append", "move a byte", "swap", "leave out", "other key"])
def test_other_bytes_have_another_seal(paths: list[Path], change: str) -> None:
    key = secrets.token_bytes(32)
    sealed = seal_files(key, paths)
    first, last = paths[0], paths[2]
    content = first.read_bytes()
    if change == "flip":
        first.write_bytes(content[:-1] + b"c")
    elif change == "cut":
        first.write_bytes(content[:-1])
    elif change == "append":
        last.write_bytes(b"b\0")
    elif change == "move a byte":
        first.write_bytes(content[:-1])
        last.write_bytes(b"ab")
    elif change == "swap":
        paths.reverse()
    elif change == "leave out":
        del paths[1]
    else:
        key = secrets.token_bytes(32)
    assert seal_files(key, paths, like=sealed) != sealed


def test_no_seal_is_said(paths: list[Path]) -> None:
    with pytest.raises(ValueError, match="hexadecimal"):
        seal_files(bytes(32), paths, like="no seal")


def test_key_is_the_users(tmp_path: Path) -> None:
    one, two = {"XDG_CACHE_HOME": str(tmp_path / "one")}, {"XDG_CACHE_HOME": str(tmp_path / "two")}
    assert key_of_user(one) == key_of_user(one) != key_of_user(two)
