"""Where PyTorch keeps what `torch.library` is made of; libraries import the schemas' part."""
