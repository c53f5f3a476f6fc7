/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mappings of processes, and the files behind them, read by children that can be given up
 * (sym/child/reader_child.h): a file system may not answer.
 *
 * Each call waits for its child: a second at most if the child waits, some seconds at most in all.
 */
#ifndef TRACEKIT_SYM_CFI_READER_H
#define TRACEKIT_SYM_CFI_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/abi.h"
#include "sym/elf/needed.h"
#include "sym/process/file_identity.h"

struct avoided_devices;

enum unwind_source {
	UNWIND_SOURCE_NONE,  /* memory without a file, or a file that cannot be had */
	UNWIND_SOURCE_OTHER, /* a file that is no program */
	UNWIND_SOURCE_FILE,
	UNWIND_SOURCE_VDSO,
};

/*
 * How the kernel tells files apart (bpf/mapping.bpf.h), which stat() does not always know. identify
 * is called in a child, which has fds as descriptors 1 and 2, with a regular file. It returns 0 or
 * a negative errno.
 */
struct unwind_identifier {
	int (*identify)(int fd, struct mapped_file *file);
	int fds[2];
};

/*
 * Who keeps files that were opened for longer: programs are passed to the socket, as of
 * sym/process/passed_file.h, but those that has() knows of. All zero: nobody.
 */
struct unwind_keeper {
	int socket;
	bool (*has)(const void *context, const struct mapped_file *file);
	const void *context;
};

#define UNWIND_PATH_MAX 256

/* Executable memory. All of it is of fixed size: it goes through a pipe. */
struct unwind_mapped {
	uint64_t start, end;	 /* addresses */
	uint64_t offset;	 /* of start in the file */
	uint64_t device, inode;	 /* as the kernel shows them, which need not be those of stat() */
	struct mapped_file file; /* of all but UNWIND_SOURCE_NONE */
	struct file_identity identity; /* of UNWIND_SOURCE_FILE and _OTHER */
	uint32_t source;	       /* enum unwind_source */
	uint32_t reserved;
	char path[UNWIND_PATH_MAX]; /* as the kernel shows it, by unwind_path__set() */
};

/* A path that is longer is shortened, to one that still tells it from others, but opens nothing. */
void unwind_path__set(char path[UNWIND_PATH_MAX], const char *whole);

/*
 * The mappings of a process, sorted and disjoint; UNWIND_MAPPINGS_MAX at most, more are left out.
 * Files of file systems that are avoided are UNWIND_SOURCE_NONE; file systems that do not answer
 * are avoided from then on. *mapped is the caller's to free. Returns how many, -ESRCH if the
 * process has ended, -ETIMEDOUT if it does not answer, -ETIME if it took too long, or another
 * negative errno.
 */
int unwind_reader__mappings(pid_t pid, struct avoided_devices *avoided,
			    const struct unwind_identifier *identifier,
			    const struct unwind_keeper *keeper, struct unwind_mapped **mapped);

/* Texts as of struct unwind_sink (sym/cfi/table_reader.h), of the file at path, or of the user. */
struct unwind_needs {
	const char *texts;
	size_t size;
	const char *path;
};

/*
 * By which files a program begins that no process has mapped yet: the program, or the interpreter
 * of a script, by its path in our own root; the vDSO; and the libraries of LD_PRELOAD, which a
 * command has from us. start, end and offset are 0, but of the vDSO. A file that cannot be had is
 * UNWIND_SOURCE_NONE. The rest is as of unwind_reader__mappings().
 */
int unwind_reader__program(const char *path, struct avoided_devices *avoided,
			   const struct unwind_identifier *identifier,
			   const struct unwind_keeper *keeper, struct unwind_mapped **mapped);

/* Then the files that such a file needs. */
int unwind_reader__needed(const struct unwind_needs *needs, struct avoided_devices *avoided,
			  const struct unwind_identifier *identifier,
			  const struct unwind_keeper *keeper, struct unwind_mapped **mapped);

/* A file that a walk has come to: the one that pid has mapped at start, or had there. */
struct unwind_look {
	uint32_t number; /* the caller's */
	pid_t pid;
	uint64_t start;
	struct mapped_file file;
	char place[UNWIND_PATH_MAX]; /* below the root of its file system; "": not known */
	/*
	 * The answer. UNWIND_SOURCE_NONE: it cannot be had. If the process has another file there
	 * by now, and file cannot be had, that one.
	 */
	struct unwind_mapped mapped;
};

/*
 * Look for files: in the process, one mapping each, or if it is gone where the file system is
 * mounted. A look whose file system does not answer has found nothing, and is the last one if that
 * is not avoided from now on. Returns for how many, from the first on, there is an answer, or a
 * negative errno if there is none. Those of one process should come one after the other.
 */
int unwind_reader__look(struct unwind_look *looks, size_t nr, struct avoided_devices *avoided,
			const struct unwind_identifier *identifier,
			const struct unwind_keeper *keeper);

#endif
