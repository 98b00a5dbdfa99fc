# Cross compilation for 64-bit ARM on Debian: g++-aarch64-linux-gnu, and the libraries' arm64 packages, which tools/arm64 unpacks.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(WEFT_ARM64_PACKAGES ${CMAKE_CURRENT_LIST_DIR}/../build/arm64-packages)
set(WEFT_ARM64_LIBRARIES ${WEFT_ARM64_PACKAGES}/usr/lib/aarch64-linux-gnu)
# Libraries are those of the packages; headers without an architecture may be this machine's.
set(CMAKE_FIND_ROOT_PATH ${WEFT_ARM64_PACKAGES})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${WEFT_ARM64_PACKAGES})
set(ENV{PKG_CONFIG_LIBDIR} ${WEFT_ARM64_LIBRARIES}/pkgconfig:${WEFT_ARM64_PACKAGES}/usr/share/pkgconfig)
set(CMAKE_C_FLAGS_INIT "-isystem ${WEFT_ARM64_PACKAGES}/usr/include/aarch64-linux-gnu -isystem ${WEFT_ARM64_PACKAGES}/usr/include")
set(CMAKE_CXX_FLAGS_INIT "${CMAKE_C_FLAGS_INIT}")
# What the libraries need themselves is looked for when linking, too.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-L${WEFT_ARM64_LIBRARIES} -Wl,-rpath-link,${WEFT_ARM64_LIBRARIES}:${WEFT_ARM64_PACKAGES}/lib/aarch64-linux-gnu")
