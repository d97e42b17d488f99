"""The live display: names stay whole, and the bar over all packages goes by what earlier builds took."""

from __future__ import annotations

import io
import json
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from slipway.live import LiveReporter
from slipway.observe.history import expected_seconds
from slipway.pipeline.run import Whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TITLE = "[1/3] libtorch-cuda 2.13.0a0 cuda130_h439339d_0"
LAUNCHER = Path(__file__).parents[2] / "slipway"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Sets the time."""
    now = [0.0]
    monkeypatch.setattr("slipway.live.time.monotonic", lambda: now[0])

    def set_time(seconds: float) -> None:
        now[0] = seconds

    return set_time


@pytest.fixture
def reporter() -> Iterator[LiveReporter]:
    found = LiveReporter()
    found.console = Console(width=80, force_terminal=True, file=io.StringIO())
    with found.live():
        yield found


def shown(reporter: LiveReporter, width: int = 80) -> list[str]:
    assert reporter.progress is not None
    out = io.StringIO()
    Console(width=width, file=out).print(reporter.progress.get_renderable())
    return out.getvalue().splitlines()


def test_names_are_whole_at_80_columns(reporter: LiveReporter) -> None:
    with reporter.task("all packages", total=200, unit="seconds"), reporter.step(TITLE), reporter.task("name") as task:
        task.update(
            completed=12, total=300, text="Building CUDA object aten/CMakeFiles/torch_cuda.dir/a_long_name.cu.o"
        )
        whole, step, ninja = shown(reporter)
    assert TITLE in step
    assert max(map(len, (whole, step, ninja))) <= 80
    assert "3:20 left" in whole
    assert "[12/300]" in ninja


class Terminal(io.StringIO):
    """What a terminal shows that breaks lines which are too long, also those that are when it gets narrower."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width
        self.lines = [""]  # as they were written; each takes rows
        self.row = 0  # the cursor's, counted from above

    def rows(self) -> list[tuple[int, str]]:
        """Every row, with the number of its line."""
        return [
            (number, line[start : start + self.width])
            for number, line in enumerate(self.lines)
            for start in range(0, max(len(line), 1), self.width)
        ]

    def resize(self, width: int) -> None:
        below = len(self.rows()) - self.row
        self.width = width
        self.row = len(self.rows()) - below

    def write(self, text: str) -> int:
        for code, end, plain in re.findall(r"\x1b\[([?\d;]*)([a-zA-Z])|([^\x1b])", text):
            number = self.rows()[self.row][0]
            if end == "A":
                self.row -= int(code or 1)
            elif end == "K":
                rows = [(line, "" if at == self.row else row) for at, (line, row) in enumerate(self.rows())]
                self.lines = [row for _, row in rows]
            elif plain == "\n":
                self.row += 1
                if self.row == len(self.rows()):
                    self.lines.append("")
            elif plain and plain != "\r":
                self.lines[number] += plain
                self.row += len(self.lines[number]) > self.width and len(self.lines[number]) % self.width == 1
        return len(text)


def test_lines_stay_whole_while_the_terminal_is_resized() -> None:
    terminal = Terminal(110)
    reporter = LiveReporter()
    reporter.console = Console(force_terminal=True, file=terminal, width=110, color_system=None, legacy_windows=False)
    with reporter.live(), reporter.task("all packages", total=9), reporter.step(TITLE):
        assert reporter.progress is not None
        reporter.progress.live.auto_refresh = False
        for position, width in enumerate((110, 70, 52, 80, 60)):
            terminal.resize(width)
            reporter.console.width = width
            reporter.progress.refresh()
            reporter.line(f"line {position}")
            reporter.progress.refresh()
            shown = [line.strip() for line in terminal.lines if line.strip()]
            assert shown[: position + 1] == [f"line {number}" for number in range(position + 1)]
            assert len(shown) == position + 3, f"the display is there twice: {shown}"
    shown = [line.strip() for line in terminal.lines if line.strip()]
    assert len(shown) == 6, shown
    assert TITLE in shown[-1]


def test_time_left_goes_on_by_itself_and_by_what_is_done(
    reporter: LiveReporter, clock: Callable[[float], None]
) -> None:
    with reporter.task("all packages", total=200, unit="seconds") as task:
        clock(80.0)
        assert "2:00 left" in shown(reporter)[0]
        clock(1000.0)
        assert "0:02 left" in shown(reporter)[0], "it takes longer than the last time: the end is never passed"
        task.update(completed=150)
        assert "0:50 left" in shown(reporter)[0]


def test_what_earlier_builds_took(tmp_path: Path) -> None:
    assert expected_seconds(tmp_path, ["a"]) == []
    for name, seconds in (("a", 10.0), ("b", 30.0)):
        phases = [{"phase": "script", "start": 100.0, "end": 100.0 + seconds}]
        record = {"format": 2, "key": f"{name}-1-0", "name": name, "jobs": 1, "phases": phases}
        (tmp_path / f"{name}-1-0.build.json").write_text(json.dumps(record), encoding="utf-8")
    assert expected_seconds(tmp_path, ["a", "new", "b"]) == [10.0, 20.0, 30.0]


def test_done_packages_count_with_their_expected_time(reporter: LiveReporter) -> None:
    with reporter.task("all packages", total=40, unit="seconds") as task:
        whole = Whole(task, {"a-1-0": 10.0, "b-1-0": 30.0})
        whole.built("up-to-date-1-0")
        assert "0:40 left" in shown(reporter)[0]
        whole.built("a-1-0")
        assert "0:30 left" in shown(reporter)[0]


def test_the_launcher_counts_packages(tmp_path: Path) -> None:
    """What it makes of pip's lines, on a terminal."""
    text = LAUNCHER.read_text(encoding="utf-8")
    function = text[text.index("show_progress() {") : text.index("# Prefers the host's pip")]
    lock = tmp_path / "lock"
    lock.write_text("a==1 \\\n    --hash=x\nb==2 \\\n    --hash=y\n", encoding="utf-8")
    lines = (
        "Collecting a==1 (from -r lock)\n  Using cached a.whl\nCollecting b==2\nInstalling collected packages: a, b\n"
    )
    command = ["sh", "-euc", f'lock="{lock}"\n{function}\nshow_progress']
    said = subprocess.run(command, input=lines.encode(), capture_output=True, check=True).stderr.decode()
    drawn = [part.removeprefix("\x1b[K").strip() for part in said.split("\r")]
    assert drawn == ["", "1 of 2: a==1", "1 of 2: a==1", "2 of 2: b==2", "installing 2 packages", ""]
