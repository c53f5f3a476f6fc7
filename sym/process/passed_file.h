/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that one process has opened, on their way to another that keeps them: what walks of stacks
 * came to has its names when the processes that had it, and perhaps the file, are gone. So have
 * programs that generated code, by their JIT maps.
 */
#ifndef TRACEKIT_SYM_PROCESS_PASSED_FILE_H
#define TRACEKIT_SYM_PROCESS_PASSED_FILE_H

#include <stdint.h>
#include <sys/types.h>

struct passed_file {
	dev_t device; /* as the kernel shows both where the file is mapped */
	ino_t inode;
	pid_t pid; /* of a process that has it mapped */
	uint32_t reserved;
	uint64_t program; /* of struct sym_query, if it is the JIT map of that; or 0 */
};

/* Both ends of a way for files, the first to send; close-on-exec. Returns 0 or a negative errno. */
int passed_files__open(int sockets[2]);

/*
 * Without waiting: -EAGAIN if so many have not been taken yet. fd stays the caller's. Returns 0 or
 * a negative errno.
 */
int passed_file__send(int socket, const struct passed_file *file, int fd);

/* Without waiting: 1 and the next file, 0 if there is none; or a negative errno. */
int passed_file__peek(int socket, struct passed_file *file);
/* Returns the descriptor of the file that was peeked at, which is the caller's, or -errno. */
int passed_file__take(int socket);
/* The next is not wanted. Unlike close(), this does not wait for the file system. */
void passed_file__drop(int socket);

#endif
