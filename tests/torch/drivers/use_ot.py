import ot

import torch

torch.manual_seed(0)
x, y = torch.randn(6, 2, dtype=torch.float64), torch.randn(5, 2, dtype=torch.float64) + 1
a = torch.full((6,), 1 / 6, dtype=torch.float64)
b = torch.full((5,), 1 / 5, dtype=torch.float64, requires_grad=True)
x.requires_grad_()
cost = ot.dist(x, y)
loss = ot.emd2(a, b, cost)
loss.backward()
print(f"{loss.item():.6f}", x.grad, b.grad)
plan = ot.sinkhorn(a, b.detach(), cost.detach(), reg=0.5)
print(plan, plan.sum(0))
print(f"{ot.sliced_wasserstein_distance(x.detach(), y, n_projections=20, seed=1).item():.6f}")
print(f"{ot.gromov.gromov_wasserstein2(ot.dist(x.detach(), x.detach()), ot.dist(y, y), a, b.detach()).item():.6f}")
print(ot.unbalanced.sinkhorn_unbalanced(a, b.detach(), cost.detach(), 0.5, 1.0).sum())
print(ot.lp.barycenter(torch.stack([a, a.flip(0)], 1), ot.dist(x.detach(), x.detach()), solver="highs")[:3])
