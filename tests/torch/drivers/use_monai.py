import monai

import torch

monai.utils.set_determinism(0)
model = monai.networks.nets.UNet(2, 1, 2, channels=(4, 8, 16), strides=(2, 2), num_res_units=1)
x, y = torch.rand(1, 1, 32, 32), torch.randint(2, (1, 1, 32, 32))
loss = monai.losses.DiceCELoss(to_onehot_y=True, softmax=True)(model(x), y)
loss.backward()
print(loss.detach(), sum(p.grad.norm() for p in model.parameters()))
print(monai.metrics.compute_dice(y.float(), (x > 0.5).float()))
transforms = monai.transforms.Compose(
    [monai.transforms.ScaleIntensity(), monai.transforms.RandRotate90(prob=1.0), monai.transforms.Resize((16, 16))]
)
print(transforms(x[0]).mean())
print(monai.inferers.sliding_window_inference(x, (16, 16), 1, model.eval()).mean().detach())
