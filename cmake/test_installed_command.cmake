# The command starts where it is installed outside of an environment, as `cmake --install BUILD --prefix DIR` leaves it, and finds its scenes.
set(folder ${BUILD}/installed)
file(REMOVE_RECURSE ${folder})
foreach(command "${CMAKE_COMMAND};--install;${BUILD};--prefix;${folder};--component;run" "${folder}/bin/stiction;scenes")
  execute_process(COMMAND ${command} OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
endforeach()
if(NOT said MATCHES "quadruped")
  message(FATAL_ERROR "The scenes that come with the command are not found:\n${said}")
endif()
