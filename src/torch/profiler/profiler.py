"""The profiles of `torch.profiler`."""

from torch.profiler import (
    ExecutionTraceObserver,
    ProfilerAction,
    profile,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)

__all__ = [
    "ExecutionTraceObserver",
    "ProfilerAction",
    "profile",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]


def _default_schedule_fn(_: int) -> ProfilerAction:
    """The schedule of a profile without one: every step is recorded."""
    return ProfilerAction.RECORD
