"""What programs under torchrun import: `multiprocessing.errors.record`."""
