# SPDX-License-Identifier: GPL-2.0-or-later
cmake_minimum_required(VERSION 3.25)
# Write OUTPUT, the header with the version and git revision, if that changes it.
execute_process(
  COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
  OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT revision)
  set(revision "no git revision")
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT
"#define TRACEKIT_VERSION \"@VERSION@\"
#define TRACEKIT_REVISION \"@revision@\"
")
