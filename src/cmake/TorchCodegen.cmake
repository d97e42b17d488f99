# Runs torchgen. At configure time it is asked what it would write; at build time it writes what changed.
# Python >= 3.9 with PyYAML is needed for building only.

find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
set(TORCH_DECLARATION_FILES
  "${TORCH_SOURCE_ROOT}/c10/core/ScalarType.h"
  "${TORCH_SOURCE_ROOT}/aten/native_functions.yaml"
  "${TORCH_SOURCE_ROOT}/aten/kernels.yaml"
  "${TORCH_SOURCE_ROOT}/aten/derivatives.yaml"
  "${TORCH_SOURCE_ROOT}/aten/docstrings.yaml")
file(GLOB TORCH_TORCHGEN_FILES CONFIGURE_DEPENDS  # the generator's own parts: inputs of a command, not sources
  "${TORCH_SOURCE_ROOT}/torchgen/*.py" "${TORCH_SOURCE_ROOT}/torchgen/templates/*")
# A changed list of operators can change the list of outputs: configure again then.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${TORCH_DECLARATION_FILES} ${TORCH_TORCHGEN_FILES})

# torch_codegen(GROUP OUTPUT_VARIABLE): a rule that writes the files of torchgen's GROUP; their paths in OUTPUT_VARIABLE.
function(torch_codegen group output_variable)
  set(command ${CMAKE_COMMAND} -E env "PYTHONPATH=${TORCH_SOURCE_ROOT}" PYTHONDONTWRITEBYTECODE=1
    ${Python3_EXECUTABLE} -m torchgen --source-dir ${TORCH_SOURCE_ROOT} --output-dir ${TORCH_GENERATED_ROOT}
    --only ${group})
  execute_process(COMMAND ${command} --list-outputs
    OUTPUT_VARIABLE outputs OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE result ERROR_VARIABLE message)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "torchgen cannot list what it generates for `${group}`:\n${message}\n"
      "It needs Python >= 3.9 with PyYAML; `${Python3_EXECUTABLE}` was used (set Python3_EXECUTABLE to choose another).")
  endif()
  # Unchanged files keep their date, so the rule's own output is a stamp, and the files are its by-products.
  set(stamp "${CMAKE_CURRENT_BINARY_DIR}/torchgen-${group}.stamp")
  add_custom_command(OUTPUT ${stamp} BYPRODUCTS ${outputs}
    COMMAND ${command} COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS ${TORCH_DECLARATION_FILES} ${TORCH_TORCHGEN_FILES} VERBATIM
    COMMENT "Generating sources of ${group}")
  add_custom_target(torchgen_${group} DEPENDS ${stamp})
  set_source_files_properties(${outputs} PROPERTIES GENERATED ON)
  set(${output_variable} ${outputs} PARENT_SCOPE)
endfunction()
