"""Parts of PyTorch's tracing with symbolic sizes, which is not here: what libraries ask of it."""
