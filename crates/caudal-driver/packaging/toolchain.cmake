# Compiles with probes: cmake -DCMAKE_TOOLCHAIN_FILE=PREFIX/lib/cmake/Caudal/toolchain.cmake
#
# Options go into CMAKE_C_FLAGS and CMAKE_CXX_FLAGS: -DCMAKE_C_FLAGS=--probe-mode=flag
get_filename_component(_caudal_bin "${CMAKE_CURRENT_LIST_DIR}/../../../bin" ABSOLUTE)
set(CMAKE_C_COMPILER "${_caudal_bin}/caudal-cc")
set(CMAKE_CXX_COMPILER "${_caudal_bin}/caudal-c++")

# Archives of bitcode, with INTERPROCEDURAL_OPTIMIZATION, take the tools of clang's own version. CMake would look for
# `caudal-llvm-ar`: the name of the compiler looks to it like that of a cross compiler.
foreach(_caudal_tool IN ITEMS ar ranlib)
  execute_process(
    COMMAND "${CMAKE_C_COMPILER}" "-print-prog-name=llvm-${_caudal_tool}"
    OUTPUT_VARIABLE _caudal_path
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(TOUPPER "${_caudal_tool}" _caudal_tool)
  set(CMAKE_C_COMPILER_${_caudal_tool} "${_caudal_path}" CACHE FILEPATH "of clang's version")
  set(CMAKE_CXX_COMPILER_${_caudal_tool} "${_caudal_path}" CACHE FILEPATH "of clang's version")
endforeach()
unset(_caudal_bin)
unset(_caudal_path)
unset(_caudal_tool)
