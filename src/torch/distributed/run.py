"""torchrun: starts the processes of a program on this machine, and starts them again when one fails.

`torchrun --nproc-per-node 4 program.py ...`, or `python -m torch.distributed.run`. Each process finds its place in
RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, which `init_process_group()` reads. When one fails the others
are ended, and all start again at most `--max-restarts` times: a program goes on from its own checkpoint, and sees in
TORCHELASTIC_RESTART_COUNT how often. Several machines run it with the same `--nnodes` and `--master-addr`, each with
its own `--node-rank`; they fail and start again together.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import signal
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
from torch.distributed._errors import DistError
from torch.distributed._tcp_store import TCPStore
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

    add("nnodes", default="1", help="how many machines take part")
    add(
        "nproc-per-node",
        default="1",
        help="processes on this machine: a number, or `cpu` or `auto` (one per processor)",
    )
    add("node-rank", type=int, default=0, help="this machine's number")
    add("master-addr", default="127.0.0.1", help="where machine 0 is reached")
    add("master-port", type=int, default=None, help="the port there (29500; with --standalone any free one)")
    add("standalone", action="store_true", help="one machine, with a port of its own")
    add("rdzv-backend", default="static", choices=["static", "c10d"], help="how machines meet: a store on machine 0")
    add("rdzv-endpoint", default="", help="HOST:PORT, in place of --master-addr and --master-port")
    add("rdzv-id", default="none", help="a name of this run")
    add("rdzv-conf", default="", help="timeout=SECONDS: how long machines wait for one another")
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

    nodes: int
    node: int
    processes: int
    host: str
    port: int
    restarts: int
    interval: float
    run_id: str
    role: str
    name: str
    command: list[str]
    log_folder: Path | None
    patience: timedelta


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


def make_plan(arguments: argparse.Namespace) -> Plan:
    """What the options ask for. ValueError for what cannot be."""
    low, _, high = arguments.nnodes.partition(":")
    if (high and low != high) or not low.isdigit() or int(low) < 1:
        raise ValueError(f"--nnodes {arguments.nnodes}: a fixed number of machines is needed, as --nnodes 2")
    nodes = int(low)
    host, port = arguments.master_addr, arguments.master_port
    if arguments.rdzv_endpoint:
        host, _, digits = arguments.rdzv_endpoint.rpartition(":")
        if not host:
            host, digits = digits, ""
        port = int(digits) if digits else None
    if port is None:
        port = 0 if nodes == 1 and (arguments.standalone or arguments.rdzv_backend == "c10d") else 29500
    if not 0 <= arguments.node_rank < nodes:
        raise ValueError(f"--node-rank {arguments.node_rank} is not in the range 0 to {nodes - 1}")
    if arguments.max_restarts < 0:
        raise ValueError(f"--max-restarts {arguments.max_restarts} is negative")
    conf = dict(part.partition("=")[::2] for part in arguments.rdzv_conf.split(",") if part)
    python = [] if arguments.no_python else [sys.executable, "-u", *(["-m"] if arguments.module else [])]
    if arguments.no_python and arguments.module:
        raise ValueError("Don't use both the '--no-python' flag and the '--module' flag at the same time.")
    return Plan(
        nodes=nodes,
        node=arguments.node_rank,
        processes=_processes(arguments.nproc_per_node),
        host=host,
        port=port,
        restarts=arguments.max_restarts,
        interval=arguments.monitor_interval,
        run_id=arguments.rdzv_id if arguments.rdzv_id != "none" else uuid.uuid4().hex[:8],
        role=arguments.role,
        name=arguments.training_script,
        command=[*python, arguments.training_script, *arguments.training_script_args],
        log_folder=Path(arguments.log_dir) if arguments.log_dir else None,
        patience=timedelta(seconds=float(conf.get("timeout", 900))),
    )


def _die_with_parent() -> None:
    """In a new process: it is ended when the launcher is killed."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


class Launcher:
    """The processes of this machine."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.store = TCPStore(plan.host, plan.port, is_master=plan.node == 0, timeout=plan.patience)
        # Every machine says how many processes it has, so that all know their ranks.
        self.store.set(f"processes/{plan.node}", str(plan.processes))
        counts = [int(count) for count in self.store.multi_get([f"processes/{node}" for node in range(plan.nodes)])]
        self.first, self.total = sum(counts[: plan.node]), sum(counts)
        self.workers: list[subprocess.Popen[bytes]] = []
        self.folder = tempfile.TemporaryDirectory(prefix="torchrun-")
        self.attempt = 0

    def start(self) -> None:
        """Starts all, for the attempt that it is."""
        plan, shared = self.plan, dict(os.environ)
        if plan.processes > 1:
            shared.setdefault("OMP_NUM_THREADS", "1")  # they share the processors
        self.workers = []
        for local in range(plan.processes):
            rank = str(self.first + local)
            environment = shared | {
                "RANK": rank,
                "LOCAL_RANK": str(local),
                "ROLE_RANK": rank,
                "GROUP_RANK": str(plan.node),
                "ROLE_NAME": plan.role,
                "WORLD_SIZE": str(self.total),
                "ROLE_WORLD_SIZE": str(self.total),
                "LOCAL_WORLD_SIZE": str(plan.processes),
                "GROUP_WORLD_SIZE": str(plan.nodes),
                "MASTER_ADDR": plan.host,
                "MASTER_PORT": str(self.store.port),
                "TORCHELASTIC_RUN_ID": plan.run_id,
                "TORCHELASTIC_RESTART_COUNT": str(self.attempt),
                "TORCHELASTIC_MAX_RESTARTS": str(plan.restarts),
                "TORCHELASTIC_USE_AGENT_STORE": "True",
                "TORCHELASTIC_ERROR_FILE": self._error_file(local),
            }
            out, err = self._outputs(local)
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

    def _error_file(self, local: int) -> str:
        return str(Path(self.folder.name) / f"error_{self.attempt}_{local}.json")

    def _outputs(self, local: int) -> tuple[Any, Any]:
        if self.plan.log_folder is None:
            return None, None
        folder = self.plan.log_folder / self.plan.run_id / f"attempt_{self.attempt}" / str(local)
        folder.mkdir(parents=True, exist_ok=True)
        return (folder / "stdout.log").open("wb"), (folder / "stderr.log").open("wb")

    def watch(self) -> list[ProcessFailure]:
        """Waits until all have ended well, or one has not, here or on another machine: the failures of this one."""
        key = f"failed/{self.attempt}"
        while True:
            failures = [
                ProcessFailure(local, self.first + local, worker.pid, worker.returncode, self._error_file(local))
                for local, worker in enumerate(self.workers)
                if worker.poll() not in (None, 0)
            ]
            if failures:
                self.store.set(key, str(failures[0].rank))
                return failures
            if all(worker.returncode == 0 for worker in self.workers):
                return []
            if self.plan.nodes > 1 and self.store.check([key]):
                rank = int(self.store.get(key))
                return [ProcessFailure(-1, rank, -1, 1, "")]
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
                self.start()
                failures = self.watch()
                if not failures:
                    break
                self.stop()
                if self.attempt == self.plan.restarts:
                    raise ChildFailedError(self.plan.name, failures)
                self.attempt += 1
                failed = failures[0]
                print(
                    f"torchrun: rank {failed.rank} has failed ({failed.what()}); all start again "
                    f"({self.attempt} of {self.plan.restarts})",
                    file=sys.stderr,
                )
            self._leave_together()
        finally:
            self.stop()
            self.folder.cleanup()

    def _leave_together(self) -> None:
        """The store is machine 0's: it waits for the others."""
        self.store.set(f"done/{self.plan.node}", "1")
        if self.plan.node == 0 and self.plan.nodes > 1:
            self.store.wait([f"done/{node}" for node in range(self.plan.nodes)])


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
    except (ValueError, DistError) as error:
        parser.error(str(error))


__getattr__ = _unavailable.define(__name__, REASON, RuntimeError)


if __name__ == "__main__":
    main()
