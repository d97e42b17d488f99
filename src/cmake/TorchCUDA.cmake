# Finds the CUDA compiler and settles which device code is made; or, for tests, compiles the same files for an emulated device.
#   TORCH_CUDA_ARCHITECTURES  in TorchCUDAArchitectures.cmake
#   TORCH_CUDA_MAGMA          factorises by MAGMA, too; ON where its header is found, OFF leaves it out.
#   TORCH_CUDA_CUDNN          convolves by cuDNN; likewise.

option(TORCH_CUDA_EMULATION "Compile the plug-in for test/cuda_emulation, with the host's compiler" OFF)

# torch_cuda_library(NAME PURPOSE HEADER LIBRARY PACKAGE): an option TORCH_CUDA_NAME, and where the library is.
function(torch_cuda_library name purpose header library package)
  find_path(${name}_INCLUDE_DIR ${header} PATH_SUFFIXES targets/x86_64-linux/include)
  find_library(${name}_LIBRARY ${library})
  if(TORCH_CUDA_EMULATION OR (${name}_INCLUDE_DIR AND ${name}_LIBRARY))
    set(is_there ON)
  else()
    set(is_there OFF)
  endif()
  option(TORCH_CUDA_${name} "${purpose}" ${is_there})
  if(TORCH_CUDA_${name} AND NOT is_there)
    message(FATAL_ERROR "TORCH_CUDA_${name} is ON, and there is no ${header} or no lib${library}: install ${package}, or set "
      "CMAKE_PREFIX_PATH to where it is")
  endif()
  message(STATUS "${name}: ${TORCH_CUDA_${name}}")
endfunction()
torch_cuda_library(MAGMA "Factorise by MAGMA, too" magma_v2.h magma libmagma-devel)
torch_cuda_library(CUDNN "Convolve by cuDNN" cudnn.h cudnn cudnn)

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
  foreach(library MAGMA::magma CUDNN::cudnn)
    string(REGEX REPLACE "::.*" "" name ${library})
    if(TORCH_CUDA_${name})
      add_library(${library} UNKNOWN IMPORTED)
      set_target_properties(${library} PROPERTIES
        IMPORTED_LOCATION "${${name}_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${${name}_INCLUDE_DIR}")
      # Their headers take in others of CUDA.
      target_link_libraries(${library} INTERFACE CUDA::toolkit)
    endif()
  endforeach()
endif()

include("${CMAKE_CURRENT_LIST_DIR}/TorchCUDAArchitectures.cmake")

# torch_cuda_sources(FILE...): files in the language of kernels, of the current folder. Kernels tell by assert() what is out of
# range, in releases too.
function(torch_cuda_sources)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "-UNDEBUG")
  if(TORCH_CUDA_EMULATION)
    # Each access of a kernel is to be seen: test/cuda_emulation/access.cpp stands in for the sanitizer's library (and asks
    # AddressSanitizer, which cannot be had in the same file). An index beyond a thread's own array is a signal.
    set(watched "-fno-sanitize=address;-fsanitize=thread,bounds;-fsanitize-undefined-trap-on-error")
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CXX
      COMPILE_OPTIONS "-UNDEBUG;-x;c++;-include;cuda_emulation.h;-Wno-unknown-pragmas;${watched}")
  endif()
endfunction()
