import torchbnn as bnn

import torch
from torch import nn

torch.manual_seed(0)
layers = [bnn.BayesLinear(prior_mu=0, prior_sigma=0.1, in_features=4, out_features=8), nn.ReLU()]
model = nn.Sequential(*layers, bnn.BayesLinear(prior_mu=0, prior_sigma=0.1, in_features=8, out_features=3))
steps = torch.optim.Adam(model.parameters(), lr=0.01)
divergence = bnn.BKLLoss(reduction="mean", last_layer_only=False)
x, classes = torch.randn(20, 4), torch.randint(3, (20,))
for _ in range(3):
    loss = nn.functional.cross_entropy(model(x), classes) + 0.1 * divergence(model).squeeze()
    steps.zero_grad()
    loss.backward()
    steps.step()
    print(loss.detach())
