"""AdamW stands beside Adam, of which it is one form."""

from torch.optim._functional import functional
from torch.optim.adam import AdamW

__all__ = ["AdamW"]

adamw = functional(AdamW, "adamw", "exp_avg exp_avg_sq max_exp_avg_sq step", decoupled_weight_decay=True)
