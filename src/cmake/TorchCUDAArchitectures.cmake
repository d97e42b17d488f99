# The device code of libtorch-cuda, and of recipe/third_party/libmagma, as CMAKE_CUDA_ARCHITECTURES takes it: "80-real;90" is
# sm_80, sm_90 and PTX of compute_90, which later devices compile for themselves. This is the one list: what tells of it is made
# from it. Not sm_86, sm_89, sm_100 and sm_120: truth.cu takes nvcc 13.0 15 s of processor time for these two, 54 s for all six.
set(TORCH_CUDA_ARCHITECTURES "80-real;90" CACHE STRING "Device code to make, as CMAKE_CUDA_ARCHITECTURES takes it")

# For people and tests: "sm_80 sm_90 compute_90".
set(TORCH_CUDA_ARCH_LIST "")
foreach(entry IN LISTS TORCH_CUDA_ARCHITECTURES)
  string(REGEX MATCH "^[0-9]+[a-z]?" number "${entry}")
  if(NOT entry MATCHES "-virtual$")
    list(APPEND TORCH_CUDA_ARCH_LIST "sm_${number}")
  endif()
  if(NOT entry MATCHES "-real$")
    list(APPEND TORCH_CUDA_ARCH_LIST "compute_${number}")
  endif()
endforeach()
list(JOIN TORCH_CUDA_ARCH_LIST " " TORCH_CUDA_ARCH_LIST)
