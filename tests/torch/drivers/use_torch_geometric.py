import torch_geometric
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GATConv, GCNConv, GINConv, SAGEConv, global_add_pool, global_mean_pool
from torch_geometric.utils import add_self_loops, degree, to_dense_adj, to_undirected

import torch

torch_geometric.seed_everything(0)
edges = to_undirected(torch.tensor([[0, 1, 2, 3, 0], [1, 2, 3, 4, 4]]))
x = torch.randn(5, 4)
data = Data(x=x, edge_index=edges, y=torch.tensor([0, 1, 0, 1, 0]))
network = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.ReLU())
for layer in (GCNConv(4, 6), GATConv(4, 3, heads=2), SAGEConv(4, 6), GINConv(network)):
    out = layer(data.x, data.edge_index)
    out.square().mean().backward()
    print(type(layer).__name__, out.mean().detach(), sum(p.grad.norm() for p in layer.parameters()))
print(degree(edges[0]), to_dense_adj(edges).sum(), add_self_loops(edges)[0].shape)
for batch in DataLoader([data, data, data], batch_size=2):
    print(batch, global_mean_pool(batch.x, batch.batch).sum(), global_add_pool(batch.x, batch.batch).sum())
print(Batch.from_data_list([data, data]).num_graphs)
