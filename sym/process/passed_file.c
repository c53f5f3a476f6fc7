// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/process/passed_file.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* For some thousand files, while nobody takes them. */
#define BUFFER (4 * 1024 * 1024)

/* A message has one descriptor. */
union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

int passed_files__open(int sockets[2])
{
	int size = BUFFER;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	/* Without the privilege for it there is room for fewer. */
	(void)setsockopt(sockets[0], SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	return 0;
}

int passed_file__send(int socket, const struct passed_file *file, int fd)
{
	struct iovec part = {.iov_base = (void *)(uintptr_t)file, .iov_len = sizeof(*file)};
	union control control = {
		.header = {.cmsg_len = CMSG_LEN(sizeof(fd)),
			   .cmsg_level = SOL_SOCKET,
			   .cmsg_type = SCM_RIGHTS},
	};
	const struct msghdr message = {.msg_iov = &part,
				       .msg_iovlen = 1,
				       .msg_control = &control,
				       .msg_controllen = sizeof(control)};

	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int passed_file__peek(int socket, struct passed_file *file)
{
	ssize_t got = recv(socket, file, sizeof(*file), MSG_PEEK | MSG_DONTWAIT);

	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	return got == sizeof(*file) ? 1 : -EPIPE;
}

int passed_file__take(int socket)
{
	struct passed_file file;
	struct iovec part = {.iov_base = &file, .iov_len = sizeof(file)};
	union control control;
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	const struct cmsghdr *header;
	int fd;

	if (recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0)
		return -errno;
	header = CMSG_FIRSTHDR(&message);
	/* There is none if we cannot have one more. */
	if (!header || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof(fd)))
		return -EMFILE;
	memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return fd;
}

void passed_file__drop(int socket)
{
	struct passed_file file;

	(void)recv(socket, &file, sizeof(file), MSG_DONTWAIT);
}
