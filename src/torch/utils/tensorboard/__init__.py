"""Numbers, pictures and texts for TensorBoard. The package `tensorboard` writes the files, as for PyTorch."""

try:
    import tensorboard  # noqa: F401
except ImportError as error:
    raise ImportError("torch.utils.tensorboard needs the package tensorboard, which is not installed") from error

from torch.utils.tensorboard.writer import FileWriter, SummaryWriter

__all__ = ["FileWriter", "SummaryWriter"]
