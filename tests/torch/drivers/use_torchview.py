import torchview
import torchviz

import torch

m = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.LSTM(3, 2))
g = torchview.draw_graph(m, input_size=(5, 4), device="cpu")
print(len(g.edge_list))
y = torch.nn.Linear(4, 1)(torch.ones(2, 4)).relu().sum()
print(torchviz.make_dot(y).source.count("label"), "AddmmBackward0" in torchviz.make_dot(y).source)
