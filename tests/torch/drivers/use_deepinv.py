import deepinv as dinv

import torch

torch.manual_seed(0)
p = dinv.physics.Blur(filter=dinv.physics.blur.gaussian_blur(sigma=1.0))
x = torch.rand(1, 1, 24, 24)
y = p(x)
print(y.shape, f"{y.sum():.4f} {p.A_adjoint(y).sum():.4f} {p.A_dagger(y).sum():.3f}")
m = dinv.optim.optim_builder(
    "PGD",
    prior=dinv.optim.TVPrior(n_it_max=20),
    data_fidelity=dinv.optim.L2(),
    params_algo={"stepsize": 1.0, "lambda": 1e-2},
    max_iter=5,
)
print(f"{m(y, p).sum():.3f}")
u = dinv.models.UNet(1, 1, scales=2)
print(f"{dinv.loss.SupLoss()(u(y), x if y.shape == x.shape else y).mean().item():.4f}")
