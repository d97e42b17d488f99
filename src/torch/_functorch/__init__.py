"""Where PyTorch keeps what `torch.func` is made of, under the names that programs import."""
