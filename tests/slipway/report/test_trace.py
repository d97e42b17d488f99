"""A run as a trace: everything in its time, and nothing in one lane at once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from slipway.report.run_report import collect
from slipway.report.trace import _lanes, trace_run

from ..recorded_build import RECORD

if TYPE_CHECKING:
    from .conftest import MakeRun


def test_trace_of_a_run(make_run: MakeRun) -> None:
    trace = json.loads(json.dumps(trace_run(collect(make_run()))))
    events: list[dict[str, Any]] = trace["traceEvents"]
    names = {event["args"]["name"] for event in events if event["ph"] == "M"}
    assert names == {"slipway ship", "build libtoy"}
    spans = [event for event in events if event["ph"] == "X"]
    assert {"render the recipe", "verify", "compile"} <= {event["name"] for event in spans}
    steps = [event for event in spans if event["args"].get("kind")]
    assert len(steps) == len(RECORD.steps)
    assert all(event["dur"] >= 0 for event in spans)
    assert len([event for event in events if event["ph"] == "C"]) == len(RECORD.samples)
    assert next(event for event in spans if event["name"] == "verify")["ts"] == 8_000_000


def test_lanes_hold_one_thing_at_a_time() -> None:
    spans = [
        (name, start, end, {}) for name, start, end in (("a", 0, 4), ("b", 1, 2), ("c", 2, 5), ("d", 3, 4), ("e", 4, 6))
    ]
    lanes = {event["name"]: event["tid"] for event in _lanes(1, spans, 0.0)}
    assert lanes == {"a": 1, "b": 2, "c": 2, "d": 3, "e": 1}
