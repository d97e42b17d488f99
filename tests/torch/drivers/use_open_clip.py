import _torchvision_operators  # noqa: F401
from open_clip.loss import ClipLoss, SigLipLoss
from open_clip.model import CLIP

import torch

torch.manual_seed(0)

for kind in (
    {"layers": 2, "width": 64, "head_width": 16, "patch_size": 8, "image_size": 32},
    {"layers": [1, 1, 1, 1], "width": 16, "image_size": 32},
):
    m = CLIP(32, kind, {"context_length": 16, "vocab_size": 100, "width": 32, "heads": 4, "layers": 2})
    x = torch.randn(4, 3, 32, 32)
    t = torch.randint(1, 99, (4, 16))
    a, b, s = m(x, t)
    loss = ClipLoss()(a, b, s)
    loss.backward()
    print(
        f"{loss.item():.5f}",
        f"{sum(float(p.grad.abs().sum()) for p in m.parameters() if p.grad is not None):.3f}",
        a.shape,
    )
    opt = torch.optim.AdamW(m.parameters(), 1e-3)
    opt.step()
    with torch.no_grad():
        print(f"{SigLipLoss()(*m(x, t), torch.zeros(())).item():.4f}")
