from entmax import entmax15, entmax_bisect, sparsemax

import torch

x = torch.tensor([[0.5, -1.0, 2.0, 1.5]], requires_grad=True)
(entmax15(x, dim=-1) * torch.arange(4.0)).sum().backward()
print(sparsemax(x, dim=-1), entmax15(x, dim=-1), entmax_bisect(x, alpha=1.3), x.grad)
