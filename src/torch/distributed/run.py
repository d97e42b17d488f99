"""torchrun: starts the processes of a program on this machine, and starts them again when one fails.

`torchrun --nproc-per-node 4 program.py ...`, or `python -m torch.distributed.run`. Each process finds its place in
RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, which `init_process_group()` reads. When one fails the others
are ended, and all start again at most `--max-restarts` times: a program goes on from its own checkpoint, and sees in
TORCHELASTIC_RESTART_COUNT how often. Several machines run it with the same `--nnodes` and `--master-addr`, each with
its own `--node-rank`; they fail and start again together.

With `--rdzv-backend c10d --rdzv-endpoint HOST:PORT` machines need no number, and with `--nnodes 1:3` there may be one
to three of them: who comes later, or goes, has all start again with those that are there. The launcher on HOST serves
the store in which they meet, and has to stay.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import _unavailable
from torch.distributed import REASON
from torch.distributed._errors import DistError, DistNetworkError
from torch.distributed._store import PrefixStore
from torch.distributed._tcp_store import TCPStore
from torch.distributed.elastic._nodes import Nodes, Seat, Terms
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError, ProcessFailure

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

GRACE_SECONDS = 30.0
PR_SET_PDEATHSIG = 1


class SignalException(Exception):
    """The launcher was told to end."""

    def __init__(self, number: int) -> None:
        super().__init__(f"torchrun was ended by {signal.Signals(number).name}")
        self.sigval = signal.Signals(number)


def get_args_parser() -> argparse.ArgumentParser:
    """The options of torchrun."""
    parser = argparse.ArgumentParser(prog="torchrun", description=(__doc__ or "").partition("\n")[0])

    def add(name: str, **options: Any) -> None:
        parser.add_argument(*dict.fromkeys([f"--{name}", f"--{name.replace('-', '_')}"]), **options)

    add("nnodes", default="1", help="how many machines take part: a number, or LOW:HIGH")
    add(
        "nproc-per-node",
        default="1",
        help="processes on this machine: a number, or `cpu` or `auto` (one per processor)",
    )
    add("node-rank", type=int, default=0, help="this machine's number")
    add("master-addr", default="127.0.0.1", help="where machine 0 is reached")
    add("master-port", type=int, default=None, help="the port there (29500; with --standalone any free one)")
    add("standalone", action="store_true", help="one machine, with a port of its own")
    add(
        "rdzv-backend",
        default="static",
        choices=["static", "c10d"],
        help="machines have numbers (static), or take part as they come (c10d)",
    )
    add("rdzv-endpoint", default="", help="HOST:PORT, in place of --master-addr and --master-port")
    add("rdzv-id", default="none", help="a name of this run")
    add(
        "rdzv-conf",
        default="",
        help="KEY=SECONDS,...: join_timeout, for too few machines (900); last_call_timeout, for more of them (30); "
        "keep_alive, for one that is silent (15); and is_host=true or false: whether this one serves the store",
    )
    add("max-restarts", type=int, default=0, help="how often all processes may be started again")
    add("monitor-interval", type=float, default=0.1, help="seconds between two looks at the processes")
    add("role", default="default", help="a name of the processes")
    add("log-dir", default=None, help="a folder that gets each process's stdout and stderr, in place of the terminal")
    parser.add_argument("-m", "--module", action="store_true", help="the program is a Python module")
    add("no-python", action="store_true", help="the program is none of Python's")
    parser.add_argument("training_script", help="the program")
    parser.add_argument("training_script_args", nargs=argparse.REMAINDER, help="its arguments")
    return parser


@dataclass
class Plan:
    """What is started: how many processes, which, and where they meet."""

    terms: Terms
    processes: int
    host: str
    port: int
    serves: bool
    restarts: int
    interval: float
    run_id: str
    role: str
    name: str
    command: list[str]
    log_folder: Path | None


def _processes(value: str) -> int:
    if value in ("cpu", "auto"):
        return os.cpu_count() or 1
    if value == "gpu":
        raise ValueError("--nproc-per-node gpu: there is no CUDA for torch.distributed here; give a number")
    try:
        number = int(value)
    except ValueError:
        number = 0
    if number < 1:
        raise ValueError(f"Unsupported nproc_per_node value: {value}")
    return number


def _node_counts(value: str) -> tuple[int, int]:
    low, _, high = value.partition(":")
    high = high or low
    if not (low.isdigit() and high.isdigit() and 1 <= int(low) <= int(high)):
        raise ValueError(f"nnodes={value} is not in MIN:MAX format")
    return int(low), int(high)


def _terms(conf: str, terms: Terms) -> tuple[Terms, bool | None]:
    """The terms as --rdzv-conf changes them, and whether this launcher serves the store, if that is said."""
    names = {
        "join_timeout": "patience",
        "timeout": "patience",
        "last_call_timeout": "last_call",
        "keep_alive": "keep_alive",
    }
    serves: bool | None = None
    for part in filter(None, conf.split(",")):
        key, _, value = part.partition("=")
        if key == "is_host" and value.lower() in ("true", "false", "1", "0"):
            serves = value.lower() in ("true", "1")
            continue
        try:
            setattr(terms, names[key], timedelta(seconds=float(value)))
        except (KeyError, ValueError):
            known = ", ".join([*names, "is_host"])
            raise ValueError(f"--rdzv-conf {part}: KEY=SECONDS is expected, where KEY is one of {known}") from None
    return terms, serves


def _is_here(host: str) -> bool:
    """Whether an address is this machine's."""
    with contextlib.suppress(OSError):
        for family, kind, *_, address in socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM):
            with contextlib.suppress(OSError), socket.socket(family, kind) as probe:
                probe.bind(address)
                return True
    return False


def make_plan(arguments: argparse.Namespace) -> Plan:
    """What the options ask for. ValueError for what cannot be."""
    low, high = _node_counts(arguments.nnodes)
    static = arguments.rdzv_backend == "static" and not arguments.standalone
    if static and low != high:
        raise ValueError(
            f"--nnodes {arguments.nnodes} takes --rdzv-backend c10d: static machines are of a fixed number"
        )
    host, port = arguments.master_addr, arguments.master_port
    if arguments.rdzv_endpoint and not arguments.standalone:
        host, _, digits = arguments.rdzv_endpoint.rpartition(":")
        if not host:
            host, digits = digits, ""
        if digits and not digits.isdigit():
            raise ValueError(f"--rdzv-endpoint {arguments.rdzv_endpoint}: {digits!r} is no port")
        port = int(digits) if digits else None
    if port is None:
        port = 29500 if static else 0 if high == 1 else 29400
    if static and not 0 <= arguments.node_rank < high:
        raise ValueError(f"--node-rank {arguments.node_rank} is not in the range 0 to {high - 1}")
    if arguments.max_restarts < 0:
        raise ValueError(f"--max-restarts {arguments.max_restarts} is negative")
    terms, serves = _terms(arguments.rdzv_conf, Terms(low, high, arguments.node_rank if static else None))
    if serves is None:
        serves = arguments.node_rank == 0 if static else _is_here(host)
    python = [] if arguments.no_python else [sys.executable, "-u", *(["-m"] if arguments.module else [])]
    if arguments.no_python and arguments.module:
        raise ValueError("Don't use both the '--no-python' flag and the '--module' flag at the same time.")
    return Plan(
        terms=terms,
        processes=_processes(arguments.nproc_per_node),
        host=host,
        port=port,
        serves=serves,
        restarts=arguments.max_restarts,
        interval=arguments.monitor_interval,
        run_id=arguments.rdzv_id if arguments.rdzv_id != "none" else uuid.uuid4().hex[:8],
        role=arguments.role,
        name=arguments.training_script,
        command=[*python, arguments.training_script, *arguments.training_script_args],
        log_folder=Path(arguments.log_dir) if arguments.log_dir else None,
    )


def _die_with_parent() -> None:
    """In a new process: it is ended when the launcher is killed."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _meeting_place(plan: Plan) -> TCPStore:
    """The store of the launchers. On one machine several may be told to serve it: the first does."""
    patience = plan.terms.patience
    if plan.serves:
        try:
            return TCPStore(plan.host, plan.port, is_master=True, timeout=patience)
        except DistNetworkError:
            if plan.terms.node is not None:
                raise
            plan.serves = False
    return TCPStore(plan.host, plan.port, timeout=patience)


class Launcher:
    """The processes of this machine."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.store = _meeting_place(plan)
        self.nodes = Nodes(PrefixStore("torchrun", self.store), plan.terms, plan.processes)
        self.seat: Seat | None = None
        self.workers: list[subprocess.Popen[bytes]] = []
        self.folder = tempfile.TemporaryDirectory(prefix="torchrun-")

    def start(self, seat: Seat) -> None:
        """Starts all, for the round that it is."""
        plan, shared = self.plan, dict(os.environ)
        if plan.processes > 1:
            shared.setdefault("OMP_NUM_THREADS", "1")  # they share the processors
        self.workers = []
        for local in range(plan.processes):
            rank = str(seat.first + local)
            environment = shared | {
                "RANK": rank,
                "LOCAL_RANK": str(local),
                "ROLE_RANK": rank,
                "GROUP_RANK": str(seat.number),
                "ROLE_NAME": plan.role,
                "WORLD_SIZE": str(seat.total),
                "ROLE_WORLD_SIZE": str(seat.total),
                "LOCAL_WORLD_SIZE": str(plan.processes),
                "GROUP_WORLD_SIZE": str(seat.nodes),
                "MASTER_ADDR": plan.host,
                "MASTER_PORT": str(self.store.port),
                "TORCHELASTIC_RUN_ID": plan.run_id,
                "TORCHELASTIC_RESTART_COUNT": str(seat.failures),
                "TORCHELASTIC_ROUND": str(seat.round),
                "TORCHELASTIC_MAX_RESTARTS": str(plan.restarts),
                "TORCHELASTIC_USE_AGENT_STORE": "True",
                "TORCHELASTIC_ERROR_FILE": self._error_file(seat, local),
            }
            out, err = self._outputs(seat, local)
            try:
                worker = subprocess.Popen(
                    plan.command,
                    env=environment,
                    stdout=out,
                    stderr=err,
                    preexec_fn=_die_with_parent if sys.platform == "linux" else None,
                )
            except OSError as error:
                self.stop()
                raise ValueError(f"{plan.command[0]} cannot be started: {error}") from None
            finally:
                for file in (out, err):
                    if file is not None:
                        file.close()
            self.workers.append(worker)

    def _error_file(self, seat: Seat, local: int) -> str:
        return str(Path(self.folder.name) / f"error_{seat.round}_{local}.json")

    def _outputs(self, seat: Seat, local: int) -> tuple[Any, Any]:
        if self.plan.log_folder is None:
            return None, None
        folder = self.plan.log_folder / self.plan.run_id / f"attempt_{seat.round}" / str(local)
        folder.mkdir(parents=True, exist_ok=True)
        return (folder / "stdout.log").open("wb"), (folder / "stderr.log").open("wb")

    def failures(self, seat: Seat) -> list[ProcessFailure]:
        """The processes of this machine that have failed."""
        return [
            ProcessFailure(local, seat.first + local, worker.pid, worker.returncode, self._error_file(seat, local))
            for local, worker in enumerate(self.workers)
            if worker.poll() not in (None, 0)
        ]

    def watch(self, seat: Seat) -> dict[str, Any] | None:
        """Waits until all processes of all machines have ended well (None), or the round is over: why."""
        while True:
            if failed := self.failures(seat):
                return self.nodes.end(seat, f"rank {failed[0].rank} has failed ({failed[0].what()})", failed=True)
            if (over := self.nodes.look(seat)) is not None:
                return over
            if all(worker.returncode == 0 for worker in self.workers) and self.nodes.all_done(seat):
                return None
            time.sleep(self.plan.interval)

    def stop(self, grace: float = GRACE_SECONDS) -> None:
        """Ends those that still run, with force after a time."""
        for worker in self.workers:
            if worker.poll() is None:
                worker.terminate()
        end = time.monotonic() + grace
        for worker in self.workers:
            try:
                worker.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()

    def run(self) -> None:
        """Runs the program to its end. ChildFailedError when it has failed for the last time."""
        try:
            while True:
                self.seat = seat = self.nodes.join()
                self.start(seat)
                over = self.watch(seat)
                failed = self.failures(seat)
                self.stop()
                if over is None or over["failures"] > self.plan.restarts:
                    break
                restarts = f" ({over['failures']} of {self.plan.restarts})" if over["failures"] > seat.failures else ""
                print(f"torchrun: {over['why']}; all start again{restarts}", file=sys.stderr)
                self.seat = None
            self.seat = None
            self.nodes.leave(seat, self.plan.serves)
            if over is not None:
                raise ChildFailedError(self.plan.name, failed, over["why"])
        finally:
            if self.seat is not None and self.seat.nodes > 1:  # first of all: the others go on without this machine
                with contextlib.suppress(DistError):
                    self.nodes.end(self.seat, f"machine {self.seat.number} has gone", failed=False)
            self.stop()
            self.folder.cleanup()


def run(arguments: argparse.Namespace) -> None:
    """Runs the program that parsed options ask for."""
    plan = make_plan(arguments)

    def end(number: int, frame: FrameType | None) -> None:
        raise SignalException(number)

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
    try:
        Launcher(plan).run()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def main(args: Sequence[str] | None = None) -> None:
    """The program torchrun."""
    parser = get_args_parser()
    arguments = parser.parse_args(args)
    try:
        run(arguments)
    except SignalException as ended:
        print(f"torchrun: {ended}", file=sys.stderr)
        sys.exit(128 + ended.sigval)
    except ChildFailedError as error:
        print(error, file=sys.stderr)
        sys.exit(1)
    except ValueError as error:
        parser.error(str(error))
    except DistError as error:
        print(f"torchrun: {error}", file=sys.stderr)
        sys.exit(1)


__getattr__ = _unavailable.define(__name__, REASON, RuntimeError)


if __name__ == "__main__":
    main()
