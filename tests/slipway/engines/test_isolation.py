"""What scripts reach of this machine: nothing where the kernel lets bubblewrap, and else slipway says so."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import BuildError, HostError
from slipway.base.log import NullReporter
from slipway.channel.folder import Channel
from slipway.engines.engine import Isolation
from slipway.engines.isolation import PROGRAM, Isolator, find_problem
from slipway.model import OutputTest, RenderedOutput
from slipway.pipeline.context import RunContext
from slipway.pipeline.run import run

if TYPE_CHECKING:
    from conftest import Kit

MakeOutput = Callable[..., RenderedOutput]
MakeContext = Callable[..., RunContext]

SECRET = "PLANTED-in-an-environment"


class ListeningReporter(NullReporter):
    """Keeps the lines that people would see."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def line(self, text: str) -> None:
        self.lines.append(text)


@pytest.fixture
def bubblewrap() -> Path:
    """This machine's, where it works; tests that need it are skipped elsewhere."""
    found = shutil.which(PROGRAM)
    if found is None:
        pytest.skip("bubblewrap is not installed")
    problem = find_problem(Path(found))
    if problem:
        pytest.skip(f"this machine lets nobody make a sandbox: {problem}")
    return Path(found)


@pytest.fixture
def port() -> Iterator[int]:
    """A port of this machine at which somebody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def neighbour() -> Iterator[int]:
    """A process of the same user with a secret in its environment, as slipway and the cache's server are."""
    process = subprocess.Popen(["sleep", "1000"], env={"TOKEN": SECRET})
    yield process.pid
    process.kill()
    process.wait()


@pytest.fixture
def attempts(tmp_path: Path, port: int, neighbour: int) -> dict[str, str]:
    """What a hostile script tries, as commands that succeed where it reaches something."""
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".netrc").write_text("machine host.example login me password secret\n", encoding="ascii")
    return {
        "the environments of other processes": f"cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep {SECRET}",
        "other processes": f"kill -0 {neighbour}",
        "the home": f"cat {home}/.netrc",
        "files of homes": f"find {Path.home()} /root /home -maxdepth 1 -type f | grep .",
        "the network": f"(exec 3<>/dev/tcp/127.0.0.1/{port})",
        "files of others": f"touch {tmp_path}/planted",
        "what the system brings": "touch /usr/planted && rm /usr/planted",
        "the passwords": "test -e /etc/shadow",
        "namespaces of its parents": "test \"$(readlink /proc/1/ns/pid)\" != \"$(readlink /proc/$$/ns/pid)\"",
    }  # fmt: skip


def as_script(attempts: dict[str, str], daemon: str = "true") -> str:
    """Shell lines that try everything and tell what was reached."""
    tries = [f"if {command} >/dev/null 2>&1; then echo 'reached: {name}'; fi" for name, command in attempts.items()]
    return "\n".join(["set +x", *tries, f"setsid {daemon} </dev/null >/dev/null 2>&1 &", ""])


def reached(context: RunContext, output: RenderedOutput) -> set[str]:
    """What the output's scripts reached, by their log."""
    log = context.workspace.log(output.key).read_text(encoding="utf-8")
    return set(re.findall(r"^reached: (.*)$", log, re.MULTILINE))


def runs(*words: str) -> bool:
    """Whether a process with this command line is there within the next seconds, in which it may still end."""
    for _ in range(60):
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                if path.read_bytes().split(b"\0")[:-1] == [word.encode() for word in words]:
                    break
        else:
            return False
        time.sleep(0.05)
    return True


INSTALL = "mkdir -p $PREFIX/x; touch $PREFIX/x/$PKG_NAME\n"


@pytest.mark.integration
@pytest.mark.parametrize("where", ["build", "test", "post-link"])
def test_scripts_reach_nothing_and_leave_nothing_behind(
    make_output: MakeOutput, make_context: MakeContext, bubblewrap: Path, attempts: dict[str, str], where: str
) -> None:
    daemon = f"sleep 987.{os.getpid()}"
    hostile = as_script(attempts, daemon)
    test = OutputTest(commands=("bash -e test.sh",), files=("test.sh",))
    build = {"post-link": "greet.sh"} if where == "post-link" else {}
    output = make_output("lonely", script=(hostile if where == "build" else "") + INSTALL, test=test, build=build)
    (output.recipe_dir / "test.sh").write_text(hostile if where == "test" else "echo tested\n", encoding="utf-8")
    (output.recipe_dir / "greet.sh").write_text(hostile if where == "post-link" else "", encoding="utf-8")
    context = make_context(isolation=Isolation.REQUIRED)
    run([output], context)
    assert reached(context, output) == set()
    assert not runs(*daemon.split()), "the script's daemon outlived the build"


@pytest.mark.integration
def test_the_same_script_reaches_much_without_a_sandbox(
    make_output: MakeOutput, make_context: MakeContext, attempts: dict[str, str]
) -> None:
    """So the test above can fail."""
    output = make_output("lonely", script=as_script(attempts) + INSTALL)
    context = make_context(isolation=Isolation.OFF)
    run([output], context)
    assert reached(context, output) >= {
        "the environments of other processes", "other processes", "the home", "the network", "files of others",
    }  # fmt: skip


@pytest.mark.integration
@pytest.mark.parametrize("asks", [True, False])
def test_the_network_is_there_for_who_asks(
    make_output: MakeOutput, make_context: MakeContext, bubblewrap: Path, attempts: dict[str, str], asks: bool
) -> None:
    output = make_output("lonely", script=as_script(attempts) + INSTALL)
    names = ["another", output.name] if asks else ["another"]
    (output.recipe_dir / "slipway.yaml").write_text(f"network: {names}\n".replace("'", ""), encoding="utf-8")
    context = make_context(isolation=Isolation.REQUIRED)
    run([output], context)
    assert reached(context, output) == ({"the network"} if asks else set())


@pytest.mark.integration
def test_who_misses_the_network_is_told_how_to_ask(
    make_output: MakeOutput, make_context: MakeContext, bubblewrap: Path, port: int
) -> None:
    output = make_output("lonely", script=f"exec 3<>/dev/tcp/127.0.0.1/{port}\n")
    with pytest.raises(BuildError) as caught:
        run([output], make_context())
    assert "`network: [lonely]`" in (caught.value.hint or "")


@pytest.mark.integration
def test_a_package_is_the_same_in_and_out_of_a_sandbox(
    make_output: MakeOutput, make_context: MakeContext, bubblewrap: Path
) -> None:
    script = "mkdir -p $PREFIX/x; cd $PREFIX/x; echo $PREFIX > p; { umask; echo $USER $TZ; } > u; ln -s u l\n"
    script += "cat /etc/os-release /etc/debian_version > r || :\n"  # by which CMake chooses modes
    output = make_output("lonely", script=script)
    found = []
    for isolation in (Isolation.REQUIRED, Isolation.OFF):
        (artifact,) = run([output], make_context(isolation=isolation, rebuild=True))
        found.append(artifact.path.read_bytes())
    assert found[0] == found[1]


def fake_bubblewrap(folder: Path, text: str) -> dict[str, str]:
    """An environment whose `bwrap` is a shell script."""
    folder.mkdir()
    (folder / PROGRAM).write_text(f"#!/bin/sh\n{text}\n", encoding="ascii")
    (folder / PROGRAM).chmod(0o755)
    return {**os.environ, "PATH": str(folder)}


@pytest.mark.integration
def test_where_the_kernel_refuses_it_is_said_once(
    make_output: MakeOutput, make_context: MakeContext, tmp_path: Path
) -> None:
    environ = fake_bubblewrap(tmp_path / "bin", "echo 'bwrap: No permissions to create a new namespace' >&2; exit 1")
    reporter = ListeningReporter()
    outputs = [make_output(name, script=INSTALL) for name in ("one", "two")]
    run(outputs, make_context(environ=environ, reporter=reporter))
    said = [line for line in reporter.lines if "NOT isolated" in line]
    assert len(said) == 1
    assert "No permissions to create a new namespace" in said[0]
    with pytest.raises(HostError, match=r"cannot be isolated here: .*No permissions"):
        run(outputs, make_context(environ=environ, isolation=Isolation.REQUIRED, rebuild=True))


def test_without_bubblewrap_it_comes_from_the_channels(kit: Kit, bubblewrap: Path, tmp_path: Path) -> None:
    environ = {**os.environ, "PATH": "/nowhere", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    reporter = ListeningReporter()
    empty, stocked = Channel(tmp_path / "empty"), Channel(tmp_path / "stocked")
    empty.publish()
    package = kit.package(
        {"bin/bwrap": f'#!/bin/sh\nexec {bubblewrap} "$@"\n'}, name="bubblewrap", modes={"bin/bwrap": 0o755}
    )
    stocked.publish([("linux-64", package)])
    isolator = Isolator()
    with isolator.sandbox(Isolation.AUTO, (empty.url,), environ, reporter) as sandbox:
        assert sandbox is None
    assert "no channel has `bubblewrap`" in reporter.lines[0]
    with isolator.sandbox(Isolation.REQUIRED, (stocked.url,), environ, reporter) as sandbox:
        assert sandbox is not None
        assert sandbox.program.is_relative_to(tmp_path / "cache/slipway/tools")
        words = sandbox.command(["sh", "-c", "test ! -e /root && id -u"])
    assert "--unshare-all" in words


@pytest.mark.integration
def test_what_a_script_puts_in_its_packages_place_is_not_taken(
    make_output: MakeOutput, make_context: MakeContext, tmp_path: Path
) -> None:
    """A script that writes the worker's answer itself, naming a file of the host, and ends the worker."""
    secret = tmp_path / "secret.conda"
    secret.write_text("x", encoding="ascii")
    script = f"""echo '{{"package": "{secret}"}}' > $RECIPE_DIR/../build-answer.json\nkill -9 $PPID\nsleep 1\n"""
    for isolation in (Isolation.AUTO, Isolation.OFF):
        with pytest.raises(BuildError, match="something else in its package's place"):
            run([make_output("lonely", script=script)], make_context(isolation=isolation))
