/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The questions that sym/sym.h takes, and their answers; the rooms of sym share them. */
#ifndef TRACEKIT_SYM_TYPES_H
#define TRACEKIT_SYM_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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
	bool files;   /* answers have paths and build IDs, for whoever looks into the files later */
	bool symbols; /* answers have names as they stand in their files beside those that are shown
		       */
	bool starts;  /* answers without a name say where the function begins */
};

/* A place in the source code of a program. */
struct sym_source {
	const char *file; /* with folders, as the debug data has it; NULL: not known */
	uint32_t line;	  /* 0: not known */
};

/* A function that was inlined. */
struct sym_inlined {
	const char *name, *symbol; /* as those of a query */
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

/* A file that frames are in, and where it is looked for unless it was passed. */
struct sym_mapped_file {
	struct sym_file_id id;
	pid_t pid;	  /* of a process that has it mapped, or had */
	const char *path; /* that it has there, as the kernel shows it; "" if that is not known */
};

/* Where a name was found. */
enum sym_origin {
	SYM_NOWHERE,
	SYM_SYMBOLS,	   /* the symbol tables of the file itself */
	SYM_PLT,	   /* its procedure linkage table */
	SYM_GO_TABLE,	   /* the table that Go programs have for tracebacks */
	SYM_SEPARATE_FILE, /* the symbols of a file beside it, see sym/symfile/debug_file.h */
	SYM_GNU_DEBUGDATA, /* symbols in that section of the file */
	SYM_DWARF,	   /* its debug data */
	SYM_JIT_MAP,	   /* what the program has written about code that it has generated */
	NR_SYM_ORIGINS,
};

/* In words: "the symbol tables of the file". */
const char *sym_origin__text(enum sym_origin origin);

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
	 * The address is an offset in this file, and neither pid nor program is looked at. A file
	 * that has become another one has no names. Borrowed until the answer has come; NULL where
	 * it is no file, or one that nobody has found.
	 */
	bool in_file;
	const struct sym_mapped_file *file;

	const char *name; /* of the function, demangled; unchecked bytes; NULL: not found */
	/* If settings.symbols: the name as it stands in the file; NULL: it is the same. Unchecked.
	 */
	const char *symbol;
	uint64_t offset;	/* of the address within that function, or behind function_start */
	enum sym_origin origin; /* user space: of the name */
	/*
	 * The file's name without its folders, "[vdso]" and the like, or the kernel
	 * module; NULL: memory without a file, or the kernel itself.
	 */
	const char *module;
	/* User space: the address in the file's address space; if it is no program, in the file. */
	uint64_t module_offset;
	/*
	 * User space without a name, if settings.starts: where the function begins, as an address
	 * like module_offset. 0: not known.
	 */
	uint64_t function_start;
	/*
	 * User space, if settings.files: the program or library, by the path that a process has
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
