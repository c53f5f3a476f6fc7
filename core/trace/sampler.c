// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/trace/sampler.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/kernel/cpus.h"
#include "core/trace/accounting.h"
#include "core/trace/session.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "sym/util/message.h"
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

struct sampled_cpu {
	unsigned int number;
	int fd;		/* its event; negative while it is offline */
	uint64_t seen;	/* on this CPU, when there was a look last */
	uint64_t ended; /* seen in epochs that have ended */
};

/* Without an event so far; NULL without memory. Valid until the next is added. */
static struct sampled_cpu *add_cpu(struct sampler *sampler, unsigned int number)
{
	struct sampled_cpu *cpu;

	if (ARRAY_GROW(sampler->cpus, sampler->nr, sampler->capacity))
		return NULL;
	cpu = &sampler->cpus[sampler->nr++];
	*cpu = (struct sampled_cpu){.number = number, .fd = -1};
	return cpu;
}

int sampler__open(struct sampler *sampler, const struct sampler_settings *settings,
		  const struct session *session, int program_fd, struct error *error)
{
	CLEANUP(cpu_list__release) struct cpu_list cpus = {0};
	CLEANUP(sampler__close)
	struct sampler opened = {
		.settings = *settings, .program_fd = program_fd, .period = fixed_period(settings)};
	int err = cpu_list__choose(&cpus, settings->cpu, "-C", error);

	if (err)
		return err;
	for (size_t i = 0; i < cpus.nr && !session__stopping(session); i++) {
		struct sampled_cpu *cpu = add_cpu(&opened, cpus.cpus[i]);

		if (!cpu)
			return error__set(error, -ENOMEM, "cannot sample: out of memory");
		cpu->fd = open_event(settings, cpu->number, program_fd);
		/* Gone offline since it was listed. */
		if (cpu->fd == -ENODEV && settings->cpu == SAMPLER_ALL_CPUS)
			continue;
		if (cpu->fd < 0)
			return refused(error, cpu->fd, settings, cpu->number);
	}
	*sampler = opened;
	opened = (struct sampler){0};
	return 0;
}

void sampler__close(struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->nr; i++)
		if (sampler->cpus[i].fd >= 0)
			close(sampler->cpus[i].fd);
	free(sampler->cpus);
	*sampler = (struct sampler){0};
}

static bool enable(const struct sampled_cpu *cpu)
{
	return cpu->fd < 0 || !ioctl(cpu->fd, PERF_EVENT_IOC_ENABLE, 0);
}

int sampler__start(struct sampler *sampler, struct error *error)
{
	for (size_t i = 0; i < sampler->nr; i++)
		if (!enable(&sampler->cpus[i]))
			return error__set(error, -errno, "cannot start sampling: %s",
					  strerror(errno));
	return 0;
}

/* How many samples the event of a CPU should have made. */
static uint64_t due_of(const struct sampler *sampler, const struct sampled_cpu *cpu)
{
	uint64_t value;

	/* The event of a CPU that was taken offline has nothing to read any more. */
	if (!sampler->period || cpu->fd < 0 ||
	    read(cpu->fd, &value, sizeof(value)) != sizeof(value))
		return 0;
	return value / sampler->period;
}

void sampler__stop(struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->nr; i++)
		if (sampler->cpus[i].fd >= 0)
			ioctl(sampler->cpus[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

bool sampler__expected(const struct sampler *sampler, uint64_t *expected)
{
	*expected = sampler->due;
	for (size_t i = 0; i < sampler->nr; i++)
		*expected += due_of(sampler, &sampler->cpus[i]);
	return sampler->period != 0;
}

/* ---- CPUs that come and go ---- */

/* A clock that makes no sample in this time has been stopped. */
uint64_t sampler__look_every(const struct sampler *sampler)
{
	uint64_t period = sampler->settings.event == SAMPLER_CPU_CLOCK ? sampler->period : 0;

	return period < NANOSECONDS / 3 ? NANOSECONDS : 3 * period;
}

static void end_event(struct sampler *sampler, struct sampled_cpu *cpu)
{
	sampler->due += due_of(sampler, cpu);
	if (cpu->fd >= 0)
		close(cpu->fd);
	cpu->fd = -1;
}

/* Say it once: what cannot be sampled now is tried again at each look. */
static void say_failure(struct sampler *sampler, unsigned int number, int err)
{
	if (err == -ENODEV || sampler->failed)
		return;
	sampler->failed = true;
	message("CPU %u has come online, and cannot be sampled: %s", number, strerror(-err));
}

static void begin_event(struct sampler *sampler, struct sampled_cpu *cpu)
{
	end_event(sampler, cpu);
	cpu->fd = open_event(&sampler->settings, cpu->number, sampler->program_fd);
	if (cpu->fd < 0 || !enable(cpu))
		say_failure(sampler, cpu->number, cpu->fd < 0 ? cpu->fd : -errno);
}

static struct sampled_cpu *find_cpu(const struct sampler *sampler, unsigned int number)
{
	for (size_t i = 0; i < sampler->nr; i++)
		if (sampler->cpus[i].number == number)
			return &sampler->cpus[i];
	return NULL;
}

static void look_at(struct sampler *sampler, unsigned int number, uint64_t in_epoch)
{
	struct sampled_cpu *cpu = find_cpu(sampler, number);
	uint64_t seen;

	if (!cpu)
		cpu = add_cpu(sampler, number);
	if (!cpu)
		return;
	seen = cpu->ended + in_epoch;
	/* A clock runs, also while its CPU is idle; a counter need not. */
	if (cpu->fd < 0 || (cpu->seen == seen && sampler->settings.event == SAMPLER_CPU_CLOCK))
		begin_event(sampler, cpu);
	cpu->seen = seen;
}

static bool has_cpu(const struct cpu_list *list, unsigned int number)
{
	for (size_t i = 0; i < list->nr; i++)
		if (list->cpus[i] == number)
			return true;
	return false;
}

void sampler__note_end(struct sampler *sampler, const struct trace_maps *maps, uint32_t epoch)
{
	CLEANUP_FREE uint64_t *seen = NULL;
	int nr = accounting__read_seen(maps, epoch, &seen);

	for (size_t i = 0; i < sampler->nr; i++)
		if ((int)sampler->cpus[i].number < nr)
			sampler->cpus[i].ended += seen[sampler->cpus[i].number];
}

void sampler__look(struct sampler *sampler, const struct trace_maps *maps, uint32_t epoch)
{
	CLEANUP(cpu_list__release) struct cpu_list online = {0};
	CLEANUP_FREE uint64_t *seen = NULL;
	int nr = accounting__read_seen(maps, epoch, &seen);

	if (nr < 0 || cpu_list__read_online(&online))
		return;
	for (size_t i = 0; i < sampler->nr; i++)
		if (!has_cpu(&online, sampler->cpus[i].number))
			end_event(sampler, &sampler->cpus[i]);
	for (size_t i = 0; i < online.nr; i++) {
		unsigned int number = online.cpus[i];

		if (number < (unsigned int)nr &&
		    (sampler->settings.cpu == SAMPLER_ALL_CPUS || sampler->settings.cpu == number))
			look_at(sampler, number, seen[number]);
	}
}
