# SPDX-License-Identifier: GPL-2.0-or-later
cmake_minimum_required(VERSION 3.25)
# Write OUTPUT: a row {"NAME", __NR_NAME}, for each system call of <asm/unistd.h>, as
# COMPILER finds it, in the order of strcmp(). The numbers stay macros: some are
# defined by others.
file(WRITE ${OUTPUT}.h "#include <asm/unistd.h>\n")
execute_process(
  COMMAND ${COMPILER} --sysroot=${SYSROOT} -E -dM ${OUTPUT}.h
  OUTPUT_VARIABLE macros COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE ${OUTPUT}.h)
string(REGEX MATCHALL "#define __NR_[a-z0-9_]+ " names "${macros}")
list(TRANSFORM names REPLACE "#define __NR_([a-z0-9_]+) " "{\"\\1\", __NR_\\1},\n")
# How many there are, and where an architecture's own begin.
list(FILTER names EXCLUDE REGEX "__NR_(syscalls|arch_specific_syscall)}")
list(SORT names)
list(JOIN names "" rows)
file(WRITE ${OUTPUT} "${rows}")
