from egnn_pytorch import EGNN, EGNN_Network

import torch

torch.manual_seed(0)
layer = EGNN(dim=8, edge_dim=4)
features, places = layer(torch.randn(1, 6, 8), torch.randn(1, 6, 3), torch.randn(1, 6, 6, 4))
print(features.norm(), places.norm())
net = EGNN_Network(
    num_tokens=5, num_positions=12, dim=8, depth=2, num_nearest_neighbors=3, coor_weights_clamp_value=2.0
)
mask = torch.ones(1, 12, dtype=torch.bool)
features, places = net(torch.randint(5, (1, 12)), torch.randn(1, 12, 3), mask=mask)
(features.sum() + places.square().sum()).backward()
print(features.norm(), places.norm(), next(net.parameters()).grad.norm())
