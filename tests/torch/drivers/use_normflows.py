import normflows

import torch

torch.manual_seed(0)
base = normflows.distributions.DiagGaussian(2)
flows = []
for _ in range(2):
    flows += [
        normflows.flows.AffineCouplingBlock(normflows.nets.MLP([1, 8, 2], init_zeros=False)),
        normflows.flows.Permute(2, mode="swap"),
    ]
    flows += [normflows.flows.AutoregressiveRationalQuadraticSpline(2, 1, 8), normflows.flows.ActNorm(2)]
model = normflows.NormalizingFlow(base, flows)
loss = model.forward_kld(torch.randn(16, 2))
loss.backward()
print(loss.detach(), sum(p.grad.norm() for p in model.parameters() if p.grad is not None))
print(model.sample(2)[0].detach())
