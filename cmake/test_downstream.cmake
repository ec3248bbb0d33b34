# Installs the package into a folder of the build, builds examples/downstream against it alone, and runs it.
function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
set(folder ${BUILD}/downstream)
file(REMOVE_RECURSE ${folder})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${folder}/prefix --component dev)
run(${CMAKE_COMMAND} -E env CMAKE_PREFIX_PATH=${folder}/prefix:${PREFIX} ${CMAKE_COMMAND} -S ${SOURCE}/examples/downstream -B ${folder}/build
    -G Ninja -DCMAKE_MAKE_PROGRAM=${NINJA} -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=Release)
run(${CMAKE_COMMAND} --build ${folder}/build)
run(${folder}/build/drop)
