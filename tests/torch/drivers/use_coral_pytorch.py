from coral_pytorch.dataset import corn_label_from_logits, levels_from_labelbatch, proba_to_label
from coral_pytorch.layers import CoralLayer
from coral_pytorch.losses import coral_loss, corn_loss

import torch

torch.manual_seed(0)
layer, x, labels = CoralLayer(size_in=4, num_classes=5), torch.randn(8, 4), torch.randint(5, (8,))
scores = layer(x)
loss = coral_loss(scores, levels_from_labelbatch(labels, num_classes=5))
loss.backward()
print(loss.detach(), layer.coral_bias.grad, proba_to_label(torch.sigmoid(scores)))
print(corn_loss(torch.randn(8, 4), labels, num_classes=5), corn_label_from_logits(torch.randn(8, 4)))
