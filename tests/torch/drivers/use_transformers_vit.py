from transformers import ViTConfig, ViTForImageClassification

import torch

torch.manual_seed(0)
config = ViTConfig(
    hidden_size=16,
    num_hidden_layers=2,
    num_attention_heads=2,
    intermediate_size=32,
    image_size=16,
    patch_size=4,
    num_labels=3,
)
model = ViTForImageClassification(config)
x = torch.rand(2, 3, 16, 16)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for _ in range(3):
    optimizer.zero_grad()
    loss = model(pixel_values=x, labels=torch.tensor([0, 2])).loss
    loss.backward()
    optimizer.step()
print(loss.detach(), model.eval()(x).logits.detach())
