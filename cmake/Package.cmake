# SPDX-License-Identifier: GPL-2.0-or-later
# cpack -G DEB: a package for Debian with the program, the links, the manual and completion. It
# depends on nothing, since the program is static.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The authors of tracekit")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION
"One static program that does the work of bcc's profile, stackcount and stacksnoop:
it samples, counts or prints the stacks of the kernel and of programs, whole ones
also without frame pointers, and draws flame graphs of them. It needs neither Python
nor LLVM nor the headers of the kernel.")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/COPYING)
# The links are made by the install script, in the place that it is told by DESTDIR.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES OFF)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64) # not that of the machine that builds it
endif()
include(CPack)
