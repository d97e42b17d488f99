"""Sentences that descriptions of several functions share, by PyTorch's names: libraries put them into their own."""

from __future__ import annotations

common_args = {
    "input": "input (Tensor): the tensor to compute with.",
    "generator": "generator (torch.Generator, optional): where random numbers come from.",
    "out": "out (Tensor, optional): where the result is written.",
    "memory_format": "memory_format (torch.memory_format, optional): the order of the result's dimensions in memory.",
}
multi_dim_common = {
    **common_args,
    "dim": "dim (int or tuple of ints): the dimensions to reduce.",
    "opt_dim": "dim (int or tuple of ints, optional): the dimensions to reduce.",
    "opt_dim_all_reduce": "dim (int or tuple of ints, optional): the dimensions to reduce; all of them without it.",
    "dtype": "dtype (torch.dtype, optional): what the input is converted to before anything is computed.",
    "keepdim": "keepdim (bool): whether reduced dimensions stay, with size 1.",
    "opt_keepdim": "keepdim (bool, optional): whether reduced dimensions stay, with size 1. Default: False.",
    "keepdim_details": "With keepdim reduced dimensions stay with size 1, otherwise they are left out.",
}
factory_common_args = {
    **common_args,
    "dtype": "dtype (torch.dtype, optional): the type of the elements; the default one without it.",
    "layout": "layout (torch.layout, optional): the layout of the result.",
    "device": "device (torch.device, optional): where the result is made.",
    "requires_grad": "requires_grad (bool, optional): whether operations on the result are recorded. Default: False.",
    "pin_memory": "pin_memory (bool, optional): whether CUDA devices can read the memory directly. Default: False.",
    "check_invariants": "check_invariants (bool, optional): whether the parts of a sparse tensor are checked.",
    "sparse_factory_device_note": "Without a device, that of the values is taken.",
}
common_notes = {
    "experimental_warning": "This function may change.",
    "sync_note": "On a CUDA device, this function waits for the device.",
    "sync_note_ex": "On a CUDA device, this function waits for the device if check_errors is True.",
    "sync_note_has_ex": "On a CUDA device, this function waits for the device; {} does not.",
}
reproducibility_notes = {
    "forward_reproducibility_note": "On a CUDA device the result may differ in its last digits from call to call.",
    "backward_reproducibility_note": "On a CUDA device the gradient may differ in its last digits from call to call.",
    "cudnn_reproducibility_note": "On a CUDA device an algorithm may be chosen whose last digits differ.",
}
tf32_notes = {"tf32_note": "On a CUDA device products may be computed in TensorFloat32."}
sparse_support_notes = {"sparse_beta_warning": "Sparse tensors may not be supported by every combination of options."}
