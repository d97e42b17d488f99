from blitz.modules import BayesianConv2d, BayesianLinear, BayesianLSTM
from blitz.utils import variational_estimator

import torch
from torch import nn


@variational_estimator
class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = BayesianLinear(3, 8), BayesianLinear(8, 1)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


torch.manual_seed(0)
model = Regressor()
steps = torch.optim.Adam(model.parameters(), lr=0.01)
x = torch.randn(16, 3)
for _ in range(3):
    steps.zero_grad()
    loss = model.sample_elbo(inputs=x, labels=x.sum(1, keepdim=True), criterion=nn.MSELoss(), sample_nbr=2)
    loss.backward()
    steps.step()
    print(loss.detach())
print(BayesianConv2d(2, 3, (3, 3))(torch.ones(1, 2, 5, 5)).sum(), BayesianLSTM(3, 4)(torch.ones(2, 5, 3))[0].sum())
