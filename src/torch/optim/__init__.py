"""Optimizers and learning-rate schedules. The steps are PyTorch's, operation by operation."""

from torch.optim import lr_scheduler
from torch.optim.adam import Adam, AdamW
from torch.optim.optimizer import Optimizer
from torch.optim.rmsprop import RMSprop
from torch.optim.sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer", "RMSprop", "lr_scheduler"]
