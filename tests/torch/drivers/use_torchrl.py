import logging

from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torchrl.data import LazyTensorStorage, TensorDictReplayBuffer
from torchrl.modules import MLP, NormalParamExtractor, ProbabilisticActor, QValueActor, TanhNormal, ValueOperator
from torchrl.objectives import ClipPPOLoss, DQNLoss
from torchrl.objectives.value import GAE

import torch

torch.manual_seed(0)
logging.getLogger("torchrl").setLevel(logging.ERROR)
net = torch.nn.Sequential(MLP(in_features=3, out_features=4, num_cells=[16]), NormalParamExtractor())
actor = ProbabilisticActor(
    TensorDictModule(net, ["observation"], ["loc", "scale"]),
    in_keys=["loc", "scale"],
    distribution_class=TanhNormal,
    return_log_prob=True,
)
value = ValueOperator(MLP(in_features=3, out_features=1, num_cells=[16]), in_keys=["observation"])
td = TensorDict(
    {
        "observation": torch.randn(8, 3),
        "next": TensorDict(
            {
                "observation": torch.randn(8, 3),
                "reward": torch.randn(8, 1),
                "done": torch.zeros(8, 1, dtype=torch.bool),
                "terminated": torch.zeros(8, 1, dtype=torch.bool),
            },
            [8],
        ),
    },
    [8],
)
td = actor(td).detach()
GAE(gamma=0.9, lmbda=0.9, value_network=value)(td)
loss = ClipPPOLoss(actor, value)
out = loss(td)
s = out["loss_objective"] + out["loss_critic"] + out["loss_entropy"]
s.backward()
print({k: round(v.item(), 4) for k, v in sorted(out.items()) if v.numel() == 1 and k.startswith("loss")})
print(round(sum(float(p.grad.abs().sum()) for p in loss.parameters() if p.grad is not None), 4))
q = QValueActor(MLP(in_features=3, out_features=4, num_cells=[8]), in_keys=["observation"], action_space="categorical")
d = DQNLoss(q, action_space="categorical")
d.make_value_estimator(gamma=0.9)
td2 = q(td.select("observation", "next").clone())
print(round(d(td2)["loss"].item(), 4))
rb = TensorDictReplayBuffer(storage=LazyTensorStorage(20), batch_size=4, priority_key="p")
rb.extend(td.clone())
print(rb.sample().shape, len(rb))
