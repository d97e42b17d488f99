"""`slipway publish` to every kind of store: signed, again, two at once, killed, and read by a solver."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rattler.networking.middleware import S3Config, S3Middleware

from slipway.base.log import NullReporter
from slipway.channel import rattler
from slipway.channel.catalogue import CATALOGUE, parse_catalogue
from slipway.channel.environments import install, solve
from slipway.channel.stores import find_store
from slipway.cli import main
from slipway.workflows.handing import hand_on

if TYPE_CHECKING:
    from ...conftest import Kit

pytestmark = pytest.mark.integration

CHECKOUT = Path(__file__).resolve().parents[4]


@pytest.fixture(params=["folder", "webdav", "s3", "registry"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place of each kind, with nothing in it."""
    if request.param == "folder":
        return str(tmp_path / "ch")
    fixture = {"webdav": "webdav", "s3": "bucket", "registry": "registry"}[request.param]
    found = request.getfixturevalue(fixture)
    return f"{found if isinstance(found, str) else found[0]}/{uuid.uuid4().hex}/ch"


def make_package(kit: Kit, name: str, size: int = 10) -> Path:
    return kit.package({f"share/{name}.bin": os.urandom(size)}, name=name, about={"license": "MIT"})


def start(*words: str | Path) -> subprocess.Popen[str]:
    """slipway, in a process of its own."""
    program = "import sys; from slipway.cli import main; sys.exit(main(sys.argv[1:]))"
    environ = {**os.environ, "PYTHONPATH": str(CHECKOUT / "ci")}
    command = [sys.executable, "-c", program, *map(str, words)]
    return subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def look(place: str) -> list[str]:
    """What the index offers; each of it is there."""
    store = find_store(place)
    found = store.read("linux-64/repodata.json")
    packages = json.loads(found.content)["packages.conda"] if found is not None else {}
    for name, record in packages.items():
        assert store.hash_file(f"linux-64/{name}") == record["sha256"]
    return sorted(record["name"] for record in packages.values())


def test_signed_verified_and_pruned(place: str, kit: Kit, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    key, trusted, package = tmp_path / "k.pem", tmp_path / "trusted.yaml", make_package(kit, "one")
    assert main(["attest", "--new-key", str(key)]) == 0
    public = capfd.readouterr().out.split()[-1]
    trusted.write_text(f"keys: [{{name: me, key: {public}}}]\n", encoding="utf-8")
    words = ["publish", "--to", place, "--key", str(key), str(package)]
    assert main([*words, "--dry-run"]) == 0
    assert find_store(place).read(CATALOGUE) is None
    assert main(words) == 0
    assert main(words) == 0
    assert main(["channel", "verify", place, "--keys", str(trusted), "--contents"]) == 0
    assert look(place) == ["one"]
    said = capfd.readouterr()
    assert "1 of them before" in said.err + said.out
    for secret in ("s3cretword", "verysecretkey", key.read_text(encoding="ascii").splitlines()[1]):
        assert secret not in said.err + said.out


def test_two_at_once_lose_nothing(place: str, kit: Kit) -> None:
    packages = {name: make_package(kit, name, 50_000) for name in ("one", "two", "three")}
    running = [start("publish", "--to", place, package) for package in packages.values()]
    for process in running:
        said, _ = process.communicate(timeout=120)
        assert process.returncode == 0, said
    assert look(place) == sorted(packages)
    found = find_store(place).read(CATALOGUE)
    assert found is not None
    assert len(parse_catalogue(found.content, place).packages) == 3


def test_killed_it_can_be_run_again(place: str, kit: Kit) -> None:
    package = make_package(kit, "one", 2_000_000)
    for delay in (0.5, 0.7, 0.9):
        process = start("publish", "--to", place, package)
        time.sleep(delay)
        process.kill()
        process.communicate()
        assert look(place) in ([], ["one"])
    assert main(["publish", "--to", place, str(package)]) == 0
    assert look(place) == ["one"]


def test_what_was_published_is_a_channel_to_install_from(
    place: str, kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Every kind of place, by its own address; what is large, missing or elsewhere is told of it."""
    assert main(["publish", "--to", place, str(make_package(kit, "one", 3_000_000))]) == 0
    words = ["install", "--dist", str(tmp_path / "dist"), "--channel", place, "--prefix"]
    assert main([*words, str(tmp_path / "env"), "one"]) == 0
    assert (tmp_path / "env/share/one.bin").stat().st_size == 3_000_000
    record = json.loads(next((tmp_path / "env/conda-meta").glob("one-*.json")).read_text(encoding="utf-8"))
    assert "127.0.0.1" not in record["url"] or "127.0.0.1" in place, "it is known by its own address"
    assert "s3cretword" not in json.dumps(record)
    assert main([*words, str(tmp_path / "other"), "two"]) == 7
    if place.startswith(("s3:", "oci")):
        monkeypatch.setenv("SLIPWAY_HTTP_INDEX_BYTES", "100")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        assert main([*words, str(tmp_path / "third"), "one"]) == 5
        assert "100 bytes" in capfd.readouterr().err


def test_solver_reads_what_lies_on_a_server(
    webdav: tuple[str, Path],
    bucket: str,
    s3_endpoint: str,
    kit: Kit,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    part, package = uuid.uuid4().hex, make_package(kit, "one")
    for place in (f"{webdav[0]}/{part}", f"{bucket}/{part}"):
        assert main(["publish", "--to", place, str(package)]) == 0
    assert install(solve(["one"], [f"{webdav[0]}/{part}"]), tmp_path / "env", NullReporter()) == 1
    assert (tmp_path / "env/share/one.bin").is_file()
    known = {"s3://shelf": {"S3Credentials": {"access_key_id": "somebody", "secret_access_key": "verysecretkey"}}}
    (tmp_path / "credentials.json").write_text(json.dumps(known), encoding="utf-8")
    monkeypatch.setenv("RATTLER_AUTH_FILE", str(tmp_path / "credentials.json"))
    config = S3Config(s3_endpoint, "us-east-1", "path")
    client = rattler.Client([S3Middleware({"shelf": config})])
    gateway = rattler.Gateway(cache_dir=tmp_path / "cache", client=client)
    subdirs = [rattler.Subdir("linux-64"), rattler.Subdir("noarch")]
    found = rattler.run(gateway.query([f"{bucket}/{part}"], subdirs, ["one"]))
    assert [record.file_name for records in found for record in records] == [package.name]


def test_what_was_handed_on_gets_its_own_name(kit: Kit, tmp_path: Path) -> None:
    package = make_package(kit, "one")
    handed = tmp_path / "handed/linux-64/one-before-it-was-solved.conda"
    handed.parent.mkdir(parents=True)
    shutil.copyfile(package, handed)
    assert main(["publish", "--to", str(tmp_path / "ch"), str(handed)]) != 0, (
        "no record, and a name that is not its own"
    )
    hand_on(package, handed)
    assert main(["publish", "--to", str(tmp_path / "ch"), str(handed)]) == 0
    assert look(str(tmp_path / "ch")) == ["one"]
    assert (tmp_path / "ch/linux-64" / package.name).is_file()
