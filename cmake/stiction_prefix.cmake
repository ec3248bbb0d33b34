# Finds the folder where the robotics wheels keep their C++ headers and libraries, `cmeel.prefix` in site-packages, and puts it
# first in CMAKE_PREFIX_PATH: the one already named there, else that of the Python that builds a wheel, else that of .venv.
# Sets where the command, the Python module and the models are installed: STICTION_SCRIPTS, STICTION_SITE_PACKAGES, STICTION_SHARE, and
# the path of site-packages from the root of an environment, STICTION_PYTHON_LIB.
if(NOT CMAKE_PREFIX_PATH MATCHES "cmeel\\.prefix")
  if(SKBUILD)
    find_package(Python 3.11 REQUIRED COMPONENTS Interpreter)
    execute_process(
      COMMAND ${Python_EXECUTABLE} -c "import importlib.util as u; print(u.find_spec('cmeel').submodule_search_locations[0])"
      OUTPUT_VARIABLE cmeel_package OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    set(stiction_prefix ${cmeel_package}/../cmeel.prefix)
    cmake_path(NORMAL_PATH stiction_prefix)
  else()
    file(GLOB stiction_prefix ${PROJECT_SOURCE_DIR}/.venv/lib/python3.*/site-packages/cmeel.prefix)
  endif()
  if(NOT EXISTS "${stiction_prefix}")
    message(FATAL_ERROR "Pinocchio's wheels are not installed: run ./dev build once, or name their cmeel.prefix in CMAKE_PREFIX_PATH")
  endif()
  list(PREPEND CMAKE_PREFIX_PATH ${stiction_prefix})
endif()

string(REGEX MATCH "lib/python3\\.[0-9]+/site-packages" STICTION_PYTHON_LIB "${CMAKE_PREFIX_PATH}")
if(SKBUILD)
  set(STICTION_SITE_PACKAGES ${SKBUILD_PLATLIB_DIR})
  set(STICTION_SCRIPTS ${SKBUILD_SCRIPTS_DIR})
  set(STICTION_SHARE ${SKBUILD_DATA_DIR}/share/stiction)
else()
  set(STICTION_SITE_PACKAGES ${STICTION_PYTHON_LIB})
  set(STICTION_SCRIPTS bin)
  set(STICTION_SHARE share/stiction)
endif()
