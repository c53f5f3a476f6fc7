// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/process/jit_map_reader.h"

#include <errno.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "sym/child/proc_stat.h"
#include "sym/child/reader_child.h"
#include "sym/process/passed_file.h"
#include "sym/process/process.h"
#include "sym/util/child.h"
#include "sym/util/cleanup.h"

static const struct child_role role = {"JIT map reader", DEBUG_LOG_FILES};

/* The child has nothing else. */
#define SOCKET_FD 1

struct map_answer {
	int32_t result;
	uint32_t reserved;
	uint64_t inode;
};

static int pass_map(const struct jit_map_owner *owner, uint64_t *inode)
{
	const struct process process = {.pid = owner->pid, .task = owner->pid};
	CLEANUP_CLOSE int fd = process__open_jit_map(&process);
	struct passed_file passed = {.pid = owner->pid, .program = owner->program};
	struct proc_stat now;
	struct statfs fs;
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) || fstatfs(fd, &fs))
		return -errno;
	/* Who keeps it will close it, which waits for the server of a file system in user space. */
	if (fs.f_type == FUSE_SUPER_MAGIC)
		return -ENOTSUP;
	if (proc_stat__read(owner->pid, &now) || now.start_stack != owner->program)
		return -ESRCH;
	*inode = st.st_ino;
	passed.device = st.st_dev;
	return *inode == owner->inode ? 0 : passed_file__send(SOCKET_FD, &passed, fd);
}

static void send_map(const void *context)
{
	struct map_answer answer = {0};

	answer.result = pass_map(context, &answer.inode);
	reader_child__write(&answer, sizeof(answer));
}

int jit_map_reader__start(struct reader_child *child, const struct jit_map_owner *owner, int socket)
{
	return reader_child__start(child, &role, send_map, owner, &socket, 1);
}

int jit_map_reader__finish(struct reader_child *child, struct jit_map_owner *owner)
{
	struct map_answer answer;
	int err = reader_child__read(child, &answer, sizeof(answer));

	reader_child__stop(child);
	if (err || answer.result)
		return err ? err : answer.result < 0 ? answer.result : -EPROTO;
	owner->inode = answer.inode;
	return 0;
}
