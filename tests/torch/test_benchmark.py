"""torch.utils.benchmark: numbers of measurements, tables and random shapes, against what PyTorch 2.13 prints."""

from __future__ import annotations

import shutil

import pytest

import torch
from torch.utils import benchmark
from torch.utils.benchmark import Measurement, TaskSpec


def measured(times: list[float], number: int = 1, **spec: object) -> Measurement:
    return Measurement(number, times, TaskSpec(stmt="f(x)", setup="pass", **spec))  # type: ignore[arg-type]


def grid() -> list[Measurement]:
    return [
        measured([base * (1 + 0.01 * n) for n in range(5)], label="mm", sub_label=row, description=column)
        for row, start in (("small", 1e-6), ("big", 1e-3))
        for column, base in (("ours", start), ("theirs", start * 3.3))
    ]


def test_a_table() -> None:
    expected = """\
[-------------- mm -------------]
             |   ours   |  theirs
1 threads: ----------------------
      small  |     1.0  |     3.4
      big    |  1020.0  |  3366.0

Times are in microseconds (us).
"""
    assert str(benchmark.Compare(grid())) == expected


def test_a_table_of_the_digits_that_mean_something() -> None:
    table = benchmark.Compare(grid())
    table.trim_significant_figures()
    assert str(table).splitlines()[3:5] == ["      small  |     1  |      3 ", "      big    |  1000  |   3400 "]


def test_colours_by_column_and_by_row() -> None:
    table = benchmark.Compare(grid()[:2])
    table.colorize(rowwise=True)
    row = "      small  |  \x1b[92m\x1b[1m1.0 \x1b[0m\x1b[0m  |  \x1b[2m\x1b[91m 3.4  \x1b[0m\x1b[0m"
    assert str(table).splitlines()[3] == row
    table.colorize()
    assert "\x1b[2m" not in str(table)


def test_warnings_and_environments() -> None:
    spread = measured([2e-4, 3e-4, 1e-4], label="other", description="d")
    table = benchmark.Compare([spread])
    table.highlight_warnings()
    assert "      f(x)  |  200.0 (! 50%)\n" in str(table)
    assert str(table).endswith("XX is the IQR / median * 100.\n")
    two = [measured([1e-2] * 3, label="e", sub_label="s", description="d", env=env) for env in ("A", "the other")]
    assert [line[:17] for line in str(benchmark.Compare(two)).splitlines()[3:5]] == [
        "  (A)          s ",
        "  (the other)  s ",
    ]
    with pytest.raises(ValueError, match="Expected an instance of `Measurement`"):
        table.extend_results([1])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("times", "number", "text"),
    [
        ([1e-6, 1.01e-6, 1.02e-6, 1.03e-6, 1.04e-6], 1,
         "f(x)\n  Median: 1.02 us\n  IQR:    0.02 us (1.01 to 1.03)\n"
         "  5 measurements, 1 runs per measurement, 1 thread"),
        ([1e-4] * 3, 1, "f(x)\n  Median: 100.00 us\n  3 measurements, 1 runs per measurement, 1 thread"),
        ([1.0], 7, "f(x)\n  142.86 ms\n  1 measurement, 7 runs , 1 thread"),
        ([1.0, 1.1, 1.2, 1.3], 100,
         "f(x)\n  Median: 11.50 ms\n  IQR:    1.50 ms (10.75 to 12.25)\n"
         "  4 measurements, 100 runs per measurement, 1 thread\n"
         "  WARNING: Interquartile range is 13.0% of the median measurement.\n"
         "           This could indicate system fluctuation."),
    ],
)  # fmt: skip
def test_a_measurement_as_text(times: list[float], number: int, text: str) -> None:
    assert repr(measured(times, number)).partition("\n")[2] == text


def test_what_a_measurement_tells() -> None:
    assert [measured(times).significant_figures for times in ([1.0], [1e-4] * 3, [1e-8, 2e-8, 3e-8])] == [4, 3, 1]
    merged = Measurement.merge([*grid(), measured([5.0, 6.0], label="mm", sub_label="small", description="ours")])
    assert len(merged) == 4
    assert merged[0].raw_times[-2:] == [5.0, 6.0]
    assert benchmark.select_unit(1e-5) == ("us", 1e-6)
    assert benchmark.select_unit(999e-6)[0] == "us"
    assert benchmark.unit_to_english("ms") == "millisecond"
    assert benchmark.ordered_unique([3, 1, 3]) == [3, 1]
    assert [benchmark.trim_sigfig(x, n) for x, n in ((3.14159, 2), (12345, 3), (0, 2))] == [3.1, 12300.0, 0.0]


def test_a_timer() -> None:
    calls: list[int] = []
    timer = benchmark.Timer("f()", globals={"f": lambda: calls.append(torch.get_num_threads())}, num_threads=2)
    before = torch.get_num_threads()
    assert timer.timeit(10).number_per_run == 10
    assert set(calls) == {2}
    assert torch.get_num_threads() == before
    assert len(timer.blocked_autorange(min_run_time=0.01).times) >= 1
    assert timer.adaptive_autorange(min_run_time=0.01, max_run_time=0.02).median > 0
    held = benchmark.Timer("assert x == 1", globals={"x": benchmark.CopyIfCallgrind(1)})
    assert held.timeit(2).mean > 0
    with pytest.raises(ValueError, match="Currently only a `str` stmt is supported"):
        benchmark.Timer(lambda: 1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Invalid language `go`"):
        benchmark.Timer("1", language="go")
    if shutil.which("valgrind") is None:
        with pytest.raises(OSError, match="Could not find `valgrind`"):
            timer.collect_callgrind()


def test_counts_of_instructions_are_added_and_taken_away() -> None:
    one = benchmark.FunctionCounts((benchmark.FunctionCount(5, "a"), benchmark.FunctionCount(3, "b")), True)
    two = benchmark.FunctionCounts((benchmark.FunctionCount(2, "a"), benchmark.FunctionCount(9, "c")), True)
    assert [tuple(row) for row in one - two] == [(3, "b"), (3, "a"), (-9, "c")]
    assert [tuple(row) for row in one + two] == [(9, "c"), (7, "a"), (3, "b")]
    assert (one.sum(), len(one), one[0].function) == (8, 2, "a")
    assert one.transform(lambda name: "all").sum() == one.filter(lambda name: True).sum() == 8


def test_random_shapes() -> None:
    size = benchmark.FuzzedParameter("n", 16, 1024, "loguniform")
    other = benchmark.FuzzedParameter("m", distribution={1: 0.5, benchmark.ParameterAlias("n"): 0.5})
    tensor = benchmark.FuzzedTensor("x", size=("n", "m"), probability_contiguous=0.5, max_elements=100_000)
    fuzzer = benchmark.Fuzzer([[size, other]], [tensor], constraints=[lambda p: p["n"] > 20], seed=3)
    shapes = [(tensors["x"].shape, properties["x"]["is_contiguous"]) for tensors, properties, _ in fuzzer.take(20)]
    assert all(shape.numel() <= 100_000 and shape[0] > 20 and shape[1] in (1, shape[0]) for shape, _ in shapes)
    assert {contiguous for _, contiguous in shapes} == {True, False}
    assert 0 < fuzzer.rejection_rate < 1
    assert [tensors["x"].shape for tensors, _, _ in fuzzer.take(20)] == [shape for shape, _ in shapes]
    with pytest.raises(ValueError, match="Duplicate name"):
        benchmark.Fuzzer([size, size], [])


def test_random_sparse_tensors() -> None:
    parameters = [
        benchmark.FuzzedParameter("n", 16, 64, "uniform"),
        benchmark.FuzzedParameter("c", distribution={True: 1, False: 1}),
    ]
    tensor = benchmark.FuzzedSparseTensor("x", size=("n", "n"), coalesced="c", min_elements=4)
    for tensors, properties, values in benchmark.Fuzzer(parameters, [tensor], seed=1).take(4):
        assert tensors["x"].layout is torch.sparse_coo
        assert tensors["x"].is_coalesced() == values["c"] == properties["x"]["is_coalesced"]
