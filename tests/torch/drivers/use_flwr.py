from flwr.app import ArrayRecord

import torch

m = torch.nn.Linear(2, 2)
a = ArrayRecord(m.state_dict())
m.load_state_dict(a.to_torch_state_dict())
print(len(a))
