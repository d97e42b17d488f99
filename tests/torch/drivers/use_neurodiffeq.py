import numpy as np
from neurodiffeq import diff
from neurodiffeq.conditions import IVP
from neurodiffeq.solvers import Solver1D

import torch

torch.manual_seed(0)
np.random.seed(0)
s = Solver1D(ode_system=lambda u, t: [diff(u, t) + u], conditions=[IVP(t_0=0.0, u_0=1.0)], t_min=0.1, t_max=1.0)
s.fit(max_epochs=5)
print([round(float(v), 5) for v in s.metrics_history["train_loss"]])
