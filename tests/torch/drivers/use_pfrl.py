import numpy as np
import pfrl

import torch

torch.manual_seed(0)
np.random.seed(0)
q = torch.nn.Sequential(
    torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2), pfrl.q_functions.DiscreteActionValueHead()
)
a = pfrl.agents.DoubleDQN(
    q,
    torch.optim.Adam(q.parameters(), 1e-2),
    pfrl.replay_buffers.ReplayBuffer(100),
    0.9,
    pfrl.explorers.ConstantEpsilonGreedy(0.1, lambda: np.random.randint(2)),
    replay_start_size=8,
    minibatch_size=4,
    target_update_interval=10,
    phi=lambda x: x.astype(np.float32),
)
s = np.random.randn(4)
for _ in range(30):
    act = a.act(s)
    s = np.random.randn(4)
    a.observe(s, float(act), False, False)
print(a.get_statistics()[0:1], next(q.parameters())[0])
