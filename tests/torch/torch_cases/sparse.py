"""Sparse tensors: how they are made, printed, converted, added, multiplied, differentiated and trained with.

Every answer is a text: what is printed shows layout, places and values at once. An error is its type.
"""

from __future__ import annotations

from typing import Any

from torch_golden import Case

# s: coalesced or not does not matter to what is printed. u names a place twice; h has a dense dimension; c is by rows.
PRELUDE = """
i = torch.tensor([[0, 1, 1], [2, 0, 2]])
s = torch.sparse_coo_tensor(i, torch.tensor([3.0, 4.0, 5.0]), (2, 3))
u = torch.sparse_coo_tensor([[0, 0, 1], [1, 1, 0]], [1.0, 2.0, -3.0], (2, 2))
h = torch.sparse_coo_tensor([[0, 1, 1]], torch.arange(6.0).reshape(3, 2), (3, 2))
d = torch.arange(6.0).reshape(2, 3)
c = s.to_sparse_csr()
e = torch.sparse_coo_tensor((2, 3))
"""

EXPRESSIONS = """
s
u
h
c
e
c.t()
torch.sparse_coo_tensor(i, torch.tensor([3, 4, 5]))
torch.sparse_coo_tensor([[0, 3]], [1, 2])
torch.sparse_coo_tensor([[0, 3]], [1, 2], (4, 2))
torch.sparse_coo_tensor([[0, -3]], [1, 2])
torch.sparse_coo_tensor([0, 3], [1, 2])
torch.sparse_coo_tensor([[0, 3]], [1, 2, 3])
torch.sparse_coo_tensor([[0, 3]], [1, 2], (2,), check_invariants=True)
torch.sparse_coo_tensor([[1, 0]], [1.0, 2], (2,), is_coalesced=True, check_invariants=True)
torch.sparse_coo_tensor(size=(2, 3), dtype=torch.int32)
torch.sparse_coo_tensor([[0, 3]], [1, 2], dtype=torch.float64, requires_grad=True)
torch.sparse_coo_tensor(torch.empty(0, 1, dtype=torch.long), [4.0], ())
torch.sparse_coo_tensor([[0, 1]], [1j, 2], (2,)).to_dense()
torch.sparse_csr_tensor([0, 1, 2], [0, 1], [1.0, 2.0])
torch.sparse_csr_tensor([0, 1, 2], [0, 1], [1.0, 2.0], dtype=torch.float64)
torch.sparse_csr_tensor(torch.tensor([0, 1, 2], dtype=torch.int32), torch.tensor([0, 1], dtype=torch.int32), [1.0, 2.0])
torch.sparse_csr_tensor([0, 1, 2], [0, 1], [1.0, 2.0], (2, 1), check_invariants=True)
torch.sparse_csr_tensor([0, 2, 1], [0, 1], [1.0, 2.0], (2, 2), check_invariants=True)
torch.sparse_csc_tensor([0, 1, 2], [0, 1], [1.0, 2.0], (2, 2)).to_dense()
torch.sparse_compressed_tensor([0, 1, 2], [0, 1], [1.0, 2.0])
torch.sparse_compressed_tensor([0, 1, 2], [0, 1], [1.0, 2.0], layout=torch.sparse_csc)
(s.layout, s.is_sparse, s.is_sparse_csr, c.is_sparse, c.is_sparse_csr, d.is_sparse)
(s.sparse_dim(), s.dense_dim(), h.sparse_dim(), h.dense_dim(), d.sparse_dim(), d.dense_dim(), c.sparse_dim())
(s._nnz(), c._nnz(), s.shape, s.dim(), s.numel(), s.stride(), s.is_contiguous(), len(s))
(s.is_coalesced(), u.coalesce().is_coalesced(), d.to_sparse().is_coalesced(), u.t().is_coalesced())
s.indices()
u._indices()
u._values()
u.values()
u.coalesce().values()
c.crow_indices()
c.col_indices()
c.values()
c.ccol_indices()
c.indices()
d.values()
d.coalesce()
d.is_coalesced()
d.crow_indices()
d._nnz()
u.coalesce()
h.coalesce()
torch.sparse_coo_tensor([[1, 0, 1]], [True, False, True], (2,)).coalesce()
s.to_dense()
u.to_dense()
h.to_dense()
c.to_dense()
c.t().to_dense()
d.to_sparse()
d.to_sparse(1)
d.to_sparse_csr()
d.to_sparse_csc()
d.to_sparse_coo()
d.to_sparse(layout=torch.sparse_csc)
u.to_sparse_csr()
c.to_sparse()
c.to_sparse_csc()
c.t().to_sparse_csr()
s + s
u + u
s - s
d + s
d - s
s + d
s + 1
c + c
torch.add(d, s, alpha=2)
torch.add(s, s, alpha=0.5)
s + s.double()
h + h
e + s
torch.eye(3).to_sparse() + torch.ones(3, 3).tril().to_sparse()
s * 2
2 * s
s * s
u * u
s * d
d * s
c * c
c * 2
c * d
s / 2
s / d
d / s
s // 2
s ** 2
u ** 2
s ** 0
-s
-u
u.abs()
u.sqrt()
u.sin()
u.relu()
u.sign()
u.isnan()
u.floor()
u.log1p()
c.neg()
c.tanh()
u.cos()
u.exp()
u.sigmoid()
s @ d.t()
torch.mm(s, d.t())
torch.mm(d.t(), s)
torch.mv(s, torch.ones(3))
s @ torch.ones(3)
s @ s.t()
c @ d.t()
torch.sparse.mm(s, d.t())
torch.sparse.mm(d.t(), s)
torch.sparse.mm(s, s.t())
torch.sparse.mm(c, d.t(), 'mean')
torch.sparse.mm(c, d.t(), 'amax')
torch.sparse.mm(u, torch.eye(2))
torch.sparse.mm(s, d)
torch.sparse.mm(s.double(), d.t())
torch.mm(s.long(), d.t().long())
torch.mm(s * 1j, d.t() + 0j)
torch.addmm(torch.ones(2, 2), s, d.t())
torch.addmm(torch.ones(2), s, d.t(), beta=2, alpha=3)
torch.sparse.addmm(torch.ones(2, 2), s, d.t(), beta=2, alpha=3)
torch.spmm(s, d.t())
torch.smm(s, d.t())
torch.hspmm(s, d.t())
torch.sspaddmm(torch.eye(2).to_sparse(), s, d.t())
torch.bmm(torch.stack([s, s]), torch.arange(6.0).reshape(2, 3, 1))
torch.sparse.sampled_addmm(c, torch.ones(2, 4), torch.ones(4, 3), beta=2, alpha=3)
torch.sparse.spdiags(torch.arange(6.0).reshape(2, 3), torch.tensor([0, 1]), (3, 3))
s.sum()
s.sum(0)
s.sum((0, 1))
s.sum(1, keepdim=True)
c.sum()
c.sum(0)
torch.sparse.sum(u)
torch.sparse.sum(s, 0)
torch.sparse.sum(s, [0, 1])
torch.sparse.sum(h, 0)
torch.sparse.sum(h, 1)
torch.sparse.softmax(s, 1)
torch.sparse.softmax(s, 0)
torch.sparse.softmax(h, 1)
torch.sparse.log_softmax(s, 1)
torch.softmax(s, 1)
s.norm()
s.t()
s.transpose(0, 1)
s.permute(1, 0)
s.T
c.transpose(0, 1)
h.t()
s.select(0, 1)
s.select(1, 2)
s[0]
s[0, 2]
s[-1]
s[5]
h[1]
list(s)
s.index_select(0, torch.tensor([1, 0, 1]))
s.index_select(1, torch.tensor([2, 2]))
h.index_select(1, torch.tensor([1]))
s.unsqueeze(0)
s.unsqueeze(2)
torch.cat([s, s])
torch.cat([s, s], 1)
torch.cat([s, d])
torch.cat([h, h], 1)
torch.stack([s, s])
d.sparse_mask(s)
d.sparse_mask(c)
d[:, :2].sparse_mask(u)
s.sparse_mask(torch.ones(2, 3).to_sparse())
d.sparse_mask(d)
s.clone()
s.detach()
s.double()
s.half()
s.long()
s.bool()
s.to(torch.float64)
c.double()
copy.deepcopy(s)
pickle.loads(pickle.dumps(s))
pickle.loads(pickle.dumps(c))
torch.zeros_like(s)
torch.empty_like(s)
torch.ones_like(s)
torch.zeros(2, 3, layout=torch.sparse_coo)
s.zero_()
s.mul_(2)
s.add_(s)
s.neg_()
s.div_(2)
d.clone().add_(s)
d.clone().sub_(s, alpha=2)
s.add_(d)
torch.zeros(2, 3).copy_(s)
s.sparse_resize_((4, 4), 2, 0)
s.sparse_resize_((1, 1), 2, 0)
s.sparse_resize_and_clear_((4,), 1, 0)
s.resize_as_sparse_(torch.ones(4, 4).to_sparse())
s.data_ptr()
s.storage()
s.numpy()
s.tolist()
bool(s)
s.item()
s.sum(0, keepdim=True).sum(1, keepdim=True).item()
s.view(6)
s == s
s > 0
s.max()
s.fill_(1)
s[i[0]]
torch.where(d > 0, s, s)
torch.nn.functional.linear(d, s)
torch.exp(d, out=s)
torch.add(d, d, out=s)
s.requires_grad_().is_leaf
"""

# What the gradients of `s` and `d` are: of (2, 2) matrices, s = u or a matrix by rows.
GRADIENTS = """
torch.mm(s, d)
torch.mm(d, s)
torch.sparse.mm(s, d)
torch.sparse.mm(s, s)
s.to_dense()
s.to_dense() * d
s.coalesce().values()
s.sum()
torch.sparse.sum(s)
torch.sparse.sum(s, 0).to_dense() * d[0]
d.to_sparse().to_dense() * d
d.sparse_mask(s.detach()).to_dense()
(s * s).to_dense()
(s * d).to_dense()
d + s
(s + s).to_dense()
(s * 2).to_dense()
s.neg().to_dense()
s.abs().to_dense()
s.relu().to_dense()
(s ** 3).to_dense()
s.t().to_dense()
torch.addmm(d, s, d)
torch.sparse.addmm(d, s, d, beta=2, alpha=3)
s @ d[0]
torch.sparse.softmax(s, 1).to_dense() * d
torch.sparse.log_softmax(s, 0).to_dense() * d
torch.sparse_coo_tensor([[0, 1], [0, 1]], d[0], (2, 2)).to_dense() * d
torch.sparse_coo_tensor([[0, 1], [0, 1]], d[0], (2, 2)) @ d
torch.sparse_csr_tensor([0, 1, 2], [0, 1], d[0], (2, 2)) @ d
s.clone().to_dense()
s.double().to_dense()
torch.bmm(torch.stack([s, s]), torch.stack([d, d]))
torch.stack([s, s]).to_dense()
s.to_dense() + d + s.to_dense()
d * 2 + s
"""

# Programs that print: layers with sparse gradients, optimizers that take them, graph networks.
PROGRAMS = {
    "Embedding": """
m = torch.nn.Embedding(5, 2, padding_idx=1, sparse=True)
m.weight.data = torch.arange(10.0).reshape(5, 2)
(m(torch.tensor([[1, 2], [4, 2]])) ** 2).sum().backward()
r = m.weight.grad
""",
    "EmbeddingBag": """
m = torch.nn.EmbeddingBag(5, 2, mode='sum', sparse=True)
m.weight.data = torch.arange(10.0).reshape(5, 2)
(m(torch.tensor([1, 2, 4, 2]), torch.tensor([0, 2])) ** 2).sum().backward()
r = m.weight.grad.coalesce()
""",
    "accumulate": """
w = torch.zeros(3, 2, requires_grad=True)
g = torch.nn.functional.embedding
for index in ([0, 1], [1, 2]):
    g(torch.tensor(index), w, sparse=True).sum().backward()
first = w.grad.coalesce()
(w * 2).sum().backward()
r = (first, w.grad)
""",
    "accumulate on strided": """
w = torch.zeros(3, 2, requires_grad=True)
(w * 2).sum().backward()
torch.nn.functional.embedding(torch.tensor([0, 0]), w, sparse=True).sum().backward()
r = w.grad
""",
    **{
        name: f"""
m = torch.nn.Embedding(5, 2, sparse=True)
m.weight.data = torch.arange(10.0).reshape(5, 2) / 10
optimizer = torch.optim.{name}
for _ in range(4):
    optimizer.zero_grad()
    (m(torch.tensor([1, 2, 4, 2])) ** 3).sum().backward()
    optimizer.step()
r = m.weight.detach()
"""
        for name in (
            "SGD(m.parameters(), 0.1)",
            "SGD(m.parameters(), 0.1, momentum=0.9)",
            "SGD(m.parameters(), 0.1, maximize=True)",
            "SGD(m.parameters(), 0.1, weight_decay=0.1)",
            "Adagrad(m.parameters(), 0.1)",
            "Adagrad(m.parameters(), 0.1, weight_decay=0.1)",
            "SparseAdam(m.parameters(), 0.1)",
            "Adam(m.parameters(), 0.1)",
            "RMSprop(m.parameters(), 0.1)",
        )
    },
    # Kipf and Welling's network on a small graph: two communities joined by one edge.
    "graph convolution": """
torch.manual_seed(0)
edges = torch.tensor([[0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3]])
edges = torch.cat([edges, edges.flip(0), torch.arange(6).repeat(2, 1)], 1)
degrees = torch.zeros(6).index_add(0, edges[0], torch.ones(edges.size(1)))
weights = (degrees[edges[0]] * degrees[edges[1]]).rsqrt()
adjacency = torch.sparse_coo_tensor(edges, weights, (6, 6)).LAYOUT
features, labels = torch.eye(6), torch.tensor([0, 0, 0, 1, 1, 1])
first, second = torch.nn.Linear(6, 8), torch.nn.Linear(8, 2)
optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()], 0.05)
losses = []
for _ in range(20):
    optimizer.zero_grad()
    hidden = torch.relu(torch.sparse.mm(adjacency, first(features)))
    loss = torch.nn.functional.cross_entropy(torch.sparse.mm(adjacency, second(hidden)), labels)
    loss.backward()
    optimizer.step()
    losses.append(round(loss.item(), 5))
r = losses
""",
    # Hamilton's: each node and the mean of its neighbours.
    "graph sample and aggregate": """
torch.manual_seed(0)
source, target = torch.tensor([[0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3]])
features, labels = torch.eye(6), torch.tensor([0, 0, 0, 1, 1, 1])
own, others = torch.nn.Linear(6, 2), torch.nn.Linear(6, 2)
optimizer = torch.optim.SGD([*own.parameters(), *others.parameters()], 0.5)
losses = []
for _ in range(20):
    optimizer.zero_grad()
    counts = torch.zeros(6).scatter_add(0, target, torch.ones(7)).clamp(min=1)
    means = torch.zeros(6, 6).index_add(0, target, features[source]) / counts.unsqueeze(1)
    loss = torch.nn.functional.cross_entropy(own(features) + others(means), labels)
    loss.backward()
    optimizer.step()
    losses.append(round(loss.item(), 5))
r = losses
""",
    # Attention over edges, whose weights are learned.
    "weights of edges": """
edges = torch.tensor([[0, 0, 1, 2], [0, 1, 2, 2]])
scores = torch.tensor([0.5, -0.5, 1.0, 0.25], requires_grad=True)
attention = torch.sparse.softmax(torch.sparse_coo_tensor(edges, scores, (3, 3)), 1)
out = torch.sparse.mm(attention, torch.arange(6.0).reshape(3, 2))
(out ** 2).sum().backward()
r = (out, scores.grad)
""",
}


def _run(torch: Any, source: str) -> str:
    import copy
    import pickle

    names: dict[str, Any] = {"torch": torch, "copy": copy, "pickle": pickle}
    exec(source, names)
    return repr(names["r"])


def _expression(expression: str) -> Case:
    return Case(lambda torch: _run(torch, f"{PRELUDE}r = {expression}"))


def _gradient(expression: str, layout: str) -> Case:
    source = f"""
s = torch.tensor([[0.0, 3.0], [-3.0, 0.0]]).to_sparse_csr().requires_grad_()
if {layout!r} == 'coo':
    s = torch.sparse_coo_tensor([[0, 0, 1], [1, 1, 0]], [1.0, 2.0, -3.0], (2, 2), requires_grad=True)
d = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
out = {expression}
(torch.sparse.sum(out) if out.is_sparse else out.sum()).backward()
r = (s.grad, d.grad)
"""
    return Case(lambda torch: _run(torch, source))


def _program(source: str) -> Case:
    return Case(lambda torch: _run(torch, source))


LAYOUTS = ("coalesce()", "to_sparse_csr()", "to_sparse_csc()")

# Of the rest PyTorch raises for tensors by rows, or gives gradients of another layout than its tensors'.
_BY_ROWS = ("torch.mm(s, d)", "torch.mm(d, s)", "torch.sparse.mm(s, d)", "s.to_dense()", "s.to_dense() * d", "d + s")

CASES = {
    **{f"r = {expression}": _expression(expression) for expression in EXPRESSIONS.strip().split("\n")},
    **{f"gradient: {expression}": _gradient(expression, "coo") for expression in GRADIENTS.strip().split("\n")},
    **{f"gradient by rows: {expression}": _gradient(expression, "csr") for expression in _BY_ROWS},
    **{
        f"{name} {layout}".strip(): _program(source.replace("LAYOUT", layout))
        for name, source in PROGRAMS.items()
        for layout in (LAYOUTS if "LAYOUT" in source else ("",))
    },
}
