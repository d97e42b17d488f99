"""`Timer`, which measures statements of Python or C++."""

from __future__ import annotations

import shutil
import textwrap
import timeit
from enum import Enum
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.benchmark.utils.common import Measurement, TaskSpec, set_torch_threads
from torch.utils.benchmark.utils.cpp_jit import compile_timer

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Language", "Timer", "timer"]

timer = timeit.default_timer


class Language(Enum):
    """What a statement is written in."""

    PYTHON = 0
    CPP = 1


def _language(language: Language | str) -> Language:
    known = {"py": Language.PYTHON, "python": Language.PYTHON, "c++": Language.CPP, "cpp": Language.CPP}
    if isinstance(language, Language):
        return language
    if str(language).lower() not in known:
        raise ValueError(f"Invalid language `{language}`.")
    return known[str(language).lower()]


class Timer:
    """Measures a statement, on one thread unless more are asked for.

    With `language="c++"` statement and setup are C++, which is compiled first; `global_setup` stands before them.

    >>> measured = torch.utils.benchmark.Timer("x + 1", globals={"x": torch.ones(4)}).timeit(10)
    >>> measured.number_per_run
    10
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Language | str = Language.PYTHON,
    ) -> None:
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        self._language = _language(language)
        self._globals = {name: getattr(value, "_copied_value", value) for name, value in (globals or {}).items()}
        if self._language is Language.CPP and globals:
            raise ValueError("C++ timing does not support globals.")
        setup, stmt = textwrap.dedent(setup).strip(), textwrap.dedent(stmt).strip()
        self._task_spec = TaskSpec(stmt, setup, global_setup, label, sub_label, description, env, num_threads)
        self._clock = timer
        self._timer: Any = None

    def _run(self, number: int) -> float:
        if self._timer is None and self._language is Language.CPP:
            setup = "" if self._task_spec.setup == "pass" else self._task_spec.setup
            self._timer = compile_timer(self._task_spec.stmt, setup, self._task_spec.global_setup)
        elif self._timer is None:
            space = {"torch": torch, **self._globals}
            self._timer = timeit.Timer(self._task_spec.stmt, self._task_spec.setup, self._clock, space)
        with set_torch_threads(self._task_spec.num_threads):
            seconds: float = self._timer.timeit(number)
        return seconds

    def timeit(self, number: int = 1000000) -> Measurement:
        """One run of `number` calls, after a shorter one to warm up."""
        self._run(max(number // 100, 2))
        return Measurement(number, [self._run(number)], self._task_spec)

    def blocked_autorange(self, callback: Any = None, min_run_time: float = 0.2) -> Measurement:
        """Runs for `min_run_time` seconds in all, each so long that its timer does not matter."""
        number = 1
        while True:
            time = self._run(number)
            if time > min_run_time / 1000 or number >= 10**9:
                break
            number *= 10
        times: list[float] = []
        while sum(times) < min_run_time:
            times.append(self._run(number))
            if callback is not None:
                callback(number, times[-1])
        return Measurement(number, times, self._task_spec)

    def adaptive_autorange(
        self, threshold: float = 0.1, *, min_run_time: float = 0.01, max_run_time: float = 10.0, callback: Any = None
    ) -> Measurement:
        """Runs until the quartiles are within `threshold` of the median, or for `max_run_time` seconds."""
        result = self.blocked_autorange(callback, min_run_time)
        while result.iqr > threshold * result.median and sum(result.raw_times) < max_run_time:
            result.raw_times += self.blocked_autorange(callback, max(min_run_time, sum(result.raw_times))).raw_times
        return result

    def autorange(self, callback: Any = None) -> tuple[int, float]:
        """The number of calls that take at least 0.2 seconds, and how long they took: as in `timeit`."""
        number = 1
        while True:
            for digit in (1, 2, 5):
                seconds = self._run(digit * number)
                if callback is not None:
                    callback(digit * number, seconds)
                if seconds >= 0.2:
                    return digit * number, seconds
            number *= 10

    def repeat(self, repeat: int = -1, number: int = -1) -> None:
        """Raises NotImplementedError, as in PyTorch: `blocked_autorange` repeats."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def collect_callgrind(self, number: int = 100, **options: Any) -> Any:
        """Counts instructions with valgrind: NotImplementedError, and OSError where there is none."""
        if shutil.which("valgrind") is None:
            raise OSError("Could not find `valgrind`")
        raise NotImplementedError("collect_callgrind is not supported: use blocked_autorange()")
