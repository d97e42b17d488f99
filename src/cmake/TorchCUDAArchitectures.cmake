# The device code of libtorch-cuda, and of recipe/third_party/libmagma. Include it behind enable_language(CUDA), which it tells
# what to make. This is the one list: what tells of it is made from it.
#   TORCH_CUDA_ARCHITECTURES  as CMAKE_CUDA_ARCHITECTURES takes it. Empty: machine code for 8.0, 9.0, 10.0 and 12.0, as far as nvcc
#                             knows them, and PTX of the last, which later devices compile for themselves. Each runs on the later
#                             ones of its generation (8.6, 8.9, 10.3, 12.1), so that no device has to compile.
set(TORCH_CUDA_ARCHITECTURES "" CACHE STRING "Device code to make, as CMAKE_CUDA_ARCHITECTURES takes it")

set(CMAKE_CUDA_ARCHITECTURES "${TORCH_CUDA_ARCHITECTURES}")
if(NOT CMAKE_CUDA_ARCHITECTURES)
  set(generations 80 90 100 120)
  set(known ${generations})
  if(CMAKE_CUDA_COMPILER)
    execute_process(COMMAND "${CMAKE_CUDA_COMPILER}" --list-gpu-code OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
    foreach(architecture IN LISTS generations)
      if(NOT listed MATCHES "sm_${architecture}\n")
        list(REMOVE_ITEM known ${architecture})
      endif()
    endforeach()
  endif()
  if(NOT known)
    message(FATAL_ERROR "${CMAKE_CUDA_COMPILER} knows none of the architectures ${generations}: take nvcc of CUDA 11 or later, or name "
      "what to make in TORCH_CUDA_ARCHITECTURES")
  endif()
  list(POP_BACK known newest)
  list(TRANSFORM known APPEND "-real" OUTPUT_VARIABLE CMAKE_CUDA_ARCHITECTURES)
  list(APPEND CMAKE_CUDA_ARCHITECTURES ${newest})
endif()

# For people and tests: "sm_80 sm_90 compute_90".
set(TORCH_CUDA_ARCH_LIST "")
foreach(entry IN LISTS CMAKE_CUDA_ARCHITECTURES)
  string(REGEX MATCH "^[0-9]+[a-z]?" number "${entry}")
  if(NOT entry MATCHES "-virtual$")
    list(APPEND TORCH_CUDA_ARCH_LIST "sm_${number}")
  endif()
  if(NOT entry MATCHES "-real$")
    list(APPEND TORCH_CUDA_ARCH_LIST "compute_${number}")
  endif()
endforeach()
list(JOIN TORCH_CUDA_ARCH_LIST " " TORCH_CUDA_ARCH_LIST)
