"""How an engine's worker marks the lines of its log; of its own, because a worker starts for every build and test."""

PHASE_MARK = "==> "
"""Begins a line that opens a new phase."""
