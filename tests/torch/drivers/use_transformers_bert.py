from transformers import BertConfig, BertForSequenceClassification

import torch

torch.manual_seed(0)
options = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "vocab_size": 50,
}
model = BertForSequenceClassification(BertConfig(**options, num_labels=3)).eval()
result = model(torch.randint(0, 50, (2, 7)), labels=torch.tensor([0, 2]))
result.loss.backward()
print(result.loss, result.logits, sum(p.grad.norm() for p in model.parameters() if p.grad is not None))
