"""Processes under torchrun."""
