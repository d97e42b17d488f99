import os

os.environ["DDE_BACKEND"] = "pytorch"
import deepxde as dde
import numpy as np

import torch

dde.config.set_random_seed(0)


def pde(x, y):
    return -dde.grad.hessian(y, x) - np.pi**2 * torch.sin(np.pi * x)


geom = dde.geometry.Interval(-1, 1)
bc = dde.icbc.DirichletBC(geom, lambda x: 0, lambda x, on: on)
data = dde.data.PDE(geom, pde, bc, 16, 2, num_test=10)
net = dde.nn.FNN([1, 20, 20, 1], "tanh", "Glorot uniform")
m = dde.Model(data, net)
m.compile("adam", lr=1e-3, verbose=0)
h, s = m.train(iterations=50, display_every=50, verbose=0)
print([round(float(v), 4) for v in h.loss_train[-1]])
m.compile("L-BFGS", verbose=0)
dde.optimizers.set_LBFGS_options(maxiter=20)
h, s = m.train(verbose=0)
print(len(h.loss_train) > 1)
