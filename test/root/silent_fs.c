// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file system that stops answering: silent_fs MOUNTPOINT FILE serves FILE as
 * MOUNTPOINT/program until SIGUSR1, and nothing from then on. Readers hang in
 * the kernel, beyond the reach of signals, until this program ends.
 *
 * Protocol: linux/fuse.h; only what running a program asks for.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define PROGRAM_NODE 2

static int fuse_fd, file_fd;
static off_t file_size;

static void go_silent(int signal_number)
{
	(void)signal_number;
	for (;;)
		pause();
}

static void reply(uint64_t unique, int error, const void *data, size_t size)
{
	struct fuse_out_header header = {
		.len = (uint32_t)(sizeof(header) + size), .error = error, .unique = unique};
	struct iovec parts[] = {{&header, sizeof(header)}, {(void *)data, size}};

	if (writev(fuse_fd, parts, size ? 2 : 1) < 0 && errno != ENOENT)
		perror("silent_fs: reply");
}

/* Nothing may be cached: every question is to come here. */
static struct fuse_attr attributes(uint64_t node)
{
	struct fuse_attr attr = {.ino = node, .nlink = 1, .blksize = 4096};

	attr.mode = node == PROGRAM_NODE ? S_IFREG | 0755 : S_IFDIR | 0755;
	attr.size = node == PROGRAM_NODE ? (uint64_t)file_size : 0;
	return attr;
}

static void answer_read(uint64_t unique, const struct fuse_read_in *in)
{
	static char data[1 << 20];
	size_t size = in->size < sizeof(data) ? in->size : sizeof(data);
	ssize_t got = pread(file_fd, data, size, (off_t)in->offset);

	reply(unique, got < 0 ? -EIO : 0, data, got < 0 ? 0 : (size_t)got);
}

static void answer(const struct fuse_in_header *in, const void *arguments)
{
	switch (in->opcode) {
	case FUSE_INIT: {
		struct fuse_init_out out = {.major = FUSE_KERNEL_VERSION,
					    .minor = FUSE_KERNEL_MINOR_VERSION,
					    .max_readahead = 1 << 16,
					    .max_write = 1 << 16};

		reply(in->unique, 0, &out, sizeof(out));
		break;
	}
	case FUSE_LOOKUP: {
		struct fuse_entry_out out = {.nodeid = PROGRAM_NODE,
					     .attr = attributes(PROGRAM_NODE)};

		if (strcmp(arguments, "program"))
			reply(in->unique, -ENOENT, NULL, 0);
		else
			reply(in->unique, 0, &out, sizeof(out));
		break;
	}
	case FUSE_GETATTR: {
		struct fuse_attr_out out = {.attr = attributes(in->nodeid)};

		reply(in->unique, 0, &out, sizeof(out));
		break;
	}
	case FUSE_OPEN: {
		struct fuse_open_out out = {.open_flags = FOPEN_KEEP_CACHE};

		reply(in->unique, 0, &out, sizeof(out));
		break;
	}
	case FUSE_READ:
		answer_read(in->unique, arguments);
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
		reply(in->unique, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break; /* want no answer */
	default:
		reply(in->unique, -ENOSYS, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	static char request[(1 << 16) + 4096];
	char options[128];
	struct stat st;

	if (argc != 3)
		return 2;
	fuse_fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	file_fd = open(argv[2], O_RDONLY | O_CLOEXEC);
	if (fuse_fd < 0 || file_fd < 0 || fstat(file_fd, &st))
		return 77;
	file_size = st.st_size;
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse_fd);
	if (mount("silent_fs", argv[1], "fuse", MS_NOSUID | MS_NODEV, options))
		return 77;
	signal(SIGUSR1, go_silent);
	for (;;) {
		ssize_t got = read(fuse_fd, request, sizeof(request));

		if (got < 0 && errno == ENODEV)
			return 0; /* unmounted */
		if (got >= (ssize_t)sizeof(struct fuse_in_header))
			answer((struct fuse_in_header *)request,
			       request + sizeof(struct fuse_in_header));
	}
}
