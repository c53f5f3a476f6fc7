/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The questions that sym/sym.h takes, and their answers; the rooms of sym share them. */
#ifndef TRACEKIT_SYM_TYPES_H
#define TRACEKIT_SYM_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Executable memory of a process, as a MMAP2 record of perf_event_open(2) has it. */
struct sym_mapping {
	uint64_t start, end; /* addresses; end is behind the last byte */
	uint64_t offset;     /* of start in the file */
	dev_t device;
	ino_t inode;	   /* 0: no file */
	uint64_t modified; /* the file, as of struct sym_file_id; 0: it is not known */
	const char *path;  /* "[vdso]" and "//anon" for memory without a file; or NULL */
};

/*
 * The mappings that a process is known to have made, in their order: each takes the place of
 * whatever it overlaps. All of them lie on top of what the process parent has mapped now, or had
 * when it was remembered, unless the image is whole, or parent is 0.
 */
struct sym_image {
	pid_t parent; /* that may have the same files mapped; 0: none */
	bool whole;   /* the parent's mappings are not this process's, or are all here */
	const struct sym_mapping *mappings;
	size_t nr;
};

/* The form of names, and where else they may come from. */
struct sym_settings {
	bool mangled; /* leave the names of C++ and Rust functions as they stand in their files */
	/*
	 * From the debug data of programs and libraries: calls that the compiler has replaced by
	 * the called function, and places in the source code.
	 */
	bool inlined, lines;
	/*
	 * The files of symbols and debug data that are kept apart from their programs are looked
	 * for in a folder as well, which is laid out as a root (NULL: none), and on the servers
	 * that debuginfod-find(1) knows.
	 */
	const char *symfs;
	bool debuginfod;
	/*
	 * The end of passed_files__open() that receives, for as long as there is a symbolizer:
	 * files that are held for names (sym/process/passed_file.h). 0: none.
	 */
	int passed_files;
	bool files; /* answers have paths and build IDs, for whoever looks into the files later */
};

/* A place in the source code of a program. */
struct sym_source {
	const char *file; /* with folders, as the debug data has it; NULL: not known */
	uint32_t line;	  /* 0: not known */
};

/* A function that was inlined. */
struct sym_inlined {
	const char *name; /* as that of a query */
	struct sym_source source;
};

/*
 * A file that processes have mapped: as the kernel shows it there, and as it was then. For the vDSO
 * all is 0.
 */
struct sym_file_id {
	dev_t device;
	ino_t inode;
	uint64_t size;
	uint64_t modified; /* nanoseconds since 1970, modulo 2^64 */
};

/* The question and its answer. Strings are valid until symbolizer__forget_names(). */
struct sym_query {
	pid_t pid; /* in the caller's PID namespace; not looked at for kernel addresses */
	/*
	 * The program that the process has run: field 28 of /proc/PID/stat then. By now it may have
	 * called exec(), or be another process, which is not asked. 0: it is asked as it is now.
	 */
	uint64_t program;
	uint64_t address;
	/*
	 * The address that a call returns to: looked up at the call, one byte
	 * before, since a call can be the last instruction of its function. The
	 * offset in the answer is that of the address itself all the same.
	 */
	bool return_address;
	/*
	 * The address is an offset in this file, wherever the process has it mapped. The answer has
	 * the address in the process, and in_file is false, unless the process does not have the
	 * file, or it can be opened no more. A file that has become another one has no names.
	 */
	bool in_file;
	struct sym_file_id file;

	const char *name; /* of the function, demangled; unchecked bytes; NULL: not found */
	uint64_t offset;  /* of the address within that function */
	/*
	 * The file's name without its folders, "[vdso]" and the like, or the kernel
	 * module; NULL: memory without a file, or the kernel itself.
	 */
	const char *module;
	/* User space: the address in the file's address space; if it is no program, in the file. */
	uint64_t module_offset;
	/*
	 * User space, if settings.files: the program or library, by the path that the process has
	 * it by, and its build ID in hexadecimal (NULL: it has none); and where the address is in
	 * it. NULL: there is no such file, or it could not be read.
	 */
	const char *path, *build_id;
	uint64_t file_offset;
	/*
	 * User space: the process has generated the code there, for all that is known. It may have
	 * a name later if it has none, and another one when it is replaced.
	 */
	bool generated;

	/*
	 * The functions that were inlined there into the one with that name, the innermost first.
	 * The innermost one's source is at the address; the source of each other one, and at last
	 * of the function itself, is where it calls the one before.
	 */
	const struct sym_inlined *inlined;
	uint32_t nr_inlined;
	struct sym_source source; /* of the function */
};

/*
 * The length of a path, or of the end of one, without the " (deleted)" that the kernel puts behind.
 */
size_t mapping_path__length(const char *path);

/*
 * The name that a query's module has, by the path that the kernel shows for the file: *length
 * bytes. 0: it has no name.
 */
const char *sym_module__name(const char *path, size_t *length);

/* Where a query is looked up. */
static inline uint64_t sym_query__lookup_address(const struct sym_query *query)
{
	return query->address - (query->return_address && query->address);
}

#endif
