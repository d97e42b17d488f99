import pyro
import pyro.distributions as dist
from pyro.infer import SVI, Trace_ELBO
from pyro.infer.autoguide import AutoNormal

import torch

pyro.set_rng_seed(0)
data = torch.randn(20) + 3


def model(data):
    mean = pyro.sample("mean", dist.Normal(0.0, 10.0))
    with pyro.plate("data", len(data)):
        pyro.sample("obs", dist.Normal(mean, 1.0), obs=data)


guide = AutoNormal(model)
svi = SVI(model, guide, pyro.optim.Adam({"lr": 0.05}), Trace_ELBO())
losses = [svi.step(data) for _ in range(20)]
print(torch.tensor(losses[-1]), guide.median()["mean"])
