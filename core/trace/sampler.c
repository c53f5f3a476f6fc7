// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/trace/sampler.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/kernel/cpus.h"
#include "core/trace/session.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "sym/util/number.h"

static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
} events[] = {
	[SAMPLER_CPU_CLOCK] = {"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
	[SAMPLER_CYCLES] = {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
};

static int refused(struct error *error, int code, const struct sampler_settings *settings,
		   unsigned int cpu)
{
	switch (code) {
	case -EACCES:
	case -EPERM:
		return error__set(error, code,
				  "cannot sample CPU %u: %s; run as root, or with CAP_PERFMON and "
				  "kernel.perf_event_paranoid at most 2; see 'tracekit doctor'",
				  cpu, strerror(-code));
	case -ENOENT:
	case -EOPNOTSUPP:
		return error__set(error, code,
				  "--event %s: this machine has no such counter, or does not show "
				  "it (virtual machines often do not); use cpu-clock",
				  events[settings->event].name);
	case -EINVAL:
		if (settings->frequency)
			return error__set(error, code,
					  "cannot sample at %ju Hertz: %s; "
					  "kernel.perf_event_max_sample_rate is the limit",
					  (uintmax_t)settings->frequency, strerror(-code));
		break;
	case -EMFILE:
		return error__set(error, code, "cannot sample CPU %u: %s; raise 'ulimit -n'", cpu,
				  strerror(-code));
	}
	return error__set(error, code, "cannot sample CPU %u: %s", cpu, strerror(-code));
}

/* The event's descriptor, or a negative errno. */
static int open_event(const struct sampler_settings *settings, unsigned int cpu, int program_fd)
{
	struct perf_event_attr attr = {
		.type = events[settings->event].type,
		.size = sizeof(attr),
		.config = events[settings->event].config,
		.freq = settings->frequency != 0,
		.disabled = 1,
	};
	int fd;

	if (settings->frequency)
		attr.sample_freq = settings->frequency;
	else
		attr.sample_period = settings->period;
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0 && ioctl(fd, PERF_EVENT_IOC_SET_BPF, program_fd)) {
		int err = -errno;

		close(fd);
		return err;
	}
	return fd < 0 ? -errno : fd;
}

/* Events from one sample to the next, as the kernel counts; 0 if this varies. */
static uint64_t fixed_period(const struct sampler_settings *settings)
{
	if (settings->period)
		return settings->period;
	/* The kernel turns the frequency of a clock into a period at once and for good. */
	return settings->event == SAMPLER_CPU_CLOCK ? NANOSECONDS / settings->frequency : 0;
}

int sampler__open(struct sampler *sampler, const struct sampler_settings *settings,
		  const struct session *session, int program_fd, struct error *error)
{
	CLEANUP(cpu_list__release) struct cpu_list cpus = {0};
	CLEANUP(sampler__close) struct sampler opened = {.period = fixed_period(settings)};
	int err = cpu_list__choose(&cpus, settings->cpu, "-C", error);

	if (err)
		return err;
	opened.fds = calloc(cpus.nr, sizeof(*opened.fds));
	if (!opened.fds)
		return error__set(error, -ENOMEM, "cannot sample: out of memory");
	for (size_t i = 0; i < cpus.nr && !session__stopping(session); i++) {
		int fd = open_event(settings, cpus.cpus[i], program_fd);

		/* Gone offline since it was listed. */
		if (fd == -ENODEV && settings->cpu == SAMPLER_ALL_CPUS)
			continue;
		if (fd < 0)
			return refused(error, fd, settings, cpus.cpus[i]);
		opened.fds[opened.nr++] = fd;
	}
	*sampler = opened;
	opened = (struct sampler){0};
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

bool sampler__stop(struct sampler *sampler, uint64_t *expected)
{
	uint64_t due = 0;

	/* Stop all before reading any, so that all have run for about the same time. */
	for (size_t i = 0; i < sampler->nr; i++)
		ioctl(sampler->fds[i], PERF_EVENT_IOC_DISABLE, 0);
	for (size_t i = 0; i < sampler->nr && sampler->period; i++) {
		uint64_t value;

		/* The event of a CPU that was taken offline has nothing to read any more. */
		if (read(sampler->fds[i], &value, sizeof(value)) == sizeof(value))
			due += value / sampler->period;
	}
	*expected = due;
	return sampler->period != 0;
}
