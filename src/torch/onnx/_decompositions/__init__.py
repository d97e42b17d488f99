"""Functions whose translation is other functions of torch: these run, and their parts are recorded."""

from torch.onnx._decompositions import functions, losses, pooling, statistics, transforms
from torch.onnx._decompositions.table import DECOMPOSITIONS

__all__ = ["DECOMPOSITIONS", "functions", "losses", "pooling", "statistics", "transforms"]
