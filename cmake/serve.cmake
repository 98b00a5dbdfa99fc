# The server of the visual editor (tools/serve), an object library that the commands take in. It is built on weft.h alone. Files that are
# inside of the program: the editor's, where tools/editor/build has made them, the sample pages, the description of the interface.
find_package(OpenSSL 3.0 REQUIRED)
find_path(WEFT_BEAST boost/beast/core.hpp REQUIRED)

file(GLOB WEFT_SERVE CONFIGURE_DEPENDS tools/serve/*.cc)
file(GLOB WEFT_SERVE_GRAPHS CONFIGURE_DEPENDS graphs/*.page.json)
file(GLOB_RECURSE WEFT_EDITOR_FILES CONFIGURE_DEPENDS tools/editor/dist/*)
set(embedded openapi.json=${PROJECT_SOURCE_DIR}/tools/serve/openapi.json no_editor.html=${PROJECT_SOURCE_DIR}/tools/serve/no_editor.html)
foreach(graph ${WEFT_SERVE_GRAPHS})
  get_filename_component(name ${graph} NAME)
  list(APPEND embedded graphs/${name}=${graph})
endforeach()
if(WEFT_EDITOR_FILES)
  list(APPEND embedded editor=@${PROJECT_SOURCE_DIR}/tools/editor/dist)
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(WEFT_ASSETS ${CMAKE_BINARY_DIR}/serve/assets_data.cc)
add_custom_command(
  OUTPUT ${WEFT_ASSETS}
  COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/serve/embed.py ${WEFT_ASSETS} ${CMAKE_BINARY_DIR}/serve/files ${embedded}
  DEPENDS tools/serve/embed.py tools/serve/openapi.json tools/serve/no_editor.html ${WEFT_SERVE_GRAPHS} ${WEFT_EDITOR_FILES}
  COMMENT "Files for the server" VERBATIM)

add_library(weft_serve OBJECT ${WEFT_SERVE} ${WEFT_ASSETS})
set_target_properties(weft_serve PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
target_include_directories(weft_serve PRIVATE ${PROJECT_SOURCE_DIR} runtime/include)
target_link_libraries(weft_serve PUBLIC OpenSSL::SSL ZLIB::ZLIB Threads::Threads PRIVATE nlohmann_json::nlohmann_json)
# JSON of large pages is read and written here.
target_compile_options(weft_serve PRIVATE $<IF:$<CONFIG:Release>,-O2,${WEFT_TOOLS_OPTIMIZATION}>)
target_precompile_headers(weft_serve PRIVATE <algorithm> <functional> <map> <memory> <mutex> <string> <vector> <nlohmann/json.hpp>)
# Link-time optimisation does not know the names that the assembler alone sees.
set_source_files_properties(${WEFT_ASSETS} PROPERTIES SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS -fno-lto)
weft_unity(weft_serve)
# What these include is large, and the same.
set_source_files_properties(tools/serve/net.cc tools/serve/net_http.cc tools/serve/net_socket.cc tools/serve/net_stream.cc PROPERTIES UNITY_GROUP net)
