import torchattacks

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 3)
).eval()
x, y = torch.rand(2, 3, 8, 8), torch.tensor([0, 2])
for attack in (
    torchattacks.FGSM(model),
    torchattacks.PGD(model, steps=3),
    torchattacks.CW(model, steps=3),
    torchattacks.DeepFool(model, steps=3),
    torchattacks.MIFGSM(model, steps=3),
    torchattacks.DIFGSM(model, steps=2),
    torchattacks.Square(model, n_queries=5),
    torchattacks.APGD(model, steps=3),
):
    print(attack.attack, attack(x, y).mean(), (attack(x, y) - x).norm())
