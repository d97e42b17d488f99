"""Settings of PyTorch's compiler that programs set. They are kept; eager code does not depend on them."""

suppress_errors = False
verbose = False
cache_size_limit = 8
recompile_limit = 8
accumulated_recompile_limit = 256
accumulated_cache_size_limit = 256
capture_scalar_outputs = False
capture_dynamic_output_shape_ops = False
dynamic_shapes = True
assume_static_by_default = True
automatic_dynamic_shapes = True
optimize_ddp = True
guard_nn_modules = True
inline_inbuilt_nn_modules = True
allow_rnn = False
disable = False
