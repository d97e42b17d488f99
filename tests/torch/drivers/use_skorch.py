import numpy
from skorch import NeuralNetRegressor

import torch

torch.manual_seed(0)
numpy.random.seed(0)
x, y = numpy.random.randn(20, 3).astype("float32"), numpy.random.randn(20, 1).astype("float32")
net = NeuralNetRegressor(torch.nn.Linear, module__in_features=3, module__out_features=1, max_epochs=3, verbose=0)
print(torch.from_numpy(net.fit(x, y).predict(x[:4])))
