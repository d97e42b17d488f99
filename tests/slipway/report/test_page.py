"""The page and the text say what happened; nothing in the page leads outside, and nothing in a run can break out."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from markupsafe import escape

from slipway.base.events import Failed, RunEnded, Stage, StageKey, StageStarted
from slipway.observe.record import BuildRecord, TimedStep
from slipway.report.page import render_page, write_page
from slipway.report.parts import RUN_PANELS
from slipway.report.run_report import collect
from slipway.report.text import render_text

from ..recorded_build import RECORD, START
from .conftest import EVENTS, MakeRun


class Reader(HTMLParser):
    """Collects tags, attributes and text, and checks that tags close in order."""

    VOID = frozenset(("meta", "link", "input", "br"))
    SVG = frozenset(("path", "rect"))

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == [], "tags that nobody closes"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.text.append(data.strip())

    @property
    def tips(self) -> list[str]:
        return [value for _, name, value in self.attributes if name == "data-tip"]


def test_the_page_tells_the_run(make_run: MakeRun) -> None:
    page = Reader(render_page(collect(make_run())))
    words = " ".join(filter(None, page.text))
    assert "done 2023-11-14 22:13 UTC" in words
    assert "changed src/<toy>.c" in words
    assert "4 steps in 5.0 s with 2 jobs; critical path 5.0 s" in words
    assert "needs libother.so" in words
    assert "declare it" in words
    assert "a.cpp: 3.0 s, 300.0 MB, on the critical path" in page.tips
    assert "b.cpp: 3.0 s, 200.0 MB" in page.tips
    assert any(tip.startswith("compile: 5.0 s, from 2.0 s") for tip in page.tips)
    assert any(tip.startswith("lib/libtoy.so: 9.0 kB, 90.0%") for tip in page.tips)
    assert any(tip.startswith("toy: shared library, libtoy.so; links m-extra") for tip in page.tips)


def test_page_and_text_have_the_same_panels_in_the_same_order(make_run: MakeRun) -> None:
    report = collect(make_run())
    page, text = render_page(report), render_text(report)
    shown = [panel for panel in RUN_PANELS if panel.key != "failure"]
    headlines = [f"<h2>{escape(panel.title)}</h2>" for panel in shown]
    assert sorted(headlines, key=page.index) == headlines
    assert re.findall(r'<a href="#(\w+)">', page) == [panel.key for panel in shown]
    underlined = [f"\n{panel.title}\n{'=' * len(panel.title)}\n" for panel in shown]
    assert sorted(underlined, key=text.index) == underlined


def test_a_failure_says_why(make_run: MakeRun) -> None:
    failure = Failed("`libtoy` broke", "logs/libtoy.log", "mend it", "first\n" * 20 + "the <cause>")
    report = collect(make_run((*EVENTS[:6], (9, failure), (9, RunEnded(ok=False)))))
    page = Reader(render_page(report))
    words = " ".join(filter(None, page.text))
    assert "What went wrong `libtoy` broke" in words
    assert "the <cause> logs/libtoy.log mend it" in words
    assert "0 built 0 reused as they were, 1 failed" in words
    assert "No package was judged." in words
    text = render_text(report)
    assert "first\nthe <cause>\n\n`libtoy` broke\nat: logs/libtoy.log\nhint: mend it\n" in text
    assert text.count("first\n") == 11, "the end of a log"


def test_nothing_leads_outside(make_run: MakeRun) -> None:
    text = render_page(collect(make_run()))
    loaded = [
        (name, value)
        for _, name, value in Reader(text).attributes
        if name in ("href", "src", "srcset", "action", "data", "poster") and not value.startswith("#")
    ]
    assert loaded == [("href", "data:,")]
    assert not re.search(r"https?:|@import|url\((?!#)", text)


def test_names_are_text_and_never_markup(make_run: MakeRun) -> None:
    evil = "</script><script>alert(1)</script>"
    events = tuple(
        (at, replace(event, stage=Stage(StageKey.TOP_LEVEL, evil)) if isinstance(event, StageStarted) else event)
        for at, event in EVENTS
    )
    text = render_page(collect(make_run(events)))
    assert text.count("<script>") == 1
    assert evil in " ".join(Reader(text).text)


@pytest.mark.parametrize("length", [1, 3, 5, 8])
def test_runs_that_were_cut_off(make_run: MakeRun, length: int) -> None:
    report = collect(make_run(EVENTS[:length]))
    assert "cut off" in " ".join(Reader(render_page(report)).text)
    assert "slipway ship: cut off" in render_text(report)


def test_four_hundred_steps(make_run: MakeRun) -> None:
    steps = tuple(
        TimedStep(f"CMakeFiles/x.dir/file_{n}.cpp.o", START + n / 100, START + n / 100 + 0.15) for n in range(400)
    )
    report = collect(make_run())
    record: BuildRecord = replace(RECORD, steps=steps)
    outputs = (replace(report.outputs[0], record=record), report.outputs[1])
    text = render_page(replace(report, outputs=outputs))
    assert len([tip for tip in Reader(text).tips if tip.startswith("file_")]) == 400
    assert "--lanes:15" in text
    assert len(text) < 400_000


def test_the_page_is_written_in_one_step(make_run: MakeRun) -> None:
    workspace = make_run()
    path = workspace.dist / "report.html"
    path.write_text("old", encoding="utf-8")
    write_page(collect(workspace), path)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert list(workspace.dist.glob(".report*")) == []


def test_the_text_tells_the_run(make_run: MakeRun) -> None:
    text = render_text(collect(make_run()))
    assert text.startswith("slipway ship: done in 10.0 s, 2 jobs on 4 processors\n")
    assert re.search(r"^libtoy 1.0 h0_0 +changed +src/<toy>.c +8.0 s +500 B$", text, re.MULTILINE)
    assert "critical path 5.0 s: gen.h 1.0 s > a.cpp 3.0 s > libtoy.so 1.0 s" in text
    assert re.search(r"^  compile +#{16} +5.0 s$", text, re.MULTILINE)
    assert re.search(r"^toy +shared library +libtoy +m-extra, gen$", text, re.MULTILINE)
    assert "warning   linking" in text
    assert "\x1b" not in text
