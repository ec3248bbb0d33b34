# What other CMake projects find with find_package(stiction): libraries of the rooms from base to sim, control and plan, their headers in a
# folder named by the version, and the package's configuration. `cmake --install BUILD --prefix DIR --component dev`.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(headers ${CMAKE_INSTALL_INCLUDEDIR}/stiction-${PROJECT_VERSION})
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/stiction-${PROJECT_VERSION})
set(rooms base model geometry problem io drive assemble lcp qp mlcp prox cone soft_cone sparse_qp laws forward inverse control plan record sim)
set(found)
foreach(room ${rooms})
  if(TARGET stiction_${room})
    set_target_properties(stiction_${room} PROPERTIES EXPORT_NAME ${room})
    target_compile_features(stiction_${room} PUBLIC cxx_std_20)  # each can be linked by itself
    list(APPEND found stiction_${room})
  endif()
endforeach()
set_target_properties(stiction_programs PROPERTIES EXPORT_NAME programs)
set_target_properties(stiction_flags PROPERTIES EXPORT_NAME build_flags)  # linked privately: a static library names it, nobody gets its options
add_library(stiction_all INTERFACE)  # all of them
set_target_properties(stiction_all PROPERTIES EXPORT_NAME stiction)
target_link_libraries(stiction_all INTERFACE stiction_sim stiction_inverse stiction_plan)
install(TARGETS ${found} stiction_programs stiction_flags stiction_all EXPORT stiction ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev
        INCLUDES DESTINATION ${headers})
install(EXPORT stiction NAMESPACE stiction:: FILE stictionTargets.cmake DESTINATION ${package} COMPONENT dev)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/stiction DESTINATION ${headers} COMPONENT dev FILES_MATCHING PATTERN "*.hpp" PATTERN "*.def"
        PATTERN "baselines" EXCLUDE PATTERN "compare" EXCLUDE PATTERN "experiments" EXCLUDE PATTERN "allocation_counter.hpp" EXCLUDE PATTERN "*_test.hpp" EXCLUDE PATTERN "*_for_test.hpp" EXCLUDE
        PATTERN "*_testing.hpp" EXCLUDE PATTERN "test_*.hpp" EXCLUDE PATTERN "test_data" EXCLUDE PATTERN "pair_fixture.hpp" EXCLUDE
        PATTERN "random_surfaces.hpp" EXCLUDE PATTERN "qp_reference.hpp" EXCLUDE PATTERN "reference_shapes.hpp" EXCLUDE
        # those of the readers need their XML library
        PATTERN "xml.hpp" EXCLUDE PATTERN "robot_readers.hpp" EXCLUDE PATTERN "mjcf_context.hpp" EXCLUDE PATTERN "srdf.hpp" EXCLUDE PATTERN "left_out.hpp" EXCLUDE)
configure_file(${PROJECT_SOURCE_DIR}/cmake/version.hpp.in ${CMAKE_CURRENT_BINARY_DIR}/version.hpp @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/version.hpp DESTINATION ${headers}/stiction COMPONENT dev)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/stictionConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/stictionConfig.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/stictionConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/stictionConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/stictionConfigVersion.cmake DESTINATION ${package}
        COMPONENT dev)
