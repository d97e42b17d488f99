import tempfile
from pathlib import Path

from sentence_transformers import SentenceTransformer, models, util
from tokenizers import Tokenizer, pre_tokenizers
from tokenizers.models import WordLevel
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

import torch

torch.manual_seed(0)
words = ["[PAD]", "[UNK]", "a", "small", "model", "of", "words", "and", "numbers"]
with tempfile.TemporaryDirectory() as folder:
    tokenizer = Tokenizer(WordLevel({word: index for index, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]").save_pretrained(folder)
    BertModel(
        BertConfig(
            vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32
        )
    ).save_pretrained(folder)
    transformer = models.Transformer(folder, max_seq_length=8)
    model = SentenceTransformer(modules=[transformer, models.Pooling(16)], device="cpu")
    vectors = model.encode(["a small model", "of words and numbers", "a model"], convert_to_tensor=True)
    print(util.cos_sim(vectors, vectors))
    assert Path(folder, "model.safetensors").exists()
