from fastai.basics import DataBlock, DataLoaders, Learner, accuracy, set_seed
from fastai.callback.schedule import fit_one_cycle  # noqa: F401
from fastai.layers import ConvLayer, Flatten
from fastai.optimizer import Adam, ranger

import torch

set_seed(0, reproducible=True)
x = torch.randn(48, 1, 8, 8)
y = (x.mean((1, 2, 3)) > 0).long()
train = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x[:32], y[:32]), 8)
valid = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x[32:], y[32:]), 8)
loaders = DataLoaders(train, valid, device="cpu")
for optimizer in (Adam, ranger):
    set_seed(1, reproducible=True)
    net = torch.nn.Sequential(ConvLayer(1, 4), torch.nn.AdaptiveAvgPool2d(2), Flatten(), torch.nn.Linear(16, 2))
    learner = Learner(loaders, net, loss_func=torch.nn.CrossEntropyLoss(), opt_func=optimizer, metrics=accuracy)
    with learner.no_bar(), learner.no_logging():
        learner.fit_one_cycle(2, 0.01)
    print([[round(float(value), 4) for value in row] for row in learner.recorder.values], DataBlock.__name__)
