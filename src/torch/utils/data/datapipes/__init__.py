"""Datasets that are made of each other: `IterDataPipe` and `MapDataPipe` are base classes of programs' own ones.

The ready-made ones of PyTorch (`datapipes.iter`, `datapipes.map`) are not here: a generator does what each does.
"""
