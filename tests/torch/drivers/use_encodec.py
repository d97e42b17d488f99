from encodec import EncodecModel
from encodec.msstftd import MultiScaleSTFTDiscriminator

import torch

torch.manual_seed(0)
m = EncodecModel.encodec_model_24khz(pretrained=False)
m.set_target_bandwidth(3.0)
x = torch.randn(1, 1, 4800)
with torch.no_grad():
    f = m.encode(x)
    y = m.decode(f)
print([tuple(c.shape) for c, s in f], tuple(y.shape), f"{float(y.abs().mean()):.4g}", int(f[0][0].sum()))
d = MultiScaleSTFTDiscriminator(filters=4)
lo, fm = d(x)
print(len(lo), f"{float(lo[0].abs().mean()):.4g}")
