import numpy as np
from poutyne import Model

import torch

torch.manual_seed(0)
np.random.seed(0)
m = Model(torch.nn.Linear(4, 2), "sgd", "cross_entropy", batch_metrics=["accuracy"], epoch_metrics=["f1"])
x, y = torch.randn(40, 4), torch.randint(0, 2, (40,))
h = m.fit(x.numpy(), y.numpy(), epochs=2, batch_size=8, verbose=False)
print([{k: round(float(v), 4) for k, v in e.items() if k != "time"} for e in h])
