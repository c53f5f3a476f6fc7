// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/trace/own.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "core/options/trace_options.h"
#include "core/trace/maps.h"
#include "sym/util/child.h"
#include "sym/util/error.h"

#define BYTES (OWN_BUCKETS * sizeof(struct own_bucket))

static const char at_exit[] = "forget_own";

/* Of the only one, for children, which inherit it. */
static struct own_bucket *shared;

/* If its bucket is full, which some hundred processes would take, it is traced. */
static void add_self(void)
{
	uint32_t pid = (uint32_t)getpid();
	struct own_bucket *bucket = &shared[pid % OWN_BUCKETS];

	for (size_t i = 0; i < OWN_BUCKET; i++) {
		uint32_t free = 0;

		if (__atomic_compare_exchange_n(&bucket->pids[i], &free, pid, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return;
	}
}

int own__configure(struct own *own, const struct trace_options *options,
		   const struct trace_maps *maps, struct bpf_object *object,
		   struct trace_config *config, struct error *error)
{
	bool wanted = !options->self && !options->command && !trace_options__ids(options)->nr;
	int err = trace_map__create_if(maps->own, wanted, error);

	if (err)
		return err;
	config->skip_own = wanted;
	bpf_program__set_autoload(bpf_object__find_program_by_name(object, at_exit), wanted);
	own->object = wanted ? object : NULL;
	own->map = maps->own;
	return 0;
}

int own__start(struct own *own, struct error *error)
{
	int program;
	void *buckets;

	if (!own->object)
		return 0;
	program = bpf_program__fd(bpf_object__find_program_by_name(own->object, at_exit));
	own->hook = bpf_raw_tracepoint_open("sched_process_exit", program);
	if (own->hook < 0)
		return error__set(
			error, own->hook,
			"cannot leave out what we do ourselves: %s; see 'tracekit doctor'",
			strerror(-own->hook));
	buckets = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(own->map), 0);
	if (buckets == MAP_FAILED)
		return error__set(error, -errno, "cannot leave out what we do ourselves: %s",
				  strerror(errno));
	own->buckets = shared = buckets;
	add_self();
	child__on_begin(add_self);
	return 0;
}

void own__release(struct own *own)
{
	if (own->buckets) {
		child__on_begin(NULL);
		munmap(own->buckets, BYTES);
	}
	if (own->hook > 0)
		close(own->hook);
	*own = (struct own){0};
}
