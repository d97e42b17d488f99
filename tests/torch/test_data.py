"""torch.utils.data beyond the golden orders."""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import time
from collections import namedtuple
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import torch
from torch.utils import data

if TYPE_CHECKING:
    from collections.abc import Iterator

# More workers than processors, on small machines.
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning")

Point = namedtuple("Point", ["x", "y"])


class Squares(data.Dataset[int]):
    def __getitem__(self, index: int) -> int:
        return index * index

    def __len__(self) -> int:
        return 5


class Stream(data.IterableDataset[int]):
    def __iter__(self) -> Iterator[int]:
        return iter(range(5))


def test_batches() -> None:
    loader = data.DataLoader(Squares(), batch_size=2)
    assert [batch.tolist() for batch in loader] == [[0, 1], [4, 9], [16]]
    assert len(loader) == 3
    assert [batch.tolist() for batch in data.DataLoader(Squares(), 2, drop_last=True)] == [[0, 1], [4, 9]]
    assert list(data.DataLoader(Squares(), batch_size=None)) == [0, 1, 4, 9, 16]
    assert list(data.DataLoader(Squares(), 3, collate_fn=sum)) == [5, 25]
    assert [b.tolist() for b in data.DataLoader(Squares(), batch_sampler=[[0, 4], [1]])] == [[0, 16], [1]]
    assert [b.tolist() for b in data.DataLoader(Squares(), sampler=[3, 1])] == [[9], [1]]


def test_iterators_can_be_subclassed_and_loaders_ask_for_theirs() -> None:
    """As loaders of other libraries do: torchdata's has iterators and attributes of its own."""
    from torch.utils.data.dataloader import _BaseDataLoaderIter, _DatasetKind, _SingleProcessDataLoaderIter

    class Doubled(_SingleProcessDataLoaderIter):
        def _next_data(self) -> Any:
            return 2 * super()._next_data()

    class Loader(data.DataLoader[int]):
        def _get_iterator(self) -> _BaseDataLoaderIter:
            return Doubled(self)

    iterator = iter(Loader(Squares(), 2))
    assert isinstance(iterator, _BaseDataLoaderIter)
    assert len(iterator) == 3
    assert [batch.tolist() for batch in iterator] == [[0, 2], [8, 18], [32]]
    assert iterator._num_yielded == 3
    loader = data.DataLoader(Stream(), 2)
    assert loader._dataset_kind == _DatasetKind.Iterable
    assert loader._auto_collation
    assert next(loader._index_sampler.__iter__()) == [None, None]
    with pytest.raises(NotImplementedError, match="cannot be pickled"):
        pickle.dumps(iter(loader))


def test_pipes_go_to_other_processes_in_a_wrapper() -> None:
    from torch.utils.data.datapipes.datapipe import _IterDataPipeSerializationWrapper, _MapDataPipeSerializationWrapper

    assert list(pickle.loads(pickle.dumps(_IterDataPipeSerializationWrapper(Stream())))) == [0, 1, 2, 3, 4]
    wrapped = pickle.loads(pickle.dumps(_MapDataPipeSerializationWrapper(Squares())))
    assert (wrapped[3], len(wrapped)) == (9, 5)


@pytest.mark.filterwarnings("error:This DataLoader will create:UserWarning")
def test_more_workers_than_processors_are_warned_of() -> None:
    with pytest.warns(UserWarning, match="This DataLoader will create 4096 worker processes"):
        data.DataLoader(Squares(), num_workers=4096)


def test_streams() -> None:
    assert [b.tolist() for b in data.DataLoader(Stream(), 2)] == [[0, 1], [2, 3], [4]]
    assert [b.tolist() for b in data.DataLoader(Stream(), 2, drop_last=True)] == [[0, 1], [2, 3]]
    assert list(data.DataLoader(Stream(), None)) == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="IterableDataset"):
        data.DataLoader(Stream(), shuffle=True)


def test_collate() -> None:
    collate = data.default_collate
    point = collate([Point(1, 2.0), Point(3, 4.0)])
    assert (type(point), point.x.tolist(), point.y.dtype) == (Point, [1, 3], torch.float64)
    assert collate([np.ones(2, np.float32), np.zeros(2, np.float32)]).shape == (2, 2)
    assert collate([np.float32(1), np.float32(2)]).dtype is torch.float32
    assert collate(["a", "b"]) == ["a", "b"]
    with pytest.raises(RuntimeError, match="equal size"):
        collate([[1], [1, 2]])


def test_splits_and_unions() -> None:
    generator = torch.Generator().manual_seed(1)
    one, other = data.random_split(Squares(), [2, 3], generator)
    assert sorted([*one.indices, *other.indices]) == [0, 1, 2, 3, 4]
    union = data.ConcatDataset([Squares(), one])
    assert len(union) == 7
    assert union[-1] == one[1]
    with pytest.raises(ValueError, match="should not exceed"):
        union[-8]
    with pytest.raises(AssertionError, match="Size mismatch"):
        data.TensorDataset(torch.ones(2), torch.ones(3))
    with pytest.raises(NotImplementedError, match="__getitem__"):
        data.Dataset[Any]()[0]


def test_order_follows_the_seed() -> None:
    def order() -> list[Any]:
        torch.manual_seed(3)
        return [batch.tolist() for batch in data.DataLoader(Squares(), 2, shuffle=True)]

    assert order() == order()
    generator = torch.Generator().manual_seed(3)
    loader = data.DataLoader(Squares(), 5, shuffle=True, generator=generator)
    assert next(iter(loader)).tolist() != next(iter(loader)).tolist()


# ---------------------------------------------------------------------------------------------------- workers


class Failing(Squares):
    def __getitem__(self, index: int) -> int:
        if index == 3:
            raise KeyError("three")
        return index


class Dying(Squares):
    def __getitem__(self, index: int) -> int:
        if index == 3:
            os._exit(9)
        return index


class Shards(data.IterableDataset[int]):
    def __iter__(self) -> Iterator[int]:
        info = data.get_worker_info()
        assert info is not None
        return iter(range(info.id, 10, info.num_workers))


class Seeds(Squares):
    def __getitem__(self, index: int) -> Any:
        info = data.get_worker_info()
        assert info is not None
        return torch.tensor([info.id, info.seed == torch.initial_seed(), torch.get_num_threads()])


def test_workers_give_the_same_batches_in_order() -> None:
    torch.manual_seed(0)
    expected = [batch.tolist() for batch in data.DataLoader(Squares(), 2, shuffle=True)]
    for workers, prefetch in ((1, 1), (2, 2), (4, 3)):
        torch.manual_seed(0)
        loader = data.DataLoader(Squares(), 2, shuffle=True, num_workers=workers, prefetch_factor=prefetch)
        batches = list(loader)
        assert [batch.tolist() for batch in batches] == expected
        assert all(batch.is_shared() for batch in batches)
    assert data.get_worker_info() is None
    assert multiprocessing.active_children() == []


def test_workers_share_streams_and_have_their_own_seeds() -> None:
    batches = [batch.tolist() for batch in data.DataLoader(Shards(), 2, num_workers=3)]
    assert sorted(value for batch in batches for value in batch) == list(range(10))
    answers = torch.cat(list(data.DataLoader(Seeds(), 1, num_workers=2)))
    assert answers.tolist() == [[0, 1, 1], [1, 1, 1], [0, 1, 1], [1, 1, 1], [0, 1, 1]]


def test_persistent_workers_stay() -> None:
    for dataset in (Squares(), Shards()):
        loader = data.DataLoader(dataset, 2, num_workers=2, persistent_workers=True)
        first = [batch.tolist() for batch in loader]
        children = {child.pid for child in multiprocessing.active_children()}
        assert len(children) == 2
        assert [batch.tolist() for batch in loader] == first
        assert {child.pid for child in multiprocessing.active_children()} == children
        del loader
        gc.collect()
        assert multiprocessing.active_children() == []


def test_leaving_early_ends_the_workers() -> None:
    for _ in data.DataLoader(Squares(), 1, num_workers=2):
        break
    gc.collect()
    assert multiprocessing.active_children() == []


def test_what_goes_wrong_in_a_worker_is_told() -> None:
    with pytest.raises(KeyError, match=r"Caught KeyError in DataLoader worker process 1(.|\n)*three"):
        list(data.DataLoader(Failing(), 1, num_workers=2))
    with pytest.raises(RuntimeError, match=r"worker \(pid\(s\) \d+\) exited unexpectedly"):
        list(data.DataLoader(Dying(), 1, num_workers=2))
    with pytest.raises(ZeroDivisionError, match="worker process 0"):
        list(data.DataLoader(Squares(), 5, num_workers=1, worker_init_fn=lambda number: print(1 // number)))
    with pytest.raises(RuntimeError, match=r"timed out after 0\.2 seconds"):
        list(data.DataLoader(Squares(), 5, num_workers=1, timeout=0.2, collate_fn=lambda items: time.sleep(1)))
    for options in ({"prefetch_factor": 2}, {"persistent_workers": True}, {"num_workers": -1}, {"timeout": -1}):
        with pytest.raises(ValueError, match="option"):
            data.DataLoader(Squares(), **options)  # type: ignore[arg-type]
    assert multiprocessing.active_children() == []


LOADING = """
import multiprocessing, sys, time, torch
from torch.utils import data


class Items(data.Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, index):
        if SLEEPS and index > 0:
            time.sleep(1000)
        return torch.full((1000,), float(index))


if __name__ == "__main__":
    kept = torch.ones(5).share_memory_()
    batches = iter(data.DataLoader(Items(), num_workers=2, multiprocessing_context=START))
    next(batches)
    print(*(child.pid for child in multiprocessing.active_children()), flush=True)
    time.sleep(1000)
"""


def _is_running(process_id: int) -> bool:
    """Not gone, and not dead and waiting to be collected."""
    try:
        return Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
@pytest.mark.parametrize("start", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("busy", [False, True], ids=["waiting", "busy"])
def test_workers_and_shared_memory_go_with_a_killed_process(start: str, busy: bool, tmp_path: Path) -> None:
    program = tmp_path / "loading.py"
    program.write_text(LOADING.replace("SLEEPS", repr(busy)).replace("START", repr(start)))
    environment = {**os.environ, "PYTHONPATH": str(Path(torch.__file__).parent.parent), "TMPDIR": str(tmp_path)}
    main = subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, text=True, env=environment)
    assert main.stdout is not None
    workers = [int(number) for number in main.stdout.readline().split()]
    assert len(workers) == 2
    assert all(_is_running(worker) for worker in workers)
    assert list(tmp_path.glob("torch-shm-*"))
    main.stdout.close()
    main.kill()
    main.wait()
    deadline = time.monotonic() + 5
    processes = [main.pid, *workers]

    def left() -> list[Any]:
        segments = [path for pid in processes for path in Path("/dev/shm").glob(f"torch_{pid}_*")]
        return [*filter(_is_running, workers), *segments, *tmp_path.glob("torch-shm-*")]

    while left() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left() == []


def test_streams_are_added_one_after_the_other() -> None:
    class Stream(data.IterableDataset[int]):
        def __init__(self, items: list[int]) -> None:
            self.items = items

        def __iter__(self) -> Any:
            return iter(self.items)

        def __len__(self) -> int:
            return 1

    both = Stream([1, 2]) + Stream([3])
    assert isinstance(both, data.ChainDataset)
    assert list(both) == [1, 2, 3]
    loader = data.DataLoader(Stream([1, 2]), batch_size=None)
    assert len(loader) == 1
    with pytest.warns(UserWarning, match="was reported to be 1"):
        assert list(loader) == [1, 2]


def test_items_of_datasets_side_by_side() -> None:
    class Fetched(data.Dataset[int]):
        def __getitems__(self, indices: list[int]) -> list[int]:
            return [10 * index for index in indices]

        def __len__(self) -> int:
            return 4

    assert data.StackDataset(Fetched(), range(4)).__getitems__([1, 3]) == [(10, 1), (30, 3)]
    assert data.StackDataset(a=Fetched(), b=range(4)).__getitems__([2]) == [{"a": 20, "b": 2}]


def test_what_a_loader_was_made_of_stays() -> None:
    loader = data.DataLoader(range(4), batch_size=2)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="should not be set after DataLoader is initialized"):
        loader.batch_size = 3
    loader.num_workers = 0


def test_workers_start_in_the_thread_that_asks_for_batches() -> None:
    """The thread that pins batches ahead only fetches what comes after the first."""
    threads = []

    def batches() -> Any:
        for number in range(3):
            threads.append(threading.current_thread())
            yield number

    assert list(data._utils.pin_memory.pin_ahead(batches())) == [0, 1, 2]
    assert threads[0] is threading.current_thread()
    assert threads[1] is threads[2]
    assert threads[1] is not threads[0]
