from vector_quantize_pytorch import FSQ, VectorQuantize

import torch

torch.manual_seed(0)
quantizer = VectorQuantize(dim=4, codebook_size=8, decay=0.8)
quantized, indices, loss = quantizer(torch.randn(1, 10, 4))
print(quantized.sum(-1), indices, loss)
print(FSQ([4, 3, 3])(torch.randn(1, 5, 3))[1])
