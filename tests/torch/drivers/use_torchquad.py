from torchquad import VEGAS, Boole, GaussLegendre, MonteCarlo, Simpson, Trapezoid, set_log_level, set_up_backend

import torch

set_log_level("ERROR")
set_up_backend("torch", data_type="float64")


def function(x):
    return torch.sin(x[:, 0]) + torch.exp(x[:, 1])


domain = [[0.0, 1.0], [-1.0, 1.0]]
for rule, points in ((Trapezoid(), 101**2), (Simpson(), 51**2), (Boole(), 41**2), (GaussLegendre(), 101)):
    print(
        type(rule).__name__,
        f"{rule.integrate(function, dim=2, N=points, integration_domain=domain, backend='torch').item():.8f}",
    )
print(
    f"{MonteCarlo().integrate(function, dim=2, N=2000, integration_domain=domain, seed=1, backend='torch').item():.8f}"
)
print(f"{VEGAS().integrate(function, dim=2, N=2000, integration_domain=domain, seed=1, backend='torch').item():.6f}")
