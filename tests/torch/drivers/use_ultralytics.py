import os
import tempfile

import _torchvision_operators  # noqa: F401

os.environ.update(YOLO_CONFIG_DIR=tempfile.mkdtemp(), YOLO_VERBOSE="False")
from ultralytics.nn.tasks import DetectionModel, SegmentationModel
from ultralytics.utils import DEFAULT_CFG

import torch

torch.manual_seed(0)
for cls, cfg in (
    (DetectionModel, "yolov8n.yaml"),
    (DetectionModel, "yolo11n.yaml"),
    (SegmentationModel, "yolov8n-seg.yaml"),
):
    m = cls(cfg, ch=3, nc=4, verbose=False)
    m.args = DEFAULT_CFG
    m.train()
    x = torch.rand(2, 3, 64, 64)
    batch = {
        "img": x,
        "cls": torch.tensor([[1.0], [2.0]]),
        "bboxes": torch.tensor([[0.5, 0.5, 0.4, 0.4], [0.4, 0.4, 0.3, 0.5]]),
        "batch_idx": torch.tensor([0.0, 1.0]),
        "masks": torch.zeros(2, 16, 16),
    }
    batch["masks"][:, 4:10, 4:10] = 1
    loss, parts = m(batch)
    loss.sum().backward()
    m.eval()
    with torch.no_grad():
        y = m(x)
    y = y[0] if isinstance(y, tuple) else y
    y = y[0] if isinstance(y, tuple) else y
    g = sum(p.grad.abs().sum() for p in m.parameters() if p.grad is not None)
    print(
        cfg,
        [round(v, 3) for v in parts.flatten().tolist()] if torch.is_tensor(parts) else parts,
        tuple(y.shape),
        f"{float(y.abs().mean()):.3f}",
        f"{float(g):.4g}",
    )
m.fuse()
