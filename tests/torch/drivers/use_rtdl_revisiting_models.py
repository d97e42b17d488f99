from rtdl_revisiting_models import MLP, FTTransformer, ResNet

import torch

torch.manual_seed(0)
x, classes = torch.randn(6, 5), torch.randint(3, (6, 2))
print(MLP(d_in=5, d_out=2, n_blocks=2, d_block=8, dropout=0.1)(x).norm())
print(
    ResNet(d_in=5, d_out=2, n_blocks=2, d_block=8, d_hidden=None, d_hidden_multiplier=2.0, dropout1=0.1, dropout2=0.0)(
        x
    ).norm()
)
model = FTTransformer(n_cont_features=5, cat_cardinalities=[3, 3], d_out=1, **FTTransformer.get_default_kwargs(1))
steps = model.make_default_optimizer()
for _ in range(2):
    loss = model(x, classes).square().mean()
    steps.zero_grad()
    loss.backward()
    steps.step()
    print(loss.detach())
