import torch_pruning as tp

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.second, self.head = nn.Conv2d(8, 8, 3, padding=1), nn.Linear(8, 5)

    def forward(self, x):
        x = self.norm(self.first(x)).relu()
        return self.head((x + self.second(x)).mean((2, 3)))


torch.manual_seed(0)
net, x = Block(), torch.randn(2, 3, 8, 8)
print(tp.utils.count_ops_and_params(net, x))
pruner = tp.pruner.MagnitudePruner(
    net, x, importance=tp.importance.MagnitudeImportance(p=2), pruning_ratio=0.5, ignored_layers=[net.head]
)
pruner.step()
print(net, tp.utils.count_ops_and_params(net, x), net(x)[0].detach())
