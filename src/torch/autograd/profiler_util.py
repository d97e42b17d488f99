"""What profiles consist of."""

from torch.autograd.profiler import EventList, FunctionEvent, Interval

__all__ = ["EventList", "FunctionEvent", "Interval"]
