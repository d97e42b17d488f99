import logging

import torchensemble

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.disable(logging.CRITICAL)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))

    def forward(self, x):
        return self.layers(x)


torch.manual_seed(0)
x = torch.randn(40, 4)
data = DataLoader(TensorDataset(x, (x[:, 0] > 0).long()), batch_size=10)
for kind in (torchensemble.FusionClassifier, torchensemble.SnapshotEnsembleClassifier):
    model = kind(estimator=Net, n_estimators=2, cuda=False)
    model.set_optimizer("Adam", lr=0.02)
    model.fit(data, epochs=4, save_model=False, log_interval=100)
    print(kind.__name__, model.evaluate(data))
