import schedulefree

import torch

x = torch.linspace(-1, 1, 10)[:, None]
for Optimizer in (schedulefree.AdamWScheduleFree, schedulefree.SGDScheduleFree, schedulefree.RAdamScheduleFree):
    torch.manual_seed(0)
    m = torch.nn.Linear(1, 3)
    o = Optimizer(m.parameters(), lr=0.1)
    o.train()
    for _ in range(5):
        o.zero_grad()
        (m(x) ** 2).mean().backward()
        o.step()
    o.eval()
    print(Optimizer.__name__, m.weight)
