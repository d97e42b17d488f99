from hqq.core.quantize import Quantizer

import torch

torch.manual_seed(0)
w = torch.randn(64, 64)
q, meta = Quantizer.quantize(w, device="cpu", compute_dtype=torch.float32, nbits=4, group_size=16, axis=0)
d = Quantizer.dequantize(q, meta)
print(q.dtype, q.shape, round(float((d - w).abs().mean()), 4))
