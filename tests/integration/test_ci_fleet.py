"""`slipway ci run --on`: three workers in folders of their own; one is killed, one is cut off, one has a full disk."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from .conftest import CHECKOUT, Slipway
from .test_ci_run import CHAIN, CONFIG, states, stay_once, stays, write_script

Start = Callable[..., "subprocess.Popen[str]"]

DEADLINE_SECONDS = 400


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    """Two outputs in two variants, from a local source; `second` shows what `first` it was built from."""
    folder = tmp_path / "checkout/recipe"
    folder.mkdir(parents=True)
    (folder.parent / "source").mkdir()
    (folder.parent / "source/words.txt").write_text("a source\n", encoding="utf-8")
    meta = CHAIN.replace("outputs:", "source:\n  path: ../source\noutputs:", 1)
    (folder / "meta.yaml").write_text(meta, encoding="utf-8")
    (folder / "conda_build_config.yaml").write_text(CONFIG, encoding="utf-8")
    write_script(folder, "true")
    return folder


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """``start("ci", "worker", ..., wrapper=())``: a slipway that runs until the test ends; its output is in a file."""
    processes: list[subprocess.Popen[str]] = []

    def run(*words: str | Path, wrapper: Sequence[str] = (), build: Path | None = None) -> subprocess.Popen[str]:
        environment = {**os.environ, **({"SLIPWAY_BUILD_FOLDER": str(build)} if build else {})}
        log = tmp_path / f"process-{len(processes)}.log"
        with log.open("w", encoding="utf-8") as stream:
            command = [*wrapper, str(CHECKOUT / "slipway"), *map(str, words)]
            process = subprocess.Popen(command, env=environment, stdout=stream, stderr=subprocess.STDOUT, text=True)
        processes.append(process)
        process.log = log  # type: ignore[attr-defined]
        return process

    yield run
    for process in reversed(processes):  # workers before their scheduler, which they take leave of
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGCONT)
            process.terminate()
        try:
            process.wait(60)
        finally:  # a test whose process does not end fails, and leaves none behind
            process.kill()
            process.wait()


def wait_for(condition: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.05)


def said(process: subprocess.Popen[str]) -> str:
    return str(process.log.read_text(encoding="utf-8"))  # type: ignore[attr-defined]


def start_scheduler(start: Start, *words: str | Path, port: int = 0) -> tuple[subprocess.Popen[str], str]:
    process = start("ci", "scheduler", "--port", str(port), *words)
    wait_for(lambda: "scheduler at " in said(process) or process.poll() is not None, "the scheduler")
    found = re.search(r"scheduler at (\S+)", said(process))
    assert found, said(process)
    return process, found[1]


def start_worker(
    start: Start, address: str, folder: Path, *words: str | Path, wrapper: Sequence[str] = ()
) -> subprocess.Popen[str]:
    folder.mkdir()
    # In a folder of its own to build in, too: on one machine they would wait for each other there.
    process = start("ci", "worker", address, "--folder", folder, "--name", folder.name, "--jobs", "1", *words,
                    wrapper=wrapper, build=folder / "build")  # fmt: skip
    wait_for(lambda: f"{folder.name} at " in said(process) or process.poll() is not None, folder.name)
    assert process.poll() is None, said(process)
    return process


def run_on(slipway: Slipway, address: str, recipe: Path, dist: Path, *words: str | Path) -> str:
    answer = slipway("ci", "run", recipe, "--dist", dist, "--on", address, *words)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return answer.stdout


def make_keys(folder: Path) -> Path:
    """A certificate that is its own authority, for everybody."""
    folder.mkdir()
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "fleet")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    encoded = certificate.public_bytes(serialization.Encoding.PEM)
    (folder / "ca.pem").write_bytes(encoded)
    (folder / "cert.pem").write_bytes(encoded)
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return folder


def worker_of(mark: Path, folder: Path) -> str:
    """Which worker's job left its number in `mark`: it is told by one of the programs that started it."""
    number = mark.read_text(encoding="ascii").strip()
    while number != "1":
        words = Path("/proc", number, "cmdline").read_bytes().decode()
        found = re.search(rf"{folder}/(\w+)/runs/", words)
        if found:
            return found[1]
        number = re.search(r"^PPid:\s+(\d+)", Path("/proc", number, "status").read_text(), re.MULTILINE)[1]
    raise AssertionError("no worker did it")


def digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*/*.conda")}


def test_three_workers_make_what_one_machine_makes(
    slipway: Slipway, start: Start, recipe: Path, tmp_path: Path
) -> None:
    keys = make_keys(tmp_path / "keys")
    _, address = start_scheduler(start, "--tls", keys)
    assert address.startswith("tls://")
    for name in ("one", "two", "three"):
        start_worker(start, address, tmp_path / name, "--tls", keys)
    stranger = slipway("ci", "run", recipe, "--dist", tmp_path / "dist", "--on", address.replace("tls:", "tcp:"))
    assert stranger.returncode == 11, stranger.stderr
    assert "there is no scheduler" in stranger.stderr
    dist = tmp_path / "dist"
    text = run_on(slipway, address, recipe, dist, "--tls", keys)
    assert re.search(r"second-here_0 +built", text), text
    used = {path.relative_to(tmp_path).parts[0] for path in tmp_path.glob("*/runs/*/*/job.json")}
    assert len(used) >= 2, "two jobs are ready at once, and three workers idle"
    for word in ("here", "there"):
        log = (dist / f"ci/logs/first-{word}_0.log").read_text(encoding="utf-8")
        assert f"first 1.0 {word}_0" in log, "what the job printed came back"
    page = (dist / "ci/report.html").read_text(encoding="utf-8")
    assert "second-here_0/report.html" in page
    again = run_on(slipway, address, recipe, dist, "--tls", keys)
    assert again.count("up to date") >= 4
    here = slipway("ci", "run", recipe, "--dist", tmp_path / "here")
    assert here.returncode == 0, here.stdout + here.stderr
    assert digests(dist / "channel") == digests(tmp_path / "here/channel"), "the same bytes, wherever they are made"


@pytest.mark.parametrize("way", ["killed", "cut off"])
def test_a_worker_that_goes_costs_its_job_only(
    slipway: Slipway, start: Start, recipe: Path, tmp_path: Path, way: str
) -> None:
    """The first `second` stays until its worker is gone; everything else is built once."""
    mark = tmp_path / "mark"
    line = f'echo "$PKG_NAME $word" >> {tmp_path}/done; '
    write_script(recipe, line + stay_once(mark))
    _, address = start_scheduler(start)
    workers = {name: start_worker(start, address, tmp_path / name) for name in ("one", "two", "three")}
    dist = tmp_path / "dist"
    run = start("ci", "run", recipe, "--dist", dist, "--on", address, "--isolation", "off")
    wait_for(lambda: stays(mark) or run.poll() is not None, "the job that stays")
    name = worker_of(mark, tmp_path)
    lost = workers[name]
    lost.send_signal(signal.SIGKILL if way == "killed" else signal.SIGSTOP)
    assert run.wait(DEADLINE_SECONDS) == 0, said(run)
    assert re.search(r"second-\w+ has to start again: ", said(run)), said(run)
    built = (tmp_path / "done").read_text(encoding="utf-8").split("\n")[:-1]
    assert sorted(line.split()[0] for line in built) == ["first"] * 2 + ["second"] * 3
    if way == "cut off":
        lost.send_signal(signal.SIGCONT)  # what it still does is stopped, and it is of use again
        wait_for(lambda: said(lost).count(f"{name} at ") == 2, "the worker's return")
    wait_for(lambda: not stays(mark), "the end of what the worker did")
    prefix = tmp_path / "prefix"
    assert slipway("install", "second 1.0 here_0", "--dist", dist, "--prefix", prefix).returncode == 0
    assert (prefix / "share/second.txt").read_text(encoding="utf-8") == "first of here\nsecond of here\n"


def test_a_full_disk_takes_the_worker_out_and_the_job_elsewhere(
    slipway: Slipway, start: Start, recipe: Path, tmp_path: Path
) -> None:
    """The worker's folder is a small tmpfs, in a namespace of its own: a real disk that is really full."""
    if not shutil.which("unshare"):
        pytest.skip("no unshare")
    big = "head -c 60000000 /dev/urandom > ballast"
    write_script(recipe, big)
    _, address = start_scheduler(start)
    small = tmp_path / "small"
    mount = f'mount -t tmpfs -o size=40m none "{small}" && exec "$@"'
    user = () if os.getuid() == 0 else ("--user", "--map-root-user")
    start_worker(start, address, small, wrapper=("unshare", *user, "--mount", "sh", "-c", mount, "sh"))
    dist = tmp_path / "dist"
    run = start("ci", "run", recipe, "--dist", dist, "--on", address, "--isolation", "off")
    wait_for(lambda: "small gets no more jobs" in said(run) or run.poll() is not None, "the full disk")
    start_worker(start, address, tmp_path / "large")
    code = run.wait(DEADLINE_SECONDS)
    text = said(run)
    assert "small gets no more jobs: its disk is full" in text, text
    if code != 0:  # the small one was the only worker for a moment, and that is said
        assert "there is no worker" in text
        run_on(slipway, address, recipe, dist, "--isolation", "off")
    assert len(digests(dist / "channel")) == 4


def test_a_new_scheduler_costs_nothing_that_was_done(
    slipway: Slipway, start: Start, recipe: Path, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    line = f'echo "$PKG_NAME $word" >> {tmp_path}/done; '
    write_script(recipe, line + f'if [ "$PKG_NAME" = second ]; then while [ ! -e {gate} ]; do sleep 0.1; done; fi')
    scheduler, address = start_scheduler(start)
    port = int(address.rpartition(":")[2])
    for name in ("one", "two"):
        start_worker(start, address, tmp_path / name)
    dist = tmp_path / "dist"
    run = start("ci", "run", recipe, "--dist", dist, "--on", address, "--isolation", "off")
    done = tmp_path / "done"
    wait_for(lambda: (done.exists() and done.read_text().count("second") == 2) or run.poll() is not None, "second")
    scheduler.kill()
    wait_for(lambda: "has gone" in said(run), "the run's noticing")
    gate.touch()
    start_scheduler(start, port=port)
    assert run.wait(DEADLINE_SECONDS) == 0, said(run)
    assert done.read_text(encoding="utf-8").count("first") == 2, "they were there"
    assert set(states(subprocess.CompletedProcess([], 0, said(run), "")).values()) == {"built"}


def test_an_interrupted_run_stops_its_jobs(start: Start, recipe: Path, tmp_path: Path) -> None:
    _, address = start_scheduler(start)
    start_worker(start, address, tmp_path / "one")
    for number, code in ((signal.SIGINT, 130), (signal.SIGKILL, -9)):
        mark = tmp_path / number.name
        write_script(recipe, stay_once(mark))
        run = start("ci", "run", recipe, "--dist", tmp_path / "dist", "--on", address, "--isolation", "off")
        wait_for(lambda: stays(mark) or run.poll() is not None, "the job")  # noqa: B023 - it is called here
        run.send_signal(number)
        assert run.wait(DEADLINE_SECONDS) == code, said(run)
        wait_for(lambda: not stays(mark), "the end of the job")  # noqa: B023


def test_what_does_not_go_together_is_said(slipway: Slipway, recipe: Path, tmp_path: Path) -> None:
    for words, message in (
        (("--on", "host:8786"), "is no scheduler's address"),
        (("--on", "tls://127.0.0.1:1"), "needs --tls DIR"),
        (("--on", "tcp://127.0.0.1:1", "--jobs", "2"), "--jobs is about this machine"),
        (("--on", "tcp://127.0.0.1:1", "--channel", tmp_path), "a folder of this machine"),
        (("--on", "tls://127.0.0.1:1", "--tls", tmp_path), "the folder of keys lacks ca.pem"),
        (("--tls", tmp_path), "--tls is of --on"),
    ):
        answer = slipway("ci", "run", recipe, "--dist", tmp_path / "dist", *words)
        assert answer.returncode == 2, answer.stderr
        assert message in answer.stderr
