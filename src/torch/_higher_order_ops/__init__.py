"""Functions of operators, where PyTorch has them; programs compute with them as with others."""
