"""Switches of how modules change their parameters, off until a program sets them."""

_overwrite_module_params_on_conversion = False
_swap_module_params_on_conversion = False


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Whether `Module.to` and its like put new parameters in the place of the old ones, whose data they change else."""
    global _overwrite_module_params_on_conversion
    _overwrite_module_params_on_conversion = value


def get_overwrite_module_params_on_conversion() -> bool:
    """What `set_overwrite_module_params_on_conversion` was last told."""
    return _overwrite_module_params_on_conversion


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Whether `Module.to` and its like, and `load_state_dict`, swap whole tensors (`torch.utils.swap_tensors`).

    Parameters stay the same objects then, and may become another class or move to another kind of device. What a state
    dict has is given to `Tensor.module_load` first.
    """
    global _swap_module_params_on_conversion
    _swap_module_params_on_conversion = value


def get_swap_module_params_on_conversion() -> bool:
    """What `set_swap_module_params_on_conversion` was last told."""
    return _swap_module_params_on_conversion
