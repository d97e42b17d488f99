"""`slipway report` after a real ship, looked at with a real browser."""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import subprocess
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .conftest import RECIPES

if TYPE_CHECKING:
    from .conftest import Slipway


BOTH = """\
addEventListener("load", () => {
  const chart = document.querySelector(".lanes.chart");
  chart.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
  document.body.dataset.tip = document.getElementById("tip").textContent;
  const head = document.querySelector("[data-sortable] th");
  head.click();
  document.body.dataset.first = document.querySelector("[data-sortable] tbody td").textContent;
  const filter = document.querySelector("[data-filter]");
  filter.value = "HELLO.cpp";
  filter.dispatchEvent(new Event("input"));
  const rows = [...document.querySelectorAll("#steps [data-sortable] tbody tr")];
  document.body.dataset.left = rows.filter((row) => !row.hidden).length;
  document.body.dataset.wide = document.documentElement.scrollWidth - innerWidth;
  document.body.dataset.errors = errors.join(";");
});
"""


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dist folder after `slipway ship` of a recipe with CMake and Ninja."""
    dist = tmp_path_factory.mktemp("report") / "dist"
    launcher = Path(__file__).resolve().parents[2] / "slipway"
    answer = subprocess.run(
        [launcher, "ship", RECIPES / "hello", "--dist", dist], capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return dist


def browse(page: Path, *options: str) -> str:
    """What Chromium prints about the page, without a network."""
    program = shutil.which("chromium")
    assert program, "Debian's package chromium is needed; .ci/run installs it"
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium refuses to sandbox what root starts
    return subprocess.run(
        [
            *(program, "--headless", *sandbox, "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"),
            *("--no-first-run", f"--user-data-dir={page.parent / 'browser'}", "--virtual-time-budget=3000"),
            *("--proxy-server=127.0.0.1:9", "--disable-background-networking", "--enable-logging=stderr", "--v=0"),
            *(*options, f"file://{page}"),
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    ).stdout


def colours(png: Path) -> set[bytes]:
    """Every colour of an unpacked PNG (8 bits, RGB or RGBA), sampled; filters undone as the format says."""
    data = png.read_bytes()
    width, height, _, kind = struct.unpack(">IIBB", data[16:26])
    size = {2: 3, 6: 4}[kind]
    packed, at = b"", 8
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at : at + 8])
        packed += data[at + 8 : at + 8 + length] if name == b"IDAT" else b""
        at += 12 + length
    raw = zlib.decompress(packed)
    before, found = bytearray(width * size), set()
    for row in range(height):
        start = row * (width * size + 1)
        line = bytearray(raw[start + 1 : start + 1 + width * size])
        for index in range(len(line)):
            left = line[index - size] if index >= size else 0
            corner = before[index - size] if index >= size else 0
            up = before[index]
            paeth = min((left, up, corner), key=lambda v: abs(left + up - corner - v))
            line[index] = (line[index] + (0, left, up, (left + up) // 2, paeth)[raw[start]]) & 255
        before = line
        found |= {bytes(line[index : index + 3]) for index in range(0, len(line), size * 7)}
    return found


def test_ship_writes_the_report(shipped: Path) -> None:
    text = (shipped / "report.html").read_text(encoding="utf-8")
    assert re.search(r'data-tip="hello\.cpp: [\d.]+ m?s', text), "Ninja's steps are there"
    assert re.search(r'data-tip="lib/libhello\.so: [\d.]+ kB', text), "and the package's files"


def test_text_and_json_tell_the_same(slipway: Slipway, shipped: Path) -> None:
    text = slipway("report", "--text", "--dist", shipped)
    assert text.returncode == 0, text.stderr
    facts = json.loads(slipway("report", "--json", "--dist", shipped).stdout)
    (output,) = facts["outputs"]
    assert " ".join(output["key"].rsplit("-", 2)) in text.stdout
    assert max(map(len, text.stdout.splitlines())) <= 80
    assert {step["output"] for step in output["record"]["steps"]} >= {"libhello.so", "CMakeFiles/hello.dir/hello.cpp.o"}
    assert {phase["phase"] for phase in output["record"]["phases"]} >= {"configure", "compile", "packing", "testing"}
    assert output["record"]["samples"], "the memory of the build was sampled"
    assert any(module["name"] == "hello" for _, module in facts["modules"])
    assert facts["packages"][0]["files"]


def test_a_browser_shows_it(shipped: Path, tmp_path: Path) -> None:
    text = (shipped / "report.html").read_text(encoding="utf-8")
    watch = "<script>var errors = []; addEventListener('error', (event) => errors.push(event.message));</script>"
    page = tmp_path / "report.html"
    page.write_text(text.replace("<head>", f"<head>{watch}").replace("</body>", f"<script>{BOTH}</script></body>"))
    shown = browse(page, "--window-size=1366,768", "--dump-dom")
    body = re.search(r"<body([^>]*)>", shown)
    assert body is not None
    said = dict(re.findall(r'data-(\w+)="([^"]*)"', body[1]))
    assert said["errors"] == ""
    assert re.match(r"\S+: [\d.]+ m?s", said["tip"]), "arrow keys walk through the steps"
    assert said["first"] in ("libhello.so", "hello.cpp")
    assert said["left"] == "1", "the filter leaves hello.cpp alone"
    assert int(said["wide"]) <= 0, "a laptop's screen is wide enough"


@pytest.mark.parametrize("dark", [False, True])
def test_screenshots_follow_the_colour_scheme(shipped: Path, tmp_path: Path, dark: bool) -> None:
    page = tmp_path / "report.html"
    shutil.copyfile(shipped / "report.html", page)
    picture = tmp_path / "report.png"
    scheme = ["--force-dark-mode"] if dark else []
    browse(page, "--window-size=1366,768", f"--screenshot={picture}", *scheme)
    found = colours(picture)
    light_page, dark_page = bytes.fromhex("f6f7f9"), bytes.fromhex("0f1217")
    assert (dark_page in found, light_page in found) == (dark, not dark)
    assert bytes.fromhex("6ea3f5" if dark else "2f6fd0") in found, "the timeline's compile phase is drawn"


def test_a_second_ship_reports_what_was_reused(slipway: Slipway, shipped: Path) -> None:
    assert slipway("ship", RECIPES / "hello", "--dist", shipped).returncode == 0
    text = slipway("report", "--text", "--dist", shipped).stdout
    assert "up to date" in text
    assert "(from an earlier run)" in text
    assert len(list((shipped / "logs/runs").glob("*.jsonl"))) == 2


def test_a_failed_build_has_its_report(slipway: Slipway, tmp_path: Path) -> None:
    recipe = tmp_path / "recipe"
    shutil.copytree(RECIPES / "hello", recipe)
    script = (recipe / "build.sh").read_text(encoding="utf-8")
    (recipe / "build.sh").write_text(script + "\nexit 7\n", encoding="utf-8")
    dist = tmp_path / "dist"
    assert slipway("ship", recipe, "--dist", dist).returncode == 8
    text = slipway("report", "--text", "--dist", dist).stdout
    assert text.startswith("slipway ship: failed in ")
    assert "hello.cpp" in text, "what was compiled before the failure is there"
    assert "its build script failed: the command `exit 7` (build.sh:6) at: " in " ".join(text.split())
    assert "What went wrong" in (dist / "report.html").read_text(encoding="utf-8")


def test_nothing_to_report(slipway: Slipway, tmp_path: Path) -> None:
    answer = slipway("report", "--dist", tmp_path)
    assert answer.returncode == 2
    assert "error: there is no run to report on" in answer.stderr
    assert "  hint: " in answer.stderr
