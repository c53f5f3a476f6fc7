# SPDX-License-Identifier: GPL-2.0-or-later
# Build for arm64 on another machine with Debian 12: with its cross compiler, and with the libraries
# of Debian's arm64 in a folder of their own, which scripts/foreign-root makes the first time.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)

get_filename_component(source ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
set(CMAKE_SYSROOT ${source}/build-arm64-root)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)

execute_process(
  COMMAND bash -c ". scripts/packages.sh && scripts/foreign-root arm64 \"$1\" \"\${LIBRARY_PACKAGES[@]}\""
    foreign-root ${CMAKE_SYSROOT}
  WORKING_DIRECTORY ${source} COMMAND_ERROR_IS_FATAL ANY)

set(libraries ${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${libraries}/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig)
