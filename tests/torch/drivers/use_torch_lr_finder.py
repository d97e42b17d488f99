import pytorch_warmup as warmup
from torch_lr_finder import LRFinder

import torch

torch.manual_seed(0)
m = torch.nn.Linear(4, 2)
o = torch.optim.SGD(m.parameters(), 1e-4)
dl = torch.utils.data.DataLoader(
    torch.utils.data.TensorDataset(torch.randn(32, 4), torch.randint(0, 2, (32,))), batch_size=8
)
f = LRFinder(m, o, torch.nn.CrossEntropyLoss(), device="cpu")
f.range_test(dl, end_lr=1, num_iter=10)
print([round(v, 4) for v in f.history["loss"]])
f.reset()
w = warmup.UntunedLinearWarmup(torch.optim.Adam(m.parameters(), 0.1))
