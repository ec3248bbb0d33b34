# stiction_room(NAME [LINKS target...] [PRIVATE_LINKS target...] [TEST_LINKS target...] [EXCLUDE regex])
#   One folder, one static library `stiction_NAME` of every .cpp below it, and one test executable `NAME_tests` of every
#   *_test.cpp. A room links only to the rooms that stand above it in src/stiction/CMakeLists.txt. Files of a room are compiled together:
#   names in their anonymous namespaces differ; a test keeps its own in a namespace called as its file.
# Layout and allocation of Eigen's types, whatever instruction set or sanitizer a compiler is asked for: base/eigen_layout.hpp holds all to it.
set(STICTION_EIGEN_LAYOUT EIGEN_MAX_ALIGN_BYTES=16 EIGEN_MALLOC_ALREADY_ALIGNED=1)
add_compile_definitions(${STICTION_EIGEN_LAYOUT})
add_library(stiction_flags INTERFACE)
target_compile_options(stiction_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Werror
                       -Wno-maybe-uninitialized  # GCC 12 sees uninitialised members in every std::variant that is moved
                       -Wno-psabi  # vectors of four pass between functions that are inlined, and nowhere else
                       # Below a gigabyte no garbage is collected: a tenth less time to compile, a quarter more memory.
                       $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=1000000>)
target_compile_definitions(stiction_flags INTERFACE _FILE_OFFSET_BITS=64)  # tinyxml2 asks for it, and a precompiled header must agree
if(STICTION_SANITIZE)
  # Left out, for half of the time to compile, is what the address sanitizer and, for alignment, Eigen's assertions find too.
  target_compile_options(stiction_flags INTERFACE -fsanitize=${STICTION_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
                         -fno-sanitize=null,alignment,object-size,pointer-overflow,nonnull-attribute,returns-nonnull-attribute)
  target_link_options(stiction_flags INTERFACE -fsanitize=${STICTION_SANITIZE})
endif()

# Parsing Eigen, fmt and GoogleTest is most of what a short file costs: they are parsed once per set of flags. A file still includes what it uses.
function(stiction_precompile target)
  cmake_parse_arguments(PCH "" "" "LINKS;OPTIONS;HEADERS" ${ARGN})
  file(CONFIGURE OUTPUT ${target}.cpp CONTENT "")
  add_library(${target} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp)
  target_link_libraries(${target} PRIVATE Eigen3::Eigen fmt::fmt stiction_flags ${PCH_LINKS})
  target_compile_options(${target} PRIVATE ${PCH_OPTIONS})
  target_precompile_headers(${target} PRIVATE <algorithm> <cmath> <filesystem> <functional> <map> <memory> <numbers> <optional> <random> <span>
                            <string> <vector> <fmt/format.h> ${PROJECT_SOURCE_DIR}/src/stiction/base/eigen_instances.hpp ${PCH_HEADERS})
endfunction()
set(STICTION_TEST_OPTIONS $<$<CONFIG:Release>:-O1>)  # a third less time to compile; tests are short
stiction_precompile(stiction_precompiled)
if(STICTION_TESTS)
  stiction_precompile(stiction_precompiled_tests LINKS GTest::gmock OPTIONS ${STICTION_TEST_OPTIONS} -fPIE
                      HEADERS <gtest/gtest.h> <gmock/gmock.h>)
  set_target_properties(stiction_precompiled_tests PROPERTIES POSITION_INDEPENDENT_CODE OFF)  # executables get -fPIE, libraries -fPIC
endif()

# Paths of this checkout in a header, not on every command line: files that do not include it compile to the same object in every checkout.
if(STICTION_TESTS OR STICTION_BENCH)
  find_package(example-robot-data REQUIRED)
  get_filename_component(EXAMPLE_ROBOT_DATA "${example-robot-data_INCLUDE_DIRS}/../share/example-robot-data/robots" ABSOLUTE)
  set(STICTION_TEST_PATHS ${PROJECT_BINARY_DIR}/test_paths)
  file(CONFIGURE OUTPUT ${STICTION_TEST_PATHS}/test_paths.hpp @ONLY CONTENT [[
#pragma once
#define STICTION_SOURCE_DIR "@PROJECT_SOURCE_DIR@"
#define EXAMPLE_ROBOT_DATA "@EXAMPLE_ROBOT_DATA@"
]])
endif()

# Several files in one: what Eigen's, CLI11's and nanobind's templates cost is paid once for them. Twelve take a tenth less time than six and
# 2 GB of memory, so six where a core has less than twice that.
cmake_host_system_information(RESULT memory QUERY TOTAL_PHYSICAL_MEMORY)  # MiB
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
math(EXPR share "${memory} / ${cores}")
if(share LESS 4096)
  set(STICTION_FILES_PER_UNIT 6)
else()
  set(STICTION_FILES_PER_UNIT 12)
endif()
function(stiction_unite target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${STICTION_UNITY} UNITY_BUILD_BATCH_SIZE ${STICTION_FILES_PER_UNIT}
                        UNITY_BUILD_RELOCATABLE ON)
endfunction()

function(stiction_room name)
  cmake_parse_arguments(ROOM "" "EXCLUDE" "LINKS;PRIVATE_LINKS;TEST_LINKS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  if(ROOM_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "${ROOM_EXCLUDE}")
    list(FILTER tests EXCLUDE REGEX "${ROOM_EXCLUDE}")
  endif()
  if(sources)
    add_library(stiction_${name} STATIC ${sources})
    target_include_directories(stiction_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
    target_precompile_headers(stiction_${name} REUSE_FROM stiction_precompiled)
    stiction_unite(stiction_${name})
    target_link_libraries(stiction_${name} PUBLIC ${ROOM_LINKS} Eigen3::Eigen PRIVATE ${ROOM_PRIVATE_LINKS} fmt::fmt stiction_flags)
  else()
    add_library(stiction_${name} INTERFACE)
    target_include_directories(stiction_${name} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
    target_link_libraries(stiction_${name} INTERFACE ${ROOM_LINKS} Eigen3::Eigen)
  endif()
  target_compile_definitions(stiction_${name} INTERFACE ${STICTION_EIGEN_LAYOUT})
  if(STICTION_TESTS AND tests)
    add_executable(${name}_tests ${tests})
    target_link_libraries(${name}_tests PRIVATE stiction_${name} ${ROOM_PRIVATE_LINKS} ${ROOM_TEST_LINKS} stiction_flags GTest::gtest_main GTest::gmock fmt::fmt
                          stiction_count_allocations)
    target_include_directories(${name}_tests PRIVATE ${STICTION_TEST_PATHS})
    target_compile_options(${name}_tests PRIVATE ${STICTION_TEST_OPTIONS})
    target_precompile_headers(${name}_tests REUSE_FROM stiction_precompiled_tests)
    stiction_unite(${name}_tests)
    gtest_discover_tests(${name}_tests TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60 NO_PRETTY_VALUES)
  endif()
endfunction()
