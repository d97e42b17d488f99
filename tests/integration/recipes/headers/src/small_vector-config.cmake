add_library(small_vector::small_vector INTERFACE IMPORTED)
set_target_properties(small_vector::small_vector PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_LIST_DIR}/../../../include")
