# Imported targets of an installed Caudal:
#
#   caudal::caudal   the shared library
#   caudal::static   the same, linked into the program
#   caudal::probe    the probes alone, without a runtime
#
# One of them per program: each has the probe's thread-local block, of which a program has one.
get_filename_component(_caudal_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET caudal::caudal)
  add_library(caudal::caudal SHARED IMPORTED)
  set_target_properties(caudal::caudal PROPERTIES
    IMPORTED_LOCATION "${_caudal_prefix}/lib/libcaudal.so.@ABI@"
    IMPORTED_SONAME "libcaudal.so.@ABI@"
    INTERFACE_INCLUDE_DIRECTORIES "${_caudal_prefix}/include")

  add_library(caudal::static STATIC IMPORTED)
  set_target_properties(caudal::static PROPERTIES
    IMPORTED_LOCATION "${_caudal_prefix}/lib/libcaudal.a"
    IMPORTED_LINK_INTERFACE_LANGUAGES "C"
    INTERFACE_LINK_LIBRARIES "gcc_s;pthread;m;dl"
    INTERFACE_INCLUDE_DIRECTORIES "${_caudal_prefix}/include")

  add_library(caudal::probe STATIC IMPORTED)
  set_target_properties(caudal::probe PROPERTIES
    IMPORTED_LOCATION "${_caudal_prefix}/lib/libcaudal_probe.a"
    IMPORTED_LINK_INTERFACE_LANGUAGES "C"
    INTERFACE_INCLUDE_DIRECTORIES "${_caudal_prefix}/include")
endif()

unset(_caudal_prefix)
