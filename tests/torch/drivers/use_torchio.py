import torchio as tio

import torch

torch.manual_seed(0)
s = tio.Subject(a=tio.ScalarImage(tensor=torch.rand(1, 12, 12, 12)), b=tio.LabelMap(tensor=torch.ones(1, 12, 12, 12)))
t = tio.Compose(
    [tio.RandomFlip(axes=(0, 1)), tio.RescaleIntensity((0, 1)), tio.CropOrPad(10), tio.RandomNoise(), tio.RandomGamma()]
)
o = t(s)
print(o.a.shape, round(float(o.a.data.mean()), 4))
ds = tio.SubjectsDataset([s, s], transform=t)
print(tio.SubjectsLoader(ds, batch_size=2).__iter__().__next__()["a"]["data"].shape)
g = tio.GridSampler(o, 4, 2)
print(len(g))
