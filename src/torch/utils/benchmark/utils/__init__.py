"""The parts of `torch.utils.benchmark`, in PyTorch's modules."""
