"""A channel served: parts, tags, tokens, and what is not given away; rattler reads it."""

from __future__ import annotations

import base64
import http.client
import threading
from typing import TYPE_CHECKING

import pytest

from slipway.base.log import NullReporter
from slipway.channel.environments import install, solve
from slipway.channel.folder import Channel
from slipway.channel.package import read_info_files
from slipway.channel.serving import find_part, make_server, split_token

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def served(tmp_path: Path, package: Path) -> Iterator[tuple[Path, int, list[str]]]:
    """A channel's folder, the port that serves it to who says `sesame-open`, and what was answered."""
    folder = tmp_path / "ch"
    Channel(folder).publish([("linux-64", package)])
    (folder / "noarch/x").write_bytes(b"0123456789")
    (folder / ".secret").write_bytes(b"no")
    (tmp_path / "outside").write_bytes(b"no")
    (folder / "noarch/link").symlink_to(tmp_path / "outside")
    answered: list[str] = []
    server = make_server(folder, ("127.0.0.1", 0), tokens=frozenset({"sesame-open"}), on_answer=answered.append)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield folder, server.server_port, answered
    server.shutdown()
    server.server_close()


def ask(port: int, path: str, method: str = "GET", **headers: str) -> tuple[int, bytes, dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    found = answer.status, answer.read(), dict(answer.getheaders())
    connection.close()
    return found


def test_tokens(served: tuple[Path, int, list[str]]) -> None:
    _, port, answered = served
    basic = base64.b64encode(b"ada:sesame-open").decode()
    assert ask(port, "/noarch/x")[0] == 401
    assert ask(port, "/t/guess/noarch/x")[0] == 401
    assert ask(port, "/noarch/x", Authorization="Basic nonsense!")[0] == 401
    assert ask(port, "/t/sesame-open/noarch/x")[1] == b"0123456789"
    assert ask(port, "/noarch/x", Authorization="Bearer sesame-open")[0] == 200
    assert ask(port, "/noarch/x", Authorization=f"Basic {basic}")[0] == 200
    assert not any("sesame" in line for line in answered)


def test_parts_and_tags(served: tuple[Path, int, list[str]]) -> None:
    folder, port, _ = served
    path = "/t/sesame-open/noarch/x"
    status, content, headers = ask(port, path, Range="bytes=2-4")
    assert (status, content, headers["Content-Range"]) == (206, b"234", "bytes 2-4/10")
    assert ask(port, path, Range="bytes=-3")[1] == b"789"
    assert ask(port, path, Range="bytes=7-")[1] == b"789"
    assert ask(port, path, Range="bytes=10-")[0] == 416
    assert ask(port, path, Range="lines=1-2")[0] == 200
    tag = headers["ETag"]
    assert ask(port, path, If_None_Match=tag)[:2] == (304, b"")
    assert ask(port, path, Range="bytes=0-1", If_Range='"other"')[1] == b"0123456789"
    assert ask(port, path, "HEAD")[:2] == (200, b"")
    (folder / "noarch/x").write_bytes(b"9876543210")
    assert ask(port, path, If_None_Match=tag)[0] == 200


def test_pages(served: tuple[Path, int, list[str]]) -> None:
    folder, port, _ = served
    (folder / "simple/torch").mkdir(parents=True)
    (folder / "simple/torch/index.html").write_bytes(b"<a href=torch.whl>torch.whl</a>")
    status, content, headers = ask(port, "/t/sesame-open/simple/torch/")
    assert (status, content, headers["Content-Type"]) == (200, b"<a href=torch.whl>torch.whl</a>", "text/html")
    status, content, headers = ask(port, "/t/sesame-open/simple/torch")
    assert (status, content, headers["Location"]) == (301, b"", "./torch/")
    assert ask(port, "/t/sesame-open/simple/")[0] == ask(port, "/t/sesame-open/simple")[0] == 404
    assert ask(port, "/simple/torch")[0] == 401


@pytest.mark.parametrize(
    "path",
    [
        "/.secret",
        "/../outside",
        "/%2e%2e/outside",
        "/noarch/..%2f..%2foutside",
        "/noarch/link",
        "/noarch",
        "/",
        "/x%00",
    ],
)
def test_what_is_not_given_away(served: tuple[Path, int, list[str]], path: str) -> None:
    assert ask(served[1], f"/t/sesame-open{path}")[0] == 404


def test_rattler_reads_it(served: tuple[Path, int, list[str]], tmp_path: Path, package: Path) -> None:
    address = f"http://127.0.0.1:{served[1]}/t/sesame-open/"
    solution = solve(["libtoy"], [address])
    assert install(solution, tmp_path / "env", NullReporter()) == 1
    assert (tmp_path / "env/lib/toy.txt").is_file()


def test_metadata_alone_is_fetched(tmp_path: Path, package: Path) -> None:
    Channel(tmp_path / "ch").publish([("linux-64", package)])
    answered: list[str] = []
    server = make_server(tmp_path / "ch", ("127.0.0.1", 0), on_answer=answered.append)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/linux-64/{package.name}"
    assert read_info_files(url, ["index.json"]) != {}
    server.shutdown()
    server.server_close()
    assert {line.partition(" ")[0] for line in answered} <= {"200", "206"}
    assert any(line.startswith("206 ") for line in answered)


def test_ranges_and_tokens_are_read() -> None:
    assert split_token("/t/a%20b/linux-64/x") == ("a b", "/linux-64/x")
    assert split_token("/linux-64/t/x") == ("", "/linux-64/t/x")
    assert find_part("bytes=5-2", 10) == (10, 10)
    assert find_part("bytes=-", 10) is None
    assert find_part("bytes=-20", 10) == (0, 10)
