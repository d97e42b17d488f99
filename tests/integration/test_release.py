"""`slipway release`: from packages to a tag, a signed channel and wheels that pip installs, all on this machine."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from slipway.channel.serving import make_server

from .conftest import RECIPES, ShipTorch, Slipway

Git = Callable[..., str]
CHANGELOG = "# Changes\n\n## greet 1.2 (unreleased)\n\n- Knows a number.\n\n## greet 1.1 (2026-01-01)\n\n- Greets.\n"


def git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=Ann", "-c", "user.email=ann@example.org", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with a recipe, everything of it pushed to a bare one."""
    folder = tmp_path / "checkout"
    shutil.copytree(RECIPES / "released", folder / "recipe")
    (folder / "CHANGELOG.md").write_text(CHANGELOG, encoding="utf-8")
    git(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", "remote.git")
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "config", "user.name", "Ann")
    git(folder, "config", "user.email", "ann@example.org")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "all of it")
    git(folder, "remote", "add", "origin", str(tmp_path / "remote.git"))
    git(folder, "push", "--quiet", "origin", "main")
    return folder


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of what `slipway channel serve` gives of the folder."""
    server = make_server(folder, ("127.0.0.1", 0))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@contextmanager
def taking_nothing() -> Iterator[str]:
    """A server that has no file, and cannot keep any."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response({"PUT": 500, "OPTIONS": 200}.get(self.command, 404))
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_PUT = do_OPTIONS = do_DELETE = answer

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/channel"
        server.shutdown()


def pip_environment(folder: Path, *words: str) -> Path:
    """The Python of a new virtual environment, where pip has installed `words`."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin/python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-cache-dir", *words]
    subprocess.run(pip, check=True)
    return python


def test_from_packages_to_pip(slipway: Slipway, checkout: Path, tmp_path: Path) -> None:
    dist, channel, key = tmp_path / "dist", tmp_path / "channel", tmp_path / "release.pem"
    public = slipway("attest", "--new-key", key).stdout.split()[-1]
    shipped = slipway("ship", checkout / "recipe", "--dist", dist)
    assert shipped.returncode == 0, shipped.stdout + shipped.stderr
    words = ("release", checkout / "recipe", "--dist", dist, "--to", channel, "--key", key)

    (checkout / "new.txt").write_text("new", encoding="utf-8")
    answer = slipway(*words)
    assert answer.returncode == 2
    assert "`new.txt` is not committed" in answer.stderr
    (checkout / "new.txt").unlink()

    planned = slipway(*words, "--dry-run")
    assert planned.returncode == 0, planned.stdout + planned.stderr
    assert "would be released as v1.2 at origin" in planned.stdout
    assert git(checkout, "tag") == ""
    assert not channel.exists()

    taken, signed = tmp_path / "taken", tmp_path / "signed"
    (library,) = dist.glob("channel/linux-64/libgreet-*.conda")
    assert slipway("publish", "--to", taken, library).returncode == 0
    catalogue = json.loads((taken / "catalogue.json").read_bytes())
    catalogue["packages"][f"linux-64/{library.name}"]["record"]["sha256"] = "0" * 64
    (taken / "catalogue.json").write_text(json.dumps(catalogue), encoding="utf-8")
    assert slipway("publish", "--to", signed, "--key", key, library).returncode == 0
    refused = [
        (5, (*words[:5], "http://127.0.0.1:9/channel", *words[6:]), "the server did not do it"),
        (2, (*words[:7], tmp_path / "lost.pem"), "lost.pem"),
        (12, (*words[:5], taken, *words[6:]), "another package is published"),
        (12, (*words[:5], signed), "the channel is signed"),
    ]
    for code, others, message in refused:
        answer = slipway(*others)
        assert (answer.returncode, git(checkout, "tag")) == (code, ""), answer.stdout + answer.stderr
        assert message in answer.stderr
        assert git(checkout, "rev-list", "--count", "HEAD") == "1"
    with taking_nothing() as address:
        cut_off = slipway(*words[:5], address, *words[6:])
    assert cut_off.returncode == 5, cut_off.stdout + cut_off.stderr
    assert git(checkout, "tag") == "v1.2"
    released = slipway(*words)
    assert released.returncode == 0, released.stdout + released.stderr
    assert git(checkout, "ls-remote", "--tags", "origin", "v1.2").endswith("refs/tags/v1.2")
    assert git(checkout, "rev-list", "--count", "origin/main") == "2", "cut off and gone on, it is one commit"
    changelog = (checkout / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## greet 1\.2 \(\d{4}-\d\d-\d\d\)$", changelog, re.MULTILINE)
    assert "- Knows a number." in git(checkout, "tag", "--list", "--format=%(contents)", "v1.2")
    trusted = tmp_path / "trusted.yaml"
    trusted.write_text(f"threshold: 1\nkeys:\n  - {{name: release, key: {public}}}\n", encoding="utf-8")
    verified = slipway("channel", "verify", channel, "--keys", trusted, "--contents")
    assert verified.returncode == 0, verified.stdout + verified.stderr

    (wheel,) = (channel / "simple/greet").glob("*.whl")
    assert re.fullmatch(r"greet-1\.2-cp3\d+-cp3\d+-manylinux[\w.]+_x86_64\.whl", wheel.name)
    shown = subprocess.run(
        [sys.executable, "-P", "-m", "auditwheel", "show", str(wheel)], capture_output=True, text=True
    )
    assert "manylinux" in shown.stdout, shown.stdout + shown.stderr
    bytes_before = wheel.read_bytes()
    with served(channel) as address:
        python = pip_environment(tmp_path / "venv", "--index-url", f"{address}/simple", "greet")
    told = subprocess.run([str(python), "-c", "import greet; print(greet.answer())"], capture_output=True, text=True)
    assert told.stdout == "42\n", told.stderr

    again = slipway(*words)
    assert again.returncode == 0, again.stdout + again.stderr
    assert wheel.read_bytes() == bytes_before, "the same packages make the same wheel"
    (checkout / "recipe/src/answer.c").write_text('#include "answer.h"\nint answer(void) { return 6 * 7; }\n')
    git(checkout, "commit", "--quiet", "--all", "--message", "another number")
    answer = slipway(*words)
    assert answer.returncode == 12
    assert "as it would be built now" in answer.stderr
    assert "`slipway ci run` with the same options" in answer.stderr
    assert slipway("ship", checkout / "recipe", "--dist", dist).returncode == 0
    answer = slipway(*words)
    assert answer.returncode == 2
    assert "v1.2 is released already, of commit" in answer.stderr


def test_of_two_at_once_one_is_refused(slipway: Slipway, checkout: Path, tmp_path: Path) -> None:
    """Two clones on two machines: each has its dist, the repository is one."""
    other = tmp_path / "other"
    git(tmp_path, "clone", "--quiet", str(tmp_path / "remote.git"), str(other))
    shutil.copy(checkout / ".git/config", other / ".git/config")
    # Within one second, the same person's commits of the same would be one commit, which either may push.
    git(other, "config", "user.name", "somebody else")
    dists = {checkout: tmp_path / "dist", other: tmp_path / "other-dist"}
    for folder, dist in dists.items():
        shipped = slipway("ship", folder / "recipe", "--dist", dist)
        assert shipped.returncode == 0, shipped.stdout + shipped.stderr
    answers: dict[Path, subprocess.CompletedProcess[str]] = {}

    def release(folder: Path) -> None:
        answers[folder] = slipway("release", folder / "recipe", "--dist", dists[folder], "--to", tmp_path / "channel",
                                  "--no-wheels")  # fmt: skip

    threads = [threading.Thread(target=release, args=(folder,)) for folder in dists]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first, second = sorted(answers, key=lambda folder: answers[folder].returncode)
    assert [answers[first].returncode, answers[second].returncode] == [0, 2], [
        answer.stdout + answer.stderr for answer in answers.values()
    ]
    assert git(second, "status", "--porcelain") == ""
    assert git(second, "tag") == ""
    assert git(second, "rev-list", "--count", "HEAD") == "1", "what was begun is taken back"
    assert git(first, "rev-list", "--count", "origin/main") == "2"


@pytest.mark.network
def test_a_wheel_of_torch(slipway: Slipway, ship_torch: ShipTorch, tmp_path: Path) -> None:
    """Repacked from what was shipped, and used where pip put it; MKL comes as the wheel that its project has."""
    with ship_torch("--no-install") as dist:
        program = (
            "import sys; from pathlib import Path; from slipway.base.log import NullReporter\n"
            "from slipway.recipe import load_recipe_settings; from slipway.release.wheels import make_wheel\n"
            "settings = load_recipe_settings(Path('recipe')).wheels['pytorch']; folder = Path(sys.argv[2])\n"
            "make_wheel(Path(sys.argv[1]), 'pytorch', settings, folder, NullReporter(), log=folder / 'log')\n"
        )
        assert slipway("install", "--dist", dist, "--prefix", tmp_path / "prefix", "pytorch").returncode == 0
    folder = tmp_path / "wheels"
    folder.mkdir()
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "prefix"), str(folder)], check=True,
                   cwd=Path(__file__).parents[2], env={"PYTHONPATH": "ci", "PATH": "/usr/bin:/bin"})  # fmt: skip
    (wheel,) = folder.glob("*.whl")
    assert "manylinux" in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        assert not [name for name in names if "libmkl" in name], "that is another project's"
        assert [name for name in names if re.match(r"torch\.libs/libgomp-", name)], "that is grafted"
    if sys.version_info[:2] != (3, 11):
        pytest.skip("this Python is not the wheel's")
    python = pip_environment(tmp_path / "venv", str(wheel))
    script = (
        "import torch\n"
        "weight = torch.ones(300, 300, requires_grad=True)\n"
        "(weight @ weight).sum().backward()\n"
        "assert weight.grad[0, 0] == 600, weight.grad\n"
        "assert torch.linalg.det(torch.eye(3) * 2) == 8\n"
        "assert torch.zeros(4).share_memory_().is_shared()\n"
    )
    subprocess.run([str(python), "-P", "-c", script], check=True)
