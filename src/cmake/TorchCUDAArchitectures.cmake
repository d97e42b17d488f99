# The device code of libtorch-cuda, and of recipe/third_party/libmagma, as CMAKE_CUDA_ARCHITECTURES takes it: "80-real;90" is
# sm_80, sm_90 and PTX of compute_90, which later devices compile for themselves. This is the one list: what tells of it is made
# from it.
set(TORCH_CUDA_ARCHITECTURES "80-real;90" CACHE STRING "Device code to make, as CMAKE_CUDA_ARCHITECTURES takes it")
