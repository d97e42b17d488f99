"""The old home of `torch.hub.load_state_dict_from_url`."""

from torch.hub import load_state_dict_from_url as load_url, tqdm as tqdm, urlparse as urlparse

__all__ = ["load_url"]
