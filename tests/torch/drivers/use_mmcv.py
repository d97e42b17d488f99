from mmcv.cnn import ConvModule, DepthwiseSeparableConvModule, NonLocal2d, ResNet

import torch

torch.manual_seed(0)
m = torch.nn.Sequential(
    ConvModule(3, 8, 3, padding=1, norm_cfg={"type": "BN"}, act_cfg={"type": "LeakyReLU"}),
    DepthwiseSeparableConvModule(8, 8, 3, padding=1),
    NonLocal2d(8),
)
y = m(torch.randn(2, 3, 16, 16))
y.sum().backward()
print(y.shape, round(float(y.abs().mean()), 4))
y = ResNet(18)(torch.randn(2, 3, 64, 64))
print([tuple(v.shape) for v in y], round(float(y[-1].abs().mean()), 4))
