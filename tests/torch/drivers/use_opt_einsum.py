import opt_einsum

import torch

torch.manual_seed(0)
a, b, c = torch.randn(3, 4), torch.randn(4, 5), torch.randn(5, 2)
print(opt_einsum.contract("ij,jk,kl->il", a, b, c), opt_einsum.contract_path("ij,jk,kl->il", a, b, c)[0])
print(opt_einsum.contract_expression("ij,jk->ik", (3, 4), (4, 5))(a, b, backend="torch").sum())
print(torch.einsum("ij,jk,kl->il", a, b, c).sum())
