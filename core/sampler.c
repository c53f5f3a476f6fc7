// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/sampler.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/cpus.h"
#include "core/session.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "core/util/number.h"

static int refused(struct error *error, int code, unsigned int cpu, uint64_t frequency)
{
	switch (code) {
	case -EACCES:
	case -EPERM:
		return error__set(error, code,
				  "cannot sample CPU %u: %s; run as root, or with CAP_PERFMON and "
				  "kernel.perf_event_paranoid at most 2",
				  cpu, strerror(-code));
	case -EINVAL:
		return error__set(
			error, code,
			"cannot sample at %ju Hertz: %s; kernel.perf_event_max_sample_rate "
			"is the limit",
			(uintmax_t)frequency, strerror(-code));
	case -EMFILE:
		return error__set(error, code, "cannot sample CPU %u: %s; raise 'ulimit -n'", cpu,
				  strerror(-code));
	default:
		return error__set(error, code, "cannot sample CPU %u: %s", cpu, strerror(-code));
	}
}

/* The event's descriptor, or a negative errno. */
static int open_event(unsigned int cpu, uint64_t frequency, int program_fd)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = frequency,
		.disabled = 1,
	};
	CLEANUP_CLOSE int fd =
		(int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_BPF, program_fd))
		return -errno;
	return TAKE_FD(fd);
}

int sampler__open(struct sampler *sampler, const struct session *session, int program_fd,
		  uint64_t frequency, struct error *error)
{
	CLEANUP(cpu_list__release) struct cpu_list cpus = {0};
	/* The kernel turns the frequency of a clock event into this period at once and for good. */
	struct sampler opened = {.period = NANOSECONDS / frequency};
	int err = cpu_list__read_online(&cpus);

	if (err)
		return error__set(error, err, "cannot list the online CPUs: %s; mount /sys",
				  strerror(-err));
	opened.fds = calloc(cpus.nr, sizeof(*opened.fds));
	if (!opened.fds)
		return error__set(error, -ENOMEM, "cannot sample: out of memory");
	for (size_t i = 0; i < cpus.nr && !session__stopping(session); i++) {
		int fd = open_event(cpus.cpus[i], frequency, program_fd);

		if (fd == -ENODEV)
			continue; /* gone offline since it was listed */
		if (fd < 0) {
			sampler__close(&opened);
			return refused(error, fd, cpus.cpus[i], frequency);
		}
		opened.fds[opened.nr++] = fd;
	}
	*sampler = opened;
	return 0;
}

void sampler__close(struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->nr; i++)
		close(sampler->fds[i]);
	free(sampler->fds);
	*sampler = (struct sampler){0};
}

int sampler__start(struct sampler *sampler, struct error *error)
{
	for (size_t i = 0; i < sampler->nr; i++)
		if (ioctl(sampler->fds[i], PERF_EVENT_IOC_ENABLE, 0))
			return error__set(error, -errno, "cannot start sampling: %s",
					  strerror(errno));
	return 0;
}

uint64_t sampler__stop(struct sampler *sampler)
{
	uint64_t expected = 0;

	/* Stop all before reading any, so that all have run for about the same time. */
	for (size_t i = 0; i < sampler->nr; i++)
		ioctl(sampler->fds[i], PERF_EVENT_IOC_DISABLE, 0);
	for (size_t i = 0; i < sampler->nr; i++) {
		uint64_t nanoseconds;

		/* The event of a CPU that was taken offline has no clock to read any more. */
		if (read(sampler->fds[i], &nanoseconds, sizeof(nanoseconds)) == sizeof(nanoseconds))
			expected += nanoseconds / sampler->period;
	}
	return expected;
}
