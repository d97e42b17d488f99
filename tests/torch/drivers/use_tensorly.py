import tensorly as tl
from tensorly.decomposition import (
    constrained_parafac,
    non_negative_parafac,
    parafac,
    partial_tucker,
    tensor_train,
    tucker,
)
from tensorly.regression import CPRegressor

import torch

tl.set_backend("pytorch")
x = tl.tensor(
    torch.arange(24.0, dtype=torch.float64).reshape(3, 4, 2) + torch.eye(3, 4, dtype=torch.float64)[..., None]
)
x.requires_grad_()
print(tl.unfold(x.detach(), 1)[0], tl.tenalg.mode_dot(x.detach(), torch.ones(2, 4, dtype=torch.float64), 1).shape)
for function, rank in ((parafac, 2), (non_negative_parafac, 2), (tucker, [2, 2, 2]), (tensor_train, [1, 2, 2, 1])):
    options = {} if function is tensor_train else {"init": "svd", "n_iter_max": 30}
    factors = function(x.detach(), rank, **options)
    print(function.__name__, f"{tl.norm(factors.to_tensor() - x.detach()).item():.4f}")
core, factors = partial_tucker(x.detach(), [2, 2], modes=[0, 1])[0]
print(core.shape, [factor.shape for factor in factors])
tl.norm(tl.fold(tl.unfold(x, 2), 2, x.shape)).backward()
print(x.grad[0, 0])
y = x.detach().reshape(3, -1).sum(1)
print(CPRegressor(1, n_iter_max=5, verbose=0, random_state=0).fit(x.detach(), y).predict(x.detach()).shape)
print(constrained_parafac(x.detach(), 1, n_iter_max=5, non_negative=True, init="svd")[0].shape)
