import tempfile

from tensordict import LazyStackedTensorDict, TensorDict, TensorDictParams, tensorclass
from tensordict.nn import (
    NormalParamExtractor,
    ProbabilisticTensorDictModule,
    ProbabilisticTensorDictSequential,
    TensorDictModule,
    TensorDictSequential,
)

import torch
from torch import nn

torch.manual_seed(0)
td = TensorDict({"a": torch.arange(6.0).reshape(2, 3), "b": {"c": torch.ones(2, 1)}}, batch_size=[2])
print(td[0]["a"], torch.stack([td, td])["b", "c"].shape, (td * 2)["a"].sum(), td.apply(lambda x: x + 1)["b", "c"])
print(td)
print(
    sorted(map(str, td.keys(True, True))),
    td.flatten_keys(".").sorted_keys,
    td.view(-1).batch_size,
    td.to(torch.float64),
)
print(torch.cat([td, td], 0).shape, [part["a"].tolist() for part in td.split(1)], td.unsqueeze(0).expand(3, 2).shape)

# vmap over tensordicts, a module's parameters among them
print(torch.vmap(lambda x: x.set("d", x["a"].sum()))(td)["d"])
print(torch.vmap(lambda x, y: x["a"] * y, (0, None))(td, torch.tensor([1.0, 0.0, 2.0])))
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
params = TensorDict.from_module(net)
many = torch.stack([params, params * 0.5, params * 2], 0)


def run(weights: TensorDict, x: torch.Tensor) -> torch.Tensor:
    with weights.to_module(net):
        return net(x)


print(torch.vmap(run, (0, None))(many, td["a"]).squeeze(-1))
print(torch.func.grad(lambda weights: run(weights, td["a"]).sum())(params.data)["0", "bias"])
lazy = LazyStackedTensorDict.lazy_stack([params.data, params.data * 2])
print(torch.vmap(run, (0, None))(lazy, td["a"]).shape, lazy[1]["2", "bias"])

# modules
first = TensorDictModule(nn.Linear(3, 4), in_keys=["a"], out_keys=[("h", "x")])
second = TensorDictModule(lambda x: x.relu().sum(-1), in_keys=[("h", "x")], out_keys=["y"])
sequence = TensorDictSequential(first, second)
print(sequence(td.clone())["y"], sequence.select_subsequence(out_keys=[("h", "x")]).in_keys)
actor = ProbabilisticTensorDictSequential(
    TensorDictModule(nn.Sequential(nn.Linear(3, 4), NormalParamExtractor()), in_keys=["a"], out_keys=["loc", "scale"]),
    ProbabilisticTensorDictModule(
        in_keys=["loc", "scale"],
        out_keys=["action"],
        distribution_class=torch.distributions.Normal,
        return_log_prob=True,
    ),
)
out = actor(td.clone())
print(out["loc"].detach(), out["scale"].detach(), out["action"].shape)

# training tensordicts of parameters, files, classes
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
held = TensorDictParams(TensorDict.from_module(net).data.clone())
optimizer = torch.optim.SGD(held.parameters(), 0.1)
for _ in range(3):
    loss = (run(held, td["a"]) - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.5f}", len(list(held.parameters())))
with tempfile.TemporaryDirectory() as folder:
    td.memmap(folder)
    print(TensorDict.load_memmap(folder)["b", "c"])
    torch.save(td, f"{folder}/td.pt")
    print((torch.load(f"{folder}/td.pt", weights_only=False) == td).all())


@tensorclass
class Sample:
    image: torch.Tensor
    label: str


sample = Sample(image=torch.zeros(2, 3), label="two", batch_size=[2])
print(sample[0], torch.stack([sample, sample]).shape, sample.label)
