# Compiles with probes: cmake -DCMAKE_TOOLCHAIN_FILE=PREFIX/lib/cmake/Caudal/toolchain.cmake
#
# Options go into CMAKE_C_FLAGS and CMAKE_CXX_FLAGS: -DCMAKE_C_FLAGS=--probe-mode=flag
get_filename_component(_caudal_bin "${CMAKE_CURRENT_LIST_DIR}/../../../bin" ABSOLUTE)
set(CMAKE_C_COMPILER "${_caudal_bin}/caudal-cc")
set(CMAKE_CXX_COMPILER "${_caudal_bin}/caudal-c++")
unset(_caudal_bin)
