"""The names of functions that masked tensors know; of methods in place and of operators without their underscores."""

from __future__ import annotations


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Element-wise functions of one tensor, those with numbers as further arguments among them.
UNARY = _names("""
    abs absolute acos acosh angle arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh bitwise_not
    ceil clamp clip conj_physical cos cosh deg2rad digamma erf erfc erfinv exp exp2 expm1 fix floor frac i0 invert
    isnan lgamma log log10 log1p log2 logit nan_to_num neg negative pos positive pow rad2deg reciprocal round rsqrt
    sgn sigmoid sign signbit sin sinc sinh sqrt square tan tanh trunc
""")

# Element-wise functions of two.
BINARY = _names("""
    add and arctan2 atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor div divide eq
    floor_divide floordiv fmax fmin fmod ge greater greater_equal gt le less less_equal logaddexp logaddexp2 lshift
    lt maximum minimum mod mul multiply ne nextafter not_equal or radd remainder rmul rshift rsub rtruediv sub
    subtract true_divide truediv xor
""")

# Functions that move elements, and change none.
MOVING = _names("""
    chunk clone contiguous diagonal dsplit expand expand_as flatten flip fliplr flipud fold gather getitem hsplit
    index_select moveaxis movedim narrow permute ravel repeat reshape reshape_as roll rot90 select split squeeze
    swapaxes swapdims t take_along_dim tensor_split tile transpose unbind unflatten unfold unsafe_chunk unsafe_split
    unsqueeze view view_as vsplit
""")

# Functions that join a list of tensors.
JOINING = _names("""
    cat column_stack concat concatenate dstack hstack row_stack stack vstack
""")

# What keeps elements and mask where they are.
CONVERTING = _names("""
    bool char cpu cuda data detach detach_ double float half int long requires_grad_ short to type type_as
""")

# Reductions.
REDUCING = _names("""
    all amax amin argmax argmin mean norm prod std sum var
""")

# Properties and methods that say something of the tensor, whatever its mask.
ASKING = _names("""
    __hash__ __len__ _backward_hooks _base _is_view _version backward data_ptr device dim dtype element_size
    get_device grad_fn is_complex is_contiguous is_cpu is_cuda is_floating_point is_inference is_leaf is_meta is_mps
    is_nested is_quantized is_same_size is_shared is_signed is_sparse is_sparse_csr is_xpu itemsize layout name
    names nbytes ndim ndimension nelement numel output_nr register_hook register_post_accumulate_grad_hook
    requires_grad retain_grad retains_grad shape size storage_offset stride untyped_storage
""")
