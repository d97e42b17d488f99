"""What a caller's variables make of the compiler cache's store."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from slipway.base.errors import HostError, UsageError
from slipway.engines.compiler_cache.store import check_store, choose_store, fresh_store, unusable

HOME = {"HOME": "/home/ada", "PATH": "/usr/bin", "XDG_CACHE_HOME": "/home/ada/caches"}


def test_without_a_word_it_is_a_folder_below_slipways_cache() -> None:
    store = choose_store(HOME)
    assert store.folder == Path("/home/ada/caches/slipway/sccache")
    assert store.place == "folder /home/ada/caches/slipway/sccache"
    assert store.server == {
        "HOME": "/home/ada",
        "SCCACHE_DIR": str(store.folder),
        "SCCACHE_CACHE_SIZE": "10G",
        "SCCACHE_CONF": "/dev/null",
    }
    assert not store.clients


def test_what_opens_a_store_goes_to_the_server_and_what_concerns_compiles_to_the_clients() -> None:
    store = choose_store(
        HOME
        | {
            "SCCACHE_BUCKET": "compiled",
            "SCCACHE_ENDPOINT": "https://ada:pw@minio.example:9000",
            "AWS_SECRET_ACCESS_KEY": "s3cret",
            "https_proxy": "http://proxy:1",
            "SCCACHE_RECACHE": "1",
            "CFLAGS": "-O0",
        }
    )
    assert store.place == "S3 bucket compiled at https://minio.example:9000"
    assert store.folder is None
    assert "SCCACHE_DIR" not in store.server
    assert store.server["AWS_SECRET_ACCESS_KEY"] == "s3cret"
    assert store.server["https_proxy"] == "http://proxy:1"
    assert "CFLAGS" not in store.server
    assert "PATH" not in store.server
    assert store.clients == {"SCCACHE_RECACHE": "1"}
    assert "SCCACHE_RECACHE" not in store.server


@pytest.mark.parametrize(
    ("variables", "place"),
    [
        ({"SCCACHE_REDIS_ENDPOINT": "redis://ada:pw@cache:6379/1?x=pw"}, "Redis at redis://cache:6379/1"),
        ({"SCCACHE_REDIS_CLUSTER_ENDPOINTS": "redis://u:p@a,redis://b"}, "Redis at redis://a,redis://b"),
        ({"SCCACHE_REDIS": "redis://:pw@cache"}, "Redis at redis://cache"),
        ({"SCCACHE_BUCKET": "b"}, "S3 bucket b"),
        ({"SCCACHE_GHA_ENABLED": "on"}, "GitHub's cache"),
        ({"SCCACHE_DIR": "/d"}, "folder /d"),
        ({"SCCACHE_DIR": ""}, "folder /home/ada/caches/slipway/sccache"),
        (
            {"SCCACHE_MULTILEVEL_CHAIN": "disk, s3", "SCCACHE_BUCKET": "b"},
            "folder /home/ada/caches/slipway/sccache, then S3 bucket b",
        ),
        ({"SCCACHE_CONF": __file__}, f"what {__file__} names"),
    ],
)
def test_places_as_people_read_them(variables: dict[str, str], place: str) -> None:
    assert choose_store(HOME | variables).place == place


def test_the_callers_own_server_is_left_alone() -> None:
    ours = {"SCCACHE_SERVER_PORT": "4226", "SCCACHE_SERVER_UDS": "/run/s", "SCCACHE_IDLE_TIMEOUT": "1"}
    assert choose_store(HOME | ours).server == choose_store(HOME).server


def test_a_configuration_file_counts_only_when_it_is_named() -> None:
    store = choose_store(HOME | {"SCCACHE_CONF": __file__})
    assert store.server["SCCACHE_CONF"] == __file__
    assert "SCCACHE_DIR" not in store.server


@pytest.mark.parametrize(
    ("variables", "message", "hint"),
    [
        ({"SCCACHE_DIR": "store"}, "SCCACHE_DIR is `store`", "/store"),
        ({"SCCACHE_DIR": "~/store"}, "SCCACHE_DIR is `~/store`", "write the whole path"),
        ({"SCCACHE_ERROR_LOG": "log"}, "SCCACHE_ERROR_LOG is `log`", "write the whole path"),
        ({"SCCACHE_CONF": "/nowhere/config"}, "SCCACHE_CONF names a file that is not there", ""),
        ({"SCCACHE_CACHE_SIZE": "much"}, "SCCACHE_CACHE_SIZE is `much`", "10G"),
        (
            {"SCCACHE_REDIS_ENDPOINT": "redis://a", "SCCACHE_BUCKET": "b"},
            "SCCACHE_REDIS_ENDPOINT and SCCACHE_BUCKET choose different stores",
            "SCCACHE_MULTILEVEL_CHAIN=redis,s3",
        ),
        ({"SCCACHE_MULTILEVEL_CHAIN": "disk,tape"}, "names `tape`", "sccache knows disk, redis"),
        ({"SCCACHE_MULTILEVEL_CHAIN": "disk,redis"}, "nothing says where that is", "set SCCACHE_REDIS_ENDPOINT"),
    ],
)
def test_what_cannot_be_meant(variables: dict[str, str], message: str, hint: str) -> None:
    with pytest.raises(UsageError) as raised:
        choose_store(HOME | variables)
    assert message in raised.value.message
    assert hint in (raised.value.hint or "")


def test_a_fresh_store_knows_none_of_the_callers(tmp_path: Path) -> None:
    store = fresh_store(tmp_path, HOME | {"SCCACHE_REDIS_ENDPOINT": "redis://a", "SCCACHE_RECACHE": "1"})
    assert store.folder == tmp_path
    assert "SCCACHE_REDIS_ENDPOINT" not in store.server
    assert not store.clients


def test_messages_hold_no_secrets() -> None:
    store = choose_store(
        HOME
        | {
            "SCCACHE_WEBDAV_ENDPOINT": "https://ada:pw-of-ada@dav.example",
            "SCCACHE_WEBDAV_PASSWORD": "another-pw",
            "AWS_SESSION_TOKEN": "a-token",
        }
    )
    error = unusable(store, "cannot be used", "no answer from https://ada:pw-of-ada@dav.example (another-pw, a-token)")
    assert error.detail == "no answer from https://***@dav.example (***, ***)"
    assert error.where == "WebDAV at https://dav.example"


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(HostError, match="cannot be made: Not a directory") as raised:
        check_store(choose_store(HOME | {"SCCACHE_DIR": str(tmp_path / "file/store")}))
    assert raised.value.hint == "name another one in SCCACHE_DIR"


def test_redis_that_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        check_store(choose_store(HOME | {"SCCACHE_REDIS_ENDPOINT": f"redis://127.0.0.1:{listener.getsockname()[1]}"}))


@pytest.mark.parametrize("address", ["redis://ada:pw@127.0.0.1:{free}", "redis://nowhere.invalid:1", "127.0.0.1:port"])
def test_redis_where_nobody_listens(address: str) -> None:
    with socket.socket() as stream:
        stream.bind(("127.0.0.1", 0))
        endpoint = address.format(free=stream.getsockname()[1])
        with pytest.raises(HostError, match="does not answer: ") as raised:
            check_store(choose_store(HOME | {"SCCACHE_REDIS_ENDPOINT": endpoint}))
    assert "redis-cli" in (raised.value.hint or "")
    assert "pw" not in str(raised.value)
