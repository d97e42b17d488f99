from tensordict import TensorDict

import torch

td = TensorDict({"a": torch.arange(6.0).reshape(2, 3), "b": {"c": torch.ones(2, 1)}}, batch_size=[2])
print(td[0]["a"], torch.stack([td, td])["b", "c"].shape, (td * 2)["a"].sum(), td.apply(lambda x: x + 1)["b", "c"])
