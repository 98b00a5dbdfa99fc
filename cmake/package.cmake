# A package has a build of the engine for each of WEFT_LEVELS, in folders from which the dynamic loader takes the highest that the processor
# has (glibc 2.33 or newer). There is no other choice by processor, at build time or at run time:
#
#   bin/weft                                      a few lines of main
#   lib/libweft.so.1                              the C interface, lowest level
#   lib/glibc-hwcaps/LEVEL/libweft.so.1
#   lib/weft/libweft-command.so                   the commands with the engine in them (libweft.so hides the C++ that they use), lowest level
#   lib/weft/glibc-hwcaps/LEVEL/libweft-command.so
set(command_dir ${CMAKE_INSTALL_LIBDIR}/weft)

# weft_command_library(LEVEL OBJECTS FOLDER): the commands for a level; only their main is exported.
function(weft_command_library level objects folder)
  set(target weft_command_${level})
  add_library(${target} SHARED ${${objects}_objects})
  weft_commands(${target} -march=${level})
  target_compile_definitions(${target} PRIVATE WEFT_LEVEL="${level}")
  set_target_properties(${target} PROPERTIES OUTPUT_NAME weft-command CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
                                             LIBRARY_OUTPUT_DIRECTORY ${folder} LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/libweft-command.map)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} runtime/include)
  target_link_libraries(${target} PRIVATE Eigen3::Eigen Threads::Threads ${WEFT_LIBRARIES})
  target_link_options(${target} PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/libweft-command.map -Wl,-z,defs)
endfunction()

foreach(level ${WEFT_LEVELS})
  set(hwcaps glibc-hwcaps/${level})
  if(level STREQUAL WEFT_LOWEST_LEVEL)
    # The libraries outside of the folders; that of the level has links to them.
    weft_command_library(${level} weft_engine ${CMAKE_BINARY_DIR}/lib/weft)
    install(TARGETS weft_command_${level} LIBRARY DESTINATION ${command_dir})
    foreach(library libweft.so.1 weft/libweft-command.so)
      get_filename_component(folder ${library} DIRECTORY)
      get_filename_component(name ${library} NAME)
      file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/links/${folder})
      file(CREATE_LINK ../../${name} ${CMAKE_BINARY_DIR}/links/${library} SYMBOLIC)
      install(FILES ${CMAKE_BINARY_DIR}/links/${library} DESTINATION ${CMAKE_INSTALL_LIBDIR}/${folder}/${hwcaps})
    endforeach()
  else()
    weft_objects(weft_engine_${level} -march=${level})
    weft_shared_library(weft_shared_${level} weft_engine_${level} ${CMAKE_BINARY_DIR}/lib/${hwcaps})
    weft_command_library(${level} weft_engine_${level} ${CMAKE_BINARY_DIR}/lib/weft/${hwcaps})
    install(TARGETS weft_shared_${level} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/${hwcaps} NAMELINK_SKIP)
    install(TARGETS weft_command_${level} LIBRARY DESTINATION ${command_dir}/${hwcaps})
  endif()
endforeach()

file(RELATIVE_PATH up /${CMAKE_INSTALL_BINDIR} /${command_dir})
target_link_libraries(weft_cli PRIVATE weft_command_${WEFT_LOWEST_LEVEL})
set_target_properties(weft_cli PROPERTIES BUILD_RPATH_USE_ORIGIN ON INSTALL_RPATH "$ORIGIN/${up}")
