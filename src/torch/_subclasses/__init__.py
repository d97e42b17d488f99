"""Classes of tensors that PyTorch's compiler traces with: none are made here."""
