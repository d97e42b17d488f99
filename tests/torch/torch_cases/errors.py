"""Wrong calls: the type and the text of what is raised."""

from __future__ import annotations

from typing import Any

from torch_golden import Case

# In the golden file with their text: the same words as PyTorch's.
SAME_TEXT = (
    "torch.ones(2) + torch.ones(3)",
    "torch.ones(2, 3) @ torch.ones(2, 3)",
    "torch.mm(torch.ones(2), torch.ones(2, 2))",
    "torch.ones(3).view(2, 2)",
    "torch.ones(3).reshape(2, 2)",
    "torch.ones(2, 3).t().view(6)",
    "torch.ones(2)[5]",
    "torch.ones(2, 3).sum(5)",
    "torch.ones(2, 2, 2).t()",
    "torch.ones(2).backward()",
    "torch.ones(2, requires_grad=True).backward()",
    "(lambda y: (y.backward(), y.backward()))(torch.ones(1, requires_grad=True).exp().sum())",
    "torch.ones(2, requires_grad=True).add_(1)",
    "torch.ones(2, requires_grad=True).numpy()",
    "bool(torch.ones(2))",
    "torch.ones(2).item()",
    "torch.cat([torch.ones(2), torch.ones(2, 2)])",
    "torch.stack([torch.ones(2), torch.ones(3)])",
    "torch.zeros(2).expand(3)",
    "torch.zeros(2, 3).permute(0, 0)",
    "torch.zeros(2).squeeze(3)",
    "iter(torch.tensor(1))",
    "len(torch.tensor(1))",
    "torch.tensor([[1, 2], [3]])",
    "torch.randint(3, 3, (1,))",
    "torch.linspace(0, 1, -1)",
    "torch.arange(0, 1, 0)",
    "torch.arange(0, 1, -1)",
    "nn.Linear(2, 3)(torch.ones(4))",
    "nn.Linear(2, 3)(torch.ones(1, 4))",
    "nn.functional.cross_entropy(torch.ones(2, 3), torch.tensor([0, 3]))",
    "nn.functional.nll_loss(torch.ones(2, 3), torch.tensor([0]))",
    "nn.functional.mse_loss(torch.ones(2), torch.ones(2), reduction='no')",
    "nn.functional.dropout(torch.ones(2), 1.5)",
    "nn.functional.embedding(torch.tensor([5]), torch.ones(2, 2))",
    "nn.functional.binary_cross_entropy(torch.ones(2), torch.ones(3))",
    "nn.Dropout(2.0)",
    "nn.Module()(1)",
    "nn.Linear(2, 2).foo",
    "nn.Linear(2, 2).register_parameter('a.b', None)",
    "setattr(nn.Linear(2, 2), 'weight', 3)",
    "nn.Linear(2, 2).register_buffer('weight', None)",
    "nn.Linear(2, 2).load_state_dict({'weight': torch.ones(3, 2), 'x': torch.ones(1)})",
    "nn.Linear(2, 2).load_state_dict([1])",
    "nn.Sequential(nn.Linear(1, 1))[3]",
    "nn.Sequential(3)",
    "nn.ModuleList([nn.ReLU()])[1]",
    "nn.Linear(2, 2).to(torch.int64)",
    "nn.Linear(2, 2).get_submodule('a.b')",
    "nn.init.kaiming_uniform_(torch.zeros(2))",
    "nn.init.calculate_gain('swish')",
    "torch.optim.SGD([], lr=0.1)",
    "torch.optim.SGD([torch.ones(1)], lr=-1)",
    "torch.optim.SGD([torch.ones(1)], lr=0.1, nesterov=True)",
    "torch.optim.SGD([1], lr=0.1)",
    "torch.optim.Adam([torch.ones(1)], betas=(1.0, 0.9))",
    "torch.optim.SGD([torch.ones(1, requires_grad=True) * 2], lr=0.1)",
    "torch.utils.data.random_split(range(5), [1, 2])",
    "torch.utils.data.DataLoader(range(5), shuffle=True, sampler=[0])",
    "torch.utils.data.DataLoader(range(5), batch_size=0)",
    "torch.utils.data.default_collate([object()])",
    "[] in torch.ones(2)",
    "torch.multinomial(torch.tensor([-1.0, 2.0]), 1)",
    "torch.norm(torch.ones(2, dtype=torch.int64))",
    "torch.mean(torch.ones(2, dtype=torch.int64))",
    "torch.zeros(0).max()",
    "torch.gather(torch.ones(2, 2), 0, torch.tensor([[5]]))",
    "torch.index_select(torch.ones(2), 0, torch.tensor([3]))",
    "torch.ones(2).masked_select(torch.ones(2))",
    "torch.ones(2, dtype=torch.int64).add_(1.5)",
    "torch.ones(2).scatter_(0, torch.tensor([5]), 1.0)",
    "torch.ones(2).topk(5)",
    "torch.ones(2, 2).dot(torch.ones(2))",
    "torch.ones(2, 3, 4).bmm(torch.ones(2, 3, 4))",
    "torch.addmm(torch.ones(2), torch.ones(2, 3), torch.ones(2, 3))",
    "torch.zeros(2, device='meta').item()",
    "torch.ones(2).to('meta').numpy()",
)
# The same type with words of our own: PyTorch's text lists its overloads, or names what only it has.
SAME_TYPE = (
    "(lambda x: x.exp().add_(1).sum().backward())(torch.ones(2, requires_grad=True))",
    "torch.tensor([1], requires_grad=True)",
    "torch.zeros(-1)",
    "torch.set_default_dtype(torch.int64)",
    "torch.autograd.grad(torch.ones(1, requires_grad=True).sum(), torch.ones(1, requires_grad=True))",
    "nn.Parameter(torch.zeros(1, dtype=torch.int64))",
    "torch.zeros(0).argmax()",
    "copy.deepcopy(torch.ones(2, requires_grad=True) * 2).foo",
    "torch.device('gpu')",
    "torch.bernoulli(torch.tensor([2.0]))",
    "torch.finfo(torch.int64)",
    "torch.iinfo(torch.float32)",
    "setattr(nn.Linear(2, 2), 'weight', torch.ones(2, 2))",
    "nn.Linear(2, 2).register_parameter('weight2', torch.ones(1))",
    "torch.add(torch.ones(2), 'a')",
    "torch.add(torch.ones(2))",
    "torch.ones(2) + 'a'",
    "torch.zeros('a')",
    "torch.zeros(2, dtype=3)",
    "torch.zeros(2, foo=1)",
    "torch.tensor('a')",
    "torch.tensor(object())",
    "torch.tensor()",
    "torch.foo",
    "torch.ones(2).foo",
    "torch.relu(3)",
    "torch.load('no-such-file.pt')",
    "torch.save({}, '/no-such-folder/x.pt')",
    "torch.manual_seed('a')",
    "torch.from_numpy([1])",
)


def _error(text: str) -> Case:
    def function(torch: Any) -> Any:
        import copy

        eval(text, {"torch": torch, "nn": torch.nn, "copy": copy})
        return "nothing was raised"

    return Case(function)


CASES: dict[str, Case] = {text: _error(text) for text in (*SAME_TEXT, *SAME_TYPE)}
