import warnings

import botorch
from botorch.acquisition import LogExpectedImprovement, qExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from botorch.test_functions import Branin
from gpytorch.mlls import ExactMarginalLogLikelihood

import torch

warnings.simplefilter("ignore")
botorch.utils.sampling.manual_seed(0)
torch.manual_seed(0)
x = torch.rand(8, 2, dtype=torch.float64)
y = (x * 6).sin().sum(1, keepdim=True)
model = SingleTaskGP(x, y)
fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
print(model.posterior(torch.full((1, 2), 0.5, dtype=torch.float64)).mean.detach())
bounds = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.float64)
point, value = optimize_acqf(LogExpectedImprovement(model, y.max()), bounds, q=1, num_restarts=2, raw_samples=8)
print(point, value)
print(qExpectedImprovement(model, y.max())(x[:1]).detach(), Branin()(x[:2]))
