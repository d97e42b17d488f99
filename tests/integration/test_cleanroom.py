"""The clean room hides the host, and the packages do without it."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from slipway.base.errors import BuildError
from slipway.base.platform import LINUX_64
from slipway.cleanroom import HIDDEN_PROGRAMS, CleanRoom, carried_tests, environment_of, hidden_paths, proof_script

from .conftest import CHECKOUT, RECIPES, ShipTorch, Slipway


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    """An environment with nothing in it."""
    folder = tmp_path / "prefix"
    (folder / "bin").mkdir(parents=True)
    return folder


def run(room: CleanRoom, prefix: Path, script: str, log: Path) -> tuple[int, tuple[str, ...]]:
    """Exit status and output of a script in the room."""
    done = room.run(script, cwd=prefix, env=environment_of(prefix), what="a test", log=log)
    return done.returncode, done.tail


def test_host_is_absent_and_the_environment_is_there(prefix: Path, tmp_path: Path) -> None:
    (prefix / "here.txt").write_text("hello\n", encoding="utf-8")
    room = CleanRoom(tmp_path / "room", [prefix], LINUX_64)
    log = tmp_path / "log"
    assert run(room, prefix, "cat here.txt; echo more > there.txt; ls / | tr '\\n' ' '", log) == (
        0,
        ("hello", "bin dev etc home lib lib64 proc " + f"{tmp_path.parts[1]} usr "),
    )
    assert (prefix / "there.txt").read_text(encoding="utf-8") == "more\n"
    assert run(room, prefix, proof_script(prefix, LINUX_64), log)[0] == 0
    assert run(room, prefix, f"ls {CHECKOUT}", log)[0] != 0


def test_environment_of_the_caller_is_absent(prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/usr/lib")
    monkeypatch.setenv("MY_TOKEN", "secret")
    code, lines = run(CleanRoom(tmp_path / "room", [prefix], LINUX_64), prefix, "env", tmp_path / "log")
    assert code == 0
    assert {line.partition("=")[0] for line in lines} <= {*environment_of(prefix), "PWD", "OLDPWD", "SHLVL", "_"}


def test_there_is_no_network_but_the_rooms_own(prefix: Path, tmp_path: Path) -> None:
    room = CleanRoom(tmp_path / "room", [prefix], LINUX_64)
    with socket.create_server(("127.0.0.1", 0)) as server:
        reach = f"exec 3<>/dev/tcp/127.0.0.1/{server.getsockname()[1]} && echo reached"
        assert run(room, prefix, reach, tmp_path / "log")[0] != 0
        done = room.run(
            reach, cwd=prefix, env=environment_of(prefix), what="a test", log=tmp_path / "log", network=True
        )
        assert (done.returncode, done.tail) == (0, ("reached",))
    own = "cat /proc/net/fib_trie | grep -c 127.0.0.1; awk 'NR > 2 && !/^ *lo:/ { exit 1 }' /proc/net/dev"
    assert run(room, prefix, own, tmp_path / "log")[0] == 0


def test_what_a_test_leaves_running_ends_with_it(prefix: Path, tmp_path: Path) -> None:
    room = CleanRoom(tmp_path / "room", [prefix], LINUX_64)
    stays = "(while true; do date > alive; sleep 0.1; done) > /dev/null 2>&1 &"
    assert run(room, prefix, stays, tmp_path / "log")[0] == 0
    (prefix / "alive").unlink(missing_ok=True)
    time.sleep(0.5)
    assert not (prefix / "alive").exists()


@pytest.mark.parametrize(
    "path", ["usr/bin/gcc", "usr/include", "lib/x86_64-linux-gnu/libstdc++.so.6", "usr/lib/libpython3.11.so.1.0"]
)
def test_proof_finds_what_is_not_hidden(prefix: Path, tmp_path: Path, path: str) -> None:
    room = CleanRoom(tmp_path / "room", [prefix], LINUX_64)
    planted = room.root / path
    planted.parent.mkdir(parents=True, exist_ok=True)
    planted.write_text("#!/bin/sh\n", encoding="utf-8")
    planted.chmod(0o755)
    code, lines = run(room, prefix, proof_script(prefix, LINUX_64), tmp_path / "log")
    assert code == 1
    assert lines[-1] == f"the host's /{path} can be seen"


def test_proof_looks_for_what_this_machine_has() -> None:
    """A list of names that no machine has would prove nothing."""
    assert any((Path("/usr/bin") / name).exists() for name in HIDDEN_PROGRAMS)
    assert any(Path(path).exists() for path in hidden_paths(LINUX_64))


def test_failure_in_the_middle_of_a_script_counts(prefix: Path, tmp_path: Path) -> None:
    room = CleanRoom(tmp_path / "room", [prefix], LINUX_64)
    assert run(room, prefix, "false\necho not reached", tmp_path / "log") == (1, ())
    assert run(room, prefix, "false | true\necho not reached", tmp_path / "log") == (1, ())


def test_tests_of_an_unknown_kind_are_not_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from slipway import cleanroom

    text = b"- ruby: {requires: [x]}\n"
    monkeypatch.setattr(cleanroom, "read_contents", lambda path: {"info/tests/tests.yaml": text})
    with pytest.raises(BuildError, match="a test of an unknown kind: ruby"):
        carried_tests(tmp_path / "a.conda", "a")


def test_recipe_of_others(slipway: Slipway, tmp_path: Path) -> None:
    """A C library's own tests, which compile a program, run in the room as they are."""
    dist = tmp_path / "dist"
    assert slipway("ship", RECIPES / "hello", "--dist", dist).returncode == 0
    answer = slipway("cleanroom", "libhello", "--dist", dist)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "libhello: its own tests  passed" in answer.stdout
    assert "the host has no program, header or library in here" in answer.stdout


def test_project_that_counts_on_the_host_fails(slipway: Slipway, tmp_path: Path) -> None:
    dist = tmp_path / "dist"
    assert slipway("ship", RECIPES / "hello", "--dist", dist).returncode == 0
    project = tmp_path / "careless"
    project.mkdir()
    (project / "build.sh").write_text("gcc --version\n", encoding="utf-8")
    answer = slipway("cleanroom", "libhello", "--project", project, "--dist", dist)
    assert answer.returncode == 14, answer.stdout + answer.stderr
    assert "gcc: command not found" in answer.stdout
    assert "careless: built from the installed packages  FAILED" in answer.stdout


def test_torch_packages_and_their_consumers(slipway: Slipway, ship_torch: ShipTorch) -> None:
    """The recipe's own tests, a C++ project through find_package(Torch), an extension through cpp_extension."""
    with ship_torch("--no-install") as dist:
        answer = slipway("cleanroom", "--dist", dist)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert answer.stdout.count("  passed ") == 4
    assert "weights 3 -1" in answer.stdout
    assert "extension works" in answer.stdout


@pytest.mark.parametrize(("rights", "works"), [("", True), ("setpriv --bounding-set=-all --inh-caps=-all ", False)])
def test_where_users_may_make_no_namespaces(rights: str, works: bool) -> None:
    """With root's rights it works without a user namespace; without them the error says what is missing."""
    program = (
        "from slipway.cleanroom import _unshare\nfrom slipway.base.errors import HostError\n"
        "try:\n    print(_unshare(network=False))\nexcept HostError as error:\n    print(error.message, error.hint)\n"
    )
    script = f"echo 0 > /proc/sys/user/max_user_namespaces; exec {rights}{sys.executable} -c {shlex.quote(program)}"
    answer = subprocess.run(
        ["unshare", "--user", "--map-root-user", "bash", "-c", script],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT / "ci")}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    if works:
        assert "--mount" in answer.stdout
        assert "--user" not in answer.stdout
    else:
        assert "this system lets nobody make namespaces" in answer.stdout
        assert "max_user_namespaces" in answer.stdout
