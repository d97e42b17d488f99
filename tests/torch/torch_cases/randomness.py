"""Random numbers after manual_seed: PyTorch's, one by one."""

from __future__ import annotations

from torch_golden import Case

EXPRESSIONS = (
    "torch.rand(5)",
    "torch.rand(100)",
    "torch.rand(3, 4, dtype=torch.float64)",
    "torch.rand_like(torch.zeros(3))",
    "torch.randn(5)",
    "torch.randn(15)",
    "torch.randn(16)",
    "torch.randn(17)",
    "torch.randn(100)",
    "torch.randn(40, dtype=torch.float64)",
    "torch.randn(3, 5)",
    "torch.randn_like(torch.zeros(33))",
    "torch.randint(10, (20,))",
    "torch.randint(-5, 5, (3, 4))",
    "torch.randint(0, 2**40, (5,))",
    "torch.randint(0, 2, (9,), dtype=torch.int32)",
    "torch.randperm(1)",
    "torch.randperm(10)",
    "torch.randperm(100)",
    "torch.randperm(1000, dtype=torch.int32)",
    "torch.bernoulli(torch.full((20,), 0.3))",
    "torch.zeros(50).bernoulli_(0.25)",
    "torch.zeros(7).uniform_(-2, 3)",
    "torch.zeros(7, dtype=torch.float64).uniform_()",
    "torch.zeros(7).normal_(1, 2)",
    "torch.zeros(30).normal_(-1, 0.5)",
    "torch.zeros(5, dtype=torch.int64).random_()",
    "torch.zeros(5, dtype=torch.int64).random_(100)",
    "torch.zeros(5).random_(3, 9)",
    "torch.zeros(5, dtype=torch.uint8).random_()",
    "torch.zeros(5, dtype=torch.float32).random_()",
    "torch.multinomial(torch.tensor([0.1, 0.2, 0.7]), 20, replacement=True)",
    "torch.multinomial(torch.tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]), 2)",
    "torch.nn.functional.dropout(torch.ones(40), 0.3)",
    "torch.nn.functional.dropout(torch.ones(4, 6), 0.5)",
    "torch.nn.Linear(5, 3).weight, torch.nn.Linear(5, 3).bias",
    "torch.nn.Linear(64, 32).weight",
    "torch.nn.Embedding(7, 3).weight",
    "torch.nn.init.kaiming_normal_(torch.empty(6, 5))",
    "torch.nn.init.kaiming_uniform_(torch.empty(4, 3, 2), mode='fan_out', nonlinearity='relu')",
    "torch.nn.init.xavier_uniform_(torch.empty(6, 5), gain=2.0)",
    "torch.nn.init.xavier_normal_(torch.empty(6, 5))",
    "torch.nn.init.normal_(torch.empty(3), 2.0, 0.1), torch.nn.init.uniform_(torch.empty(3), -1, 1)",
    "[torch.rand(3), torch.randn(3), torch.randn(20), torch.randint(5, (3,)), torch.rand(2)]",
    "[torch.randn(1), torch.randn(1), torch.rand(1)]",
    "torch.get_rng_state().numel(), torch.initial_seed()",
    "torch.manual_seed(-1).initial_seed(), torch.rand(3)",
    "torch.manual_seed(2**63 + 5).initial_seed(), torch.rand(3)",
    "torch.rand(4, generator=torch.Generator().manual_seed(42)), torch.rand(2)",
    "torch.randperm(9, generator=torch.Generator().manual_seed(7))",
    "(lambda state: [torch.rand(2), torch.set_rng_state(state), torch.rand(2)])(torch.get_rng_state())",
    "list(torch.utils.data.RandomSampler(range(10)))",
    "list(torch.utils.data.RandomSampler(range(5), replacement=True, num_samples=40))",
    "list(torch.utils.data.RandomSampler(range(4), num_samples=10))",
    "list(torch.utils.data.SubsetRandomSampler([3, 5, 7, 9]))",
    "list(torch.utils.data.WeightedRandomSampler([0.1, 0.9, 0.5], 12))",
    "[list(part.indices) for part in torch.utils.data.random_split(range(10), [3, 7])]",
    "[list(part.indices) for part in torch.utils.data.random_split(range(10), [0.35, 0.65])]",
    "[b.tolist() for b in torch.utils.data.DataLoader(range(10), 3, shuffle=True)]",
    "[[b.tolist() for b in x] for x in [torch.utils.data.DataLoader(range(7), 2, shuffle=True, drop_last=True)] * 2]",
)


def _expression(text: str) -> Case:
    # The bits of the generator are exact; logarithms and cosines of normal numbers may differ in the last place.
    return Case(lambda torch: eval(text, {"torch": torch}), 2e-6, 1e-7)


CASES: dict[str, Case] = {text: _expression(text) for text in EXPRESSIONS}
