"""The compiler cache of one build: a server of its own for sccache, started when the build asks and gone with it.

The build's script finds sccache in its build environment; the engine starts the server, in a sandbox beside the
build's, because only the server needs to know the store and what opens it. They meet in a folder: the script writes
there where sccache is and says so in its log; the engine answers with the server's socket.

The server's end is bound to slipway's: it hangs on a pipe whose other end closes with slipway, however that dies.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shlex
import signal
import socket
import subprocess
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slipway.base.errors import HostError
from slipway.base.events import Compiled
from slipway.base.files import write_file
from slipway.base.proc import GRACE_SECONDS, start
from slipway.base.scratch import scratch_folder
from slipway.engines.compiler_cache.store import CREDENTIAL_FOLDERS, FILE_VARIABLES, Store, unusable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from slipway.base.platform import Platform
    from slipway.engines.isolation import Sandbox
    from slipway.model import RenderedOutput

PROGRAM = "sccache"
FOLDER = "sccache"
"""Beside the recipe's folder in the place of the build: where script and engine meet."""

MARK = "sccache: a server is asked for"
"""What the script prints when it waits for the answer."""

STARTUP_SECONDS = 60.0
"""sccache itself gives up on a store after half of it."""

PARTS = ("CUDA (Device code)", "PTX", "CUBIN")
"""What sccache keeps of one CUDA file beside the object that Ninja asked for; looked at only when that is not there."""

LONGEST_SOCKET = 100
"""Linux takes 107 bytes for the path of a socket."""

REQUEST_SERVER = f"""\
# The compiler cache: slipway starts the server, so that this script need not know the store.
if [ -x "$BUILD_PREFIX/bin/{PROGRAM}" ] && [ -d "$RECIPE_DIR/../{FOLDER}" ]; then
  printf '%s\\n' "$BUILD_PREFIX" > "$RECIPE_DIR/../{FOLDER}/prefix"
  echo '{MARK}'
  slipway_tries=0
  until [ -e "$RECIPE_DIR/../{FOLDER}/answer" ]; do
    slipway_tries=$((slipway_tries + 1))
    if [ "$slipway_tries" -gt 2000 ]; then echo 'slipway did not answer'; exit 1; fi
    sleep 0.05
  done
  . "$RECIPE_DIR/../{FOLDER}/answer"
  unset slipway_tries
fi
"""
"""Shell lines that get a server, or end the script."""

STOP_SERVER = f"""\
  if [ -n "${{SCCACHE_SERVER_UDS:-}}" ]; then
    "$BUILD_PREFIX/bin/{PROGRAM}" --show-stats --stats-format json > "$RECIPE_DIR/../{FOLDER}/statistics.json" &&
      "$BUILD_PREFIX/bin/{PROGRAM}" --stop-server > "$RECIPE_DIR/../{FOLDER}/last-words" 2>&1 || :
  fi
"""
"""Shell lines that count what was done and stop the server; they fail nothing."""

KILL_WITH_PARENT = 'exec 3<&0; { read -r nothing <&3; kill 0; } & exec "$@" </dev/null 3<&-'
"""For sh: becomes the program in ``$@``; a child kills the whole group as soon as standard input ends."""


def read_statistics(text: str, output: str, store: str) -> Compiled:
    """The counts of ``sccache --show-stats --stats-format json``, as the journal keeps them.

    Raises:
        ValueError: it is something else.
    """
    try:
        given: Mapping[str, Any] = json.loads(text)["stats"]

        def total(name: str) -> int:
            return sum(count for kind, count in given[name]["counts"].items() if kind not in PARTS)

        return Compiled(
            output=output,
            store=store,
            requests=given["compile_requests"],
            hits=total("cache_hits"),
            misses=total("cache_misses"),
            errors=total("cache_errors") + given["cache_write_errors"] + given["cache_timeouts"],
            not_cached=sum(given["not_cached"].values()),
            failed=given["compile_fails"],
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not sccache's statistics: {error}") from error


@dataclass
class CompilerCache:
    """sccache for one build; `place` is the build's folder.

    Attributes:
        sandbox: the build's; the server, which runs the compilers, gets one like it, and what it needs for the store.
        on_start: called with the number of the server's session.
        error: why the build got no server; the build then failed because of it.
    """

    place: Path
    store: Store
    platform: Platform
    sandbox: Sandbox | None = None
    on_start: Callable[[int], None] = lambda session: None
    error: HostError | None = None
    _process: subprocess.Popen[bytes] | None = None
    _scratch: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    _errors: Path = field(init=False)

    def __enter__(self) -> CompilerCache:
        """Make the folder in which the script asks."""
        folder = self.place / FOLDER
        folder.mkdir(mode=0o700)
        self._errors = folder / "errors.log"
        self._errors.touch()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the server and whatever it still compiles."""
        process = self._process
        if process is not None:
            assert process.stdin is not None
            process.stdin.close()  # the group's end, see `KILL_WITH_PARENT`
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(GRACE_SECONDS)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self._scratch.close()

    def on_line(self, line: str) -> None:
        """Take one line of the build's log: answer if it asks."""
        if line != MARK or self._process is not None:
            return
        answer = self.place / FOLDER / "answer"
        try:
            build = Path((self.place / FOLDER / "prefix").read_text(encoding="utf-8").rstrip("\n"))
            address = self._start(build)
        except HostError as error:
            self.error = error
            text = "exit 1\n"
        else:
            key = toolchain_key(build, self.platform)
            settings = dict(self.store.clients)
            settings["SCCACHE_C_CUSTOM_CACHE_BUSTER"] = key + settings.pop("SCCACHE_C_CUSTOM_CACHE_BUSTER", "")
            settings |= {
                "SCCACHE_SERVER_UDS": str(address),
                # Where the server dies, the next client starts another: without the store, so that it is slow and not
                # wrong. `statistics` notices.
                "SCCACHE_IGNORE_SERVER_IO_ERROR": "1",
                "SCCACHE_CONF": "/dev/null",
                "SCCACHE_DIR": str(self._spare),
                "SCCACHE_IDLE_TIMEOUT": "60",
            }
            text = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in sorted(settings.items()))
        write_file(answer, text)

    def _start(self, build: Path) -> Path:
        """Start the server and return its socket's path, as the build sees it, once it listens."""
        address, seen = self._choose_address()
        environment = dict(self.store.server) | {
            "PATH": "/usr/bin:/bin",
            "SCCACHE_START_SERVER": "1",
            "SCCACHE_NO_DAEMON": "1",
            "SCCACHE_IDLE_TIMEOUT": "0",  # it lives exactly as long as the build
            "SCCACHE_SERVER_UDS": str(seen),
        }
        command: list[str | Path] = ["sh", "-c", KILL_WITH_PARENT, "sh", build / "bin" / PROGRAM]
        if self.sandbox is not None:
            command = list(self._sandbox_for_store(self.sandbox).command(command))
        with self._errors.open("wb") as errors:
            self._process = start(
                command,
                env=environment,
                what="the compiler cache",
                cwd=Path("/"),
                source=subprocess.PIPE,
                output=errors,
            )
        self.on_start(self._process.pid)
        deadline = time.monotonic() + STARTUP_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                message = self._errors.read_text(encoding="utf-8", errors="replace").strip()
                raise unusable(self.store, "cannot be used", message or f"status {self._process.returncode}")
            with contextlib.suppress(OSError):
                _connect(address)
                return seen
            time.sleep(0.02)
        raise unusable(self.store, f"did not answer within {STARTUP_SECONDS:.0f} seconds")

    def _choose_address(self) -> tuple[Path, Path]:
        """Where the server listens, and what the build calls that."""
        address = self.place / FOLDER / "socket"
        if len(os.fsencode(address)) <= LONGEST_SOCKET:
            return address, address
        if self.sandbox is not None:
            return self.sandbox.outside(Path("/tmp/sccache-socket")), Path("/tmp/sccache-socket")
        address = self._scratch.enter_context(scratch_folder("sccache", below=Path("/tmp"))) / "socket"
        return address, address

    def _sandbox_for_store(self, sandbox: Sandbox) -> Sandbox:
        """As the build's, with the store: a folder for writing, or else the network and what opens it."""
        named = [self.store.server[name] for name in FILE_VARIABLES if name in self.store.server]
        if self.store.is_remote and "HOME" in self.store.server:
            named += [f"{self.store.server['HOME']}/{name}" for name in CREDENTIAL_FOLDERS]
        readable = [path for path in map(Path, named) if path != Path("/dev/null") and path.exists()]
        folder = [self.store.folder] if self.store.folder is not None else []
        for path in folder:
            path.mkdir(parents=True, exist_ok=True)
        return replace(
            sandbox,
            writable=(*sandbox.writable, *folder),
            readable=(*sandbox.readable, *readable),
            network=sandbox.network or self.store.is_remote,
        )

    @property
    def _spare(self) -> Path:
        """The store of a server that a client starts after ours died."""
        return self.place / FOLDER / "spare"

    @property
    def started(self) -> bool:
        """Whether the build asked for a server and got one."""
        return self._process is not None and self.error is None

    def statistics(self, output: str) -> Compiled | None:
        """What the server did for `output`; None when it died before the build ended."""
        try:
            text = (self.place / FOLDER / "statistics.json").read_text(encoding="utf-8")
            if str(self._spare) in text:
                return None
            return read_statistics(text, output, self.store.place)
        except (OSError, ValueError):
            return None


def _connect(address: Path) -> None:
    """Find out whether anybody listens there, however long the path is; raises OSError if not."""
    folder = os.open(address.parent, os.O_PATH)
    try:
        with socket.socket(socket.AF_UNIX) as stream:
            stream.connect(f"/proc/self/fd/{folder}/{address.name}")
    finally:
        os.close(folder)


def wants_cache(output: RenderedOutput) -> bool:
    """Whether the recipe lists sccache among the output's build requirements."""
    return any(spec.split()[0] == PROGRAM for spec in output.requirements.build)


def toolchain_key(build: Path, platform: Platform) -> str:
    """A name for the compilers in the build environment `build`, from the packages that make them up.

    sccache's keys know a compiler by its driver's bytes and version. The compiler proper, the assembler, and a launcher
    that never changes are none of that, so the same key would stand for different code after an update of theirs.
    """
    needs: dict[str, tuple[str, list[str]]] = {}
    for path in (build / "conda-meta").glob("*.json"):
        record = json.loads(path.read_text(encoding="utf-8"))
        needs[record["name"]] = (path.stem, [spec.split()[0] for spec in record.get("depends", ())])
    # By convention, ``compiler(...)`` gives packages that are called so.
    waiting = [name for name in needs if name.endswith(f"_{platform}")] or list(needs)
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in needs and name not in found:
            found.add(name)
            waiting += needs[name][1]
    return hashlib.sha256("\n".join(sorted(needs[name][0] for name in found)).encode()).hexdigest()
