"""Processes that load batches for a `DataLoader`.

The loader's process deals batches out to its workers in turn, a few ahead (`prefetch_factor`), and hands the results on
in order. Tensors come back in shared memory. A worker that raises, or dies, is an error here.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from itertools import islice
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

import torch
import torch.multiprocessing
from torch._utils import ExceptionWrapper
from torch.utils.data._utils import worker as this_worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_STOP_SECONDS = 5.0  # how long a worker may take to end before it is terminated
_WATCH_SECONDS = 1.0  # how often a worker looks whether its loader's process is still there


class _End:
    """A stream's worker has no more batches."""


def _end_with_parent() -> None:
    """Ends this process soon after the loader's has ended, even killed, and whatever a dataset is doing here."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    # Of a fork server's children the loader's process is no parent; its sentinel tells. Siblings may hold that open.
    is_child = os.getppid() == parent.pid

    def watch() -> None:
        while not wait([parent.sentinel], _WATCH_SECONDS) and (not is_child or os.getppid() == parent.pid):
            pass
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="watch the loader's process").start()


def _run_worker(
    dataset: Any,
    fetch: Callable[[Any, Any], Any],
    number: int,
    count: int,
    seed: int,
    init: Callable[[int], None] | None,
    tasks: Any,
    results: Any,
) -> None:
    import random

    _end_with_parent()
    # One thread: the processes are the parallelism, and OpenMP's threads do not survive a fork.
    torch.set_num_threads(1)
    random.seed(seed)
    torch.manual_seed(seed)
    this_worker._worker_info = this_worker.WorkerInfo(number, count, seed, dataset)
    failure: ExceptionWrapper | None = None
    where = f"in DataLoader worker process {number}"
    stream = None
    try:
        if init is not None:
            init(number)
    except Exception:
        failure = ExceptionWrapper(where=where)
    while True:
        task = tasks.get()
        if task is None:
            return
        position, indices = task
        answer: Any = failure
        if failure is None:
            try:
                if indices == "restart":
                    stream = None
                    continue
                if isinstance(dataset, torch.utils.data.IterableDataset):
                    stream = iter(dataset) if stream is None else stream
                    answer = fetch(stream, indices)
                else:
                    answer = fetch(dataset, indices)
            except Exception:
                answer = ExceptionWrapper(where=where)
        results.send((position, number, answer))


def fetch_items(collate: Callable[[Any], Any], batched: bool, dataset: Any, indices: Any) -> Any:
    """A batch (or, without batches, an item) of a dataset with indices."""
    if not batched:
        return collate(dataset[indices])
    fetch_all = getattr(dataset, "__getitems__", None)
    return collate(fetch_all(indices) if fetch_all else [dataset[index] for index in indices])


def fetch_stream(collate: Callable[[Any], Any], size: int | None, drop_last: bool, stream: Any, indices: Any) -> Any:
    """The next batch (or item) of a stream, `_End` after the last."""
    items = list(islice(stream, 1 if size is None else size))
    if not items or (size is not None and drop_last and len(items) < size):
        return _End
    return collate(items[0] if size is None else items)


class WorkerPool:
    """The workers of one `DataLoader`, for one iteration, or with `persistent_workers` for all."""

    def __init__(
        self,
        dataset: Any,
        fetch: Callable[[Any, Any], Any],
        base_seed: int,
        *,
        count: int,
        timeout: float,
        prefetch: int,
        prepare: Callable[[int], None] | None,
        context: Any,
    ) -> None:
        context = context or torch.multiprocessing.get_context()
        if isinstance(context, str):
            context = torch.multiprocessing.get_context(context)
        self.timeout, self.prefetch = timeout, prefetch
        self._owner = os.getpid()
        # Starts this process's manager of shared memory: forked workers use it, too, and what they send outlives them.
        torch.empty(1).share_memory_()
        self._tasks = [context.SimpleQueue() for _ in range(count)]
        self._results: list[Any] = []  # the reading end of a pipe from each worker
        self._workers: list[Any] = []
        for number, tasks in enumerate(self._tasks):
            arguments = (dataset, fetch, number, count, base_seed + number, prepare)
            reader, writer = context.Pipe(duplex=False)
            worker = context.Process(target=_run_worker, args=(*arguments, tasks, writer), daemon=True)
            worker.start()
            writer.close()
            self._results.append(reader)
            self._workers.append(worker)

    def _receive(self) -> tuple[int, int, Any]:
        """The next answer of any worker. RuntimeError if one has died or none comes in time."""
        ready = wait([*self._results, *(worker.sentinel for worker in self._workers)], self.timeout or None)
        if not ready:
            raise RuntimeError(f"DataLoader timed out after {self.timeout} seconds")
        for reader in self._results:
            if reader in ready:
                try:
                    answer: tuple[int, int, Any] = reader.recv()
                except EOFError:
                    continue  # its worker has died
                return answer
        dead = [worker for worker, reader in zip(self._workers, self._results, strict=True) if reader in ready]
        dead = dead or [worker for worker in self._workers if worker.sentinel in ready]
        pids = ", ".join(str(worker.pid) for worker in dead)
        raise RuntimeError(f"DataLoader worker (pid(s) {pids}) exited unexpectedly")

    def batches(self, indices: Iterator[Any] | None) -> Iterator[Any]:
        """Batches in order; `indices` of each, or None for streams, which the workers split themselves."""
        active = list(range(len(self._tasks)))
        done: dict[int, Any] = {}
        sent = wanted = turn = 0

        def send() -> bool:
            nonlocal sent, turn
            if not active:
                return False
            batch = next(indices, _End) if indices is not None else None
            if batch is _End:
                return False
            self._tasks[active[turn % len(active)]].put((sent, batch))
            sent += 1
            turn += 1
            return True

        for _ in range(self.prefetch * len(active)):
            if not send():
                break
        while wanted < sent:
            while wanted not in done:
                position, worker, answer = self._receive()
                done[position] = answer
                if answer is _End and worker in active:
                    active.remove(worker)
            answer = done.pop(wanted)
            wanted += 1
            send()
            if isinstance(answer, ExceptionWrapper):
                answer.reraise()
            if answer is not _End:
                yield answer

    def restart(self) -> None:
        """Lets persistent workers begin their streams anew."""
        for tasks in self._tasks:
            tasks.put((0, "restart"))

    def close(self) -> None:
        """Ends the workers."""
        if os.getpid() != self._owner:
            return  # a forked copy of this object: the workers are not its children
        for tasks in self._tasks:
            tasks.put(None)
        deadline = time.monotonic() + _STOP_SECONDS
        for worker, reader in zip(self._workers, self._results, strict=True):
            # A worker that is still writing a batch ends when somebody reads it.
            while worker.is_alive() and time.monotonic() < deadline:
                try:
                    if reader in wait([reader, worker.sentinel], deadline - time.monotonic()):
                        reader.recv()
                except EOFError:
                    break
                except RuntimeError:
                    continue  # a batch that went with its worker; nobody wants it any more
            if worker.is_alive() and time.monotonic() >= deadline:
                worker.terminate()
            worker.join()
            reader.close()
        self._workers, self._results = [], []
