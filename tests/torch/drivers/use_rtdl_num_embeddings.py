import rtdl_num_embeddings as rtdl

import torch

torch.manual_seed(0)
x, y = torch.randn(60, 4), torch.randn(60)
bins = rtdl.compute_bins(x, n_bins=6)
trees = rtdl.compute_bins(x, tree_kwargs={"min_samples_leaf": 8}, y=y, regression=True)
print([len(each) for each in bins], [len(each) for each in trees])
for layer in (
    rtdl.LinearReLUEmbeddings(4, 3),
    rtdl.PeriodicEmbeddings(4, 3, lite=False),
    rtdl.PiecewiseLinearEmbeddings(bins, 3, activation=True, version="B"),
    rtdl.PiecewiseLinearEncoding(bins),
):
    print(layer(x).shape, layer(x).norm())
