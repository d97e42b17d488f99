# Finds the CUDA compiler and settles which device code is made; or, for tests, compiles the same files for an emulated device.
#   TORCH_CUDA_ARCHITECTURES  in TorchCUDAArchitectures.cmake
#   TORCH_CUDA_MAGMA          factorises by MAGMA, too; ON where its header is found, OFF leaves it out.

option(TORCH_CUDA_EMULATION "Compile the plug-in for test/cuda_emulation, with the host's compiler" OFF)
find_path(MAGMA_INCLUDE_DIR magma_v2.h)
find_library(MAGMA_LIBRARY magma)
if(TORCH_CUDA_EMULATION OR (MAGMA_INCLUDE_DIR AND MAGMA_LIBRARY))
  set(magma_is_there ON)
else()
  set(magma_is_there OFF)
endif()
option(TORCH_CUDA_MAGMA "Factorise by MAGMA, too" ${magma_is_there})
if(TORCH_CUDA_MAGMA AND NOT magma_is_there)
  message(FATAL_ERROR "TORCH_CUDA_MAGMA is ON, and there is no magma_v2.h or no libmagma: install MAGMA (libmagma-devel), or set "
    "CMAKE_PREFIX_PATH to where it is")
endif()
message(STATUS "MAGMA: ${TORCH_CUDA_MAGMA}")

if(TORCH_CUDA_EMULATION)
  set(TORCH_CUDA_VERSION "13.0")
  add_subdirectory(test/cuda_emulation)
else()
  set(CMAKE_CUDA_ARCHITECTURES OFF)
  set(CMAKE_CUDA_STANDARD 17)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
  set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
  set(TORCH_CUDA_VERSION "${CUDAToolkit_VERSION_MAJOR}.${CUDAToolkit_VERSION_MINOR}")
  if(TORCH_CUDA_MAGMA)
    add_library(MAGMA::magma UNKNOWN IMPORTED)
    set_target_properties(MAGMA::magma PROPERTIES
      IMPORTED_LOCATION "${MAGMA_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${MAGMA_INCLUDE_DIR}")
    # Its headers take in cuBLAS' and cuSPARSE's.
    target_link_libraries(MAGMA::magma INTERFACE CUDA::toolkit)
  endif()
endif()

include("${CMAKE_CURRENT_LIST_DIR}/TorchCUDAArchitectures.cmake")

# torch_cuda_sources(FILE...): files in the language of kernels, of the current folder.
function(torch_cuda_sources)
  if(TORCH_CUDA_EMULATION)
    # Each access of a kernel is to be seen: test/cuda_emulation/access.cpp stands in for the sanitizer's library (and asks
    # AddressSanitizer, which cannot be had in the same file). An index beyond a thread's own array is a signal.
    set(watched "-fno-sanitize=address;-fsanitize=thread,bounds;-fsanitize-undefined-trap-on-error")
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CXX
      COMPILE_OPTIONS "-x;c++;-include;cuda_emulation.h;-Wno-unknown-pragmas;${watched}")
  endif()
endfunction()
