import geoopt

import torch

torch.manual_seed(0)
ball = geoopt.PoincareBall()
point = geoopt.ManifoldParameter(ball.random(3, 4), manifold=ball)
target = ball.random(3, 4)
optimizer = geoopt.optim.RiemannianAdam([point], lr=0.1)
for _ in range(5):
    optimizer.zero_grad()
    loss = ball.dist(point, target).square().mean()
    loss.backward()
    optimizer.step()
print(loss.detach(), point.detach())
manifold = geoopt.Stiefel()
stiefel = geoopt.ManifoldParameter(manifold.random(4, 2), manifold=manifold)
optimizer = geoopt.optim.RiemannianSGD([stiefel], lr=0.1)
(stiefel * torch.arange(8.0).view(4, 2)).sum().backward()
optimizer.step()
print(stiefel.detach())
