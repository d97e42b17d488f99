"""What `torch.use_deterministic_algorithms` changes besides."""

fill_uninitialized_memory = True  # kept for programs that set it; PyTorch then fills what torch.empty gives
