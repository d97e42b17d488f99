"""What slipway wrote down and reads again, damaged: the answer is right, or a named error, and never a traceback."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from slipway import cli
from slipway.channel.archive import read_contents
from slipway.channel.folder import Channel

META = """\
package:
  name: small
  version: "1"
source:
  path: a.txt
about:
  license: MIT
"""
WAYS = {
    "empty": lambda content, _: b"",
    "cut": lambda content, _: content[: len(content) // 2],
    "noise": lambda content, generator: generator.randbytes(len(content) + 9),
    "deep": lambda content, _: b"[" * 100_000,
    "other": lambda content, _: b'{"format": 2, "packages.conda": [], "files": {"a": null}, "time": 1e999}',
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished dist, an environment made from it, a recipe and an empty channel, all in one folder."""
    folder = tmp_path_factory.mktemp("home")
    recipe = folder / "recipe"
    recipe.mkdir()
    (recipe / "meta.yaml").write_text(META, encoding="utf-8")
    (recipe / "build.sh").write_text("mkdir $PREFIX/share; cp a.txt $PREFIX/share/a.txt\n", encoding="utf-8")
    (recipe / "a.txt").write_text("a\n", encoding="utf-8")
    Channel(folder / "none").publish()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        assert cli.main(ship(folder)) == 0
        assert cli.main(install(folder)) == 0
    return folder


def ship(folder: Path) -> list[str]:
    return ["ship", *request(folder)]


def request(folder: Path) -> list[str]:
    return [str(folder / "recipe"), "--dist", str(folder / "dist"), "--channel", str(folder / "none")]


def install(folder: Path) -> list[str]:
    words = ["install", "small", "--prefix", str(folder / "env"), "--dist", str(folder / "dist")]
    return [*words, "--channel", str(folder / "none")]


STATE = (
    "dist/channel/linux-64/repodata.json",
    "dist/channel/linux-64/repodata.json.zst",
    "dist/channel/noarch/repodata.json",
    "dist/channel/linux-64/small-1-0.conda",
    "dist/.lock",
    "dist/logs/small-1-0.build.json",
    "dist/logs/small-1-0.conda.contents.json",
    "dist/logs/runs/*.jsonl",
    "dist/report.html",
    "env/conda-meta/small-1-0.json",
    "env/conda-meta/slipway-environment",
    "cache/slipway/judged/*.json",
    "cache/slipway/taken.lock",
    "cache/slipway/unpacked/*/files/share/a.txt",
)


@pytest.mark.parametrize("pattern", STATE)
def test_damaged_state(
    home: Path, pattern: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    generator = random.Random(pattern)
    (name,) = {path.relative_to(home) for path in home.glob(pattern)}
    for way in generator.sample(sorted(WAYS), 3):
        folder = home.with_name("damaged")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(home, folder, symlinks=True)
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        (folder / name).write_bytes(WAYS[way]((home / name).read_bytes(), generator))
        dist = ["--dist", str(folder / "dist")]
        commands = [
            ["plan", *request(folder)],
            ["report", *dist],
            ["report", "--text", *dist],
            ["verify", *dist, "--channel", str(folder / "none")],
            install(folder),
            ["rebuild", "small", "--recipe", str(folder / "recipe"), *request(folder)[1:]],
        ]
        for words in generator.sample(commands, 3):
            code = cli.main(words)  # which lets a traceback out
            said = capsys.readouterr().err
            assert (code == 0) != bool(re.search(r"error(\[[a-z-]+\])?: ", said)), (way, words, said)
            assert code in (0, 2, 6, 7, 12), (way, words, said)
        assert cli.main(ship(folder)) == 0, (way, capsys.readouterr().err)
        capsys.readouterr()
        assert cli.main(["plan", *request(folder)]) == 0
        assert "up to date" in capsys.readouterr().out
        (package,) = folder.glob("dist/channel/linux-64/*.conda")
        assert read_contents(package)["share/a.txt"] == b"a\n", "an old one is not taken for the package"


def test_links_that_lead_nowhere(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for pattern in STATE:
        (name,) = {path.relative_to(home) for path in home.glob(pattern)}
        folder = home.with_name("linked")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(home, folder, symlinks=True)
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        (folder / name).unlink()
        (folder / name).symlink_to("nowhere/at/all")
        for words in (["plan", *request(folder)], ship(folder), install(folder)):
            code = cli.main(words)
            said = capsys.readouterr().err
            assert (code == 0) != bool(re.search(r"error(\[[a-z-]+\])?: ", said)), (name, words, said)


@pytest.mark.parametrize("place", ["dist", "dist/logs", "dist/channel", "dist/work", "cache/slipway"])
def test_a_file_where_a_folder_is_to_be(
    home: Path, tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("recipe", "none"):
        shutil.copytree(home / name, tmp_path / name)
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / place).write_text("mine", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for words in (ship(tmp_path), ["build", *request(tmp_path)], install(tmp_path)):
        assert cli.main(words) in (2, 7, 11, 12), words
        assert re.search(r"error(\[[a-z-]+\])?: ", capsys.readouterr().err)
    assert (tmp_path / place).read_text(encoding="utf-8") == "mine"


FULL = """\
mount -t tmpfs -o size=$1 tmpfs "$2" && shift 2 && exec "$@"
"""
MOUNTS = ["unshare", "--mount", "sh", "-c", FULL, "sh"]
LAUNCHER = Path(__file__).resolve().parents[2] / "slipway"


def may_mount() -> bool:
    command = ["unshare", "--mount", "mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", "/mnt"]
    return shutil.which("unshare") is not None and subprocess.run(command, capture_output=True).returncode == 0


@pytest.mark.skipif(not may_mount(), reason="a small file system cannot be mounted here")
@pytest.mark.parametrize("place", ["build", "dist", "tmp"])
def test_a_disk_that_fills_up(home: Path, tmp_path: Path, place: str) -> None:
    """At every size there is either a package or the error that names what happened; nothing half done stays."""
    recipe = tmp_path / "recipe"
    shutil.copytree(home / "recipe", recipe)
    script = recipe / "build.sh"
    script.write_text(f"{script.read_text()}head -c 300000 /dev/urandom > $PREFIX/share/b\n", encoding="utf-8")
    codes = []
    for size in (12, 100, 20_000):
        out = tmp_path / str(size)
        for name in ("build", "dist", "tmp", "home"):
            (out / name).mkdir(parents=True)
        places = {"SLIPWAY_BUILD_FOLDER": "build/b", "TMPDIR": "tmp", "XDG_CACHE_HOME": "home", "HOME": "home"}
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        words = ["ship", recipe, "--dist", out / "dist/d", "--channel", home / "none"]
        answer = subprocess.run(
            [*MOUNTS, f"{size}k", out / place, LAUNCHER, *words],
            env=environment | {key: str(out / value) for key, value in places.items()},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert answer.returncode in (0, 10), (size, answer.stdout, answer.stderr)
        assert ("the disk is full" in answer.stderr) == (answer.returncode == 10), answer.stderr
        assert answer.returncode == 0 or not list(out.glob("dist/d/channel/*/*.conda"))
        codes.append(answer.returncode)
    assert codes == sorted(codes, reverse=True)
    assert set(codes) == {0, 10}
