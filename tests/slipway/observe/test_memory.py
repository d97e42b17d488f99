"""Memory of the processes below Ninja: from made-up folders of /proc, and from a real Ninja-like tree."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from slipway.observe.memory import PAGE, MemorySampler, Sample, output_of, processes_of, read_process

if TYPE_CHECKING:
    from pathlib import Path


def add(root: Path, number: int, parent: int, name: str, pages: int, command: str = "", session: int = 7) -> None:
    """One process, as proc(5) describes it."""
    folder = root / str(number)
    folder.mkdir(parents=True)
    fields = [str(number), f"({name})", "S", str(parent), "1", str(session), *["0"] * 17, str(pages), "0"]
    (folder / "stat").write_text(" ".join(fields) + "\n", encoding="utf-8")
    (folder / "cmdline").write_bytes(b"\0".join(command.encode().split(b" ")) + b"\0")


def test_steps_are_summed_with_what_is_below_them(tmp_path: Path) -> None:
    add(tmp_path, 10, 1, "ninja", 100, "ninja -C build")
    add(tmp_path, 11, 10, "sh", 1, "/bin/sh -c g++ -o a.o -c a.cpp")
    add(tmp_path, 12, 11, "cc1plus (x) y", 5000, "cc1plus a.cpp -o /tmp/a.s")
    add(tmp_path, 13, 10, "ninja", 100, "ninja -C build")  # forked, its command not yet started
    add(tmp_path, 14, 1, "g++", 9999, "g++ -o other.o", session=8)
    sampler = MemorySampler()
    sampler.take({7}, 100.0, tmp_path)
    assert sampler.peaks == {"a.o": 5001 * PAGE}
    assert sampler.samples == [Sample(100.0, 5201 * PAGE, 2)]
    shutil.rmtree(tmp_path / "12")
    sampler.take({7}, 100.2, tmp_path)
    assert sampler.peaks == {"a.o": 5001 * PAGE}, "the peak stays"
    sampler.take({7}, 102.0, tmp_path)
    assert [sample.resident // PAGE for sample in sampler.samples] == [5201, 201]


def test_processes_may_vanish(tmp_path: Path) -> None:
    add(tmp_path, 10, 1, "ninja", 1)
    (tmp_path / "11").mkdir()
    (tmp_path / "self").mkdir()
    assert set(processes_of({7}, tmp_path)) == {10}
    assert read_process(tmp_path / "12") is None
    assert output_of(12, tmp_path) is None


def test_a_real_tree_is_sampled(tmp_path: Path) -> None:
    """A program named ninja that starts one that takes 80 MB for a moment."""
    ninja = tmp_path / "ninja"
    ninja.symlink_to(sys.executable)
    child = "import time; kept = b'x' * 80_000_000; time.sleep(1.5)"
    script = f"import subprocess, sys; subprocess.run([{sys.executable!r}, '-c', {child!r}, '-o', 'big.o'])"
    sampler = MemorySampler()
    with subprocess.Popen([ninja, "-c", script], start_new_session=True) as process:
        sampler.start(process.pid)
        process.wait()
    sampler.stop()
    assert sampler.peaks["big.o"] > 80_000_000
    assert max(sample.resident for sample in sampler.samples) >= sampler.peaks["big.o"]
    assert abs(sampler.samples[0].time - time.time()) < 60
