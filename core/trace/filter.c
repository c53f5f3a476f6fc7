// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/trace/filter.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "core/kernel/cgroups.h"
#include "core/kernel/namespaces.h"
#include "core/kernel/types.h"
#include "core/options/comm_glob.h"
#include "core/options/trace_options.h"
#include "core/trace/container.h"
#include "core/trace/maps.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"

/*
 * Find the PID namespace to translate to; {0, 0} in the initial one: there the kernel's own numbers
 * are right, and need no translation.
 */
static int find_pid_namespace(struct trace_config *config, struct error *error)
{
	char self[16] = "";
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) || readlink("/proc/self", self, sizeof(self) - 1) < 0)
		return error__set(error, -errno, "cannot read /proc/self: %s; mount /proc",
				  strerror(errno));
	/* With the numbers of another namespace we would read other processes. */
	if (atoi(self) != getpid())
		return error__set(error, -EXDEV,
				  "/proc is that of another PID namespace; mount one of this "
				  "(unshare: --mount-proc)");
	if (st.st_ino != FIRST_PID_NAMESPACE) {
		config->pidns_dev = st.st_dev;
		config->pidns_ino = st.st_ino;
	}
	return 0;
}

/* Find the layout of the kernel's structs, if the programs need it. */
static int find_task_layout(const struct trace_options *options, struct trace_config *config,
			    struct error *error)
{
	int err;

	if (!options->mntnsmap && !options->children && !options->command && !config->pidns_ino)
		return 0;
	err = task_layout__read(&config->task);
	config->has_task_layout = err == 0;
	/* In a PID namespace there is a helper to fall back to, for children a perf event. */
	if (err && options->mntnsmap)
		return error__set(error, err,
				  "--mntnsmap: %s; it needs a kernel with CONFIG_DEBUG_INFO_BTF",
				  err == -ESRCH ? "the kernel has no BTF" :
						  "the kernel's BTF lacks what it looks for");
	return 0;
}

/* True if fd is a map, and no other object that can be pinned. */
static bool is_map(int fd)
{
	char path[64], target[64] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return readlink(path, target, sizeof(target) - 1) > 0 && strstr(target, "bpf-map");
}

static int check_keys(const char *option, const char *path, int fd, struct error *error)
{
	struct bpf_map_info info = {0};
	uint32_t size = sizeof(info);

	if (!is_map(fd))
		return error__set(error, -EINVAL, "%s %s: is pinned, but is no map", option, path);
	if (bpf_obj_get_info_by_fd(fd, &info, &size))
		return error__set(error, -errno, "%s %s: cannot look at the map: %s", option, path,
				  strerror(errno));
	switch (info.type) {
	case BPF_MAP_TYPE_HASH:
	case BPF_MAP_TYPE_LRU_HASH:
	case BPF_MAP_TYPE_PERCPU_HASH:
	case BPF_MAP_TYPE_LRU_PERCPU_HASH:
		if (info.key_size == sizeof(uint64_t))
			return 0;
		break;
	}
	return error__set(error, -EINVAL,
			  "%s %s: wrong type of map (%s with keys of %u bytes); it must be a hash "
			  "with keys of 8 bytes",
			  option, path, libbpf_bpf_map_type_str(info.type) ?: "unknown",
			  info.key_size);
}

/* Put the map that is pinned at path in the place of the object's own. */
static int use_pinned_map(const char *option, const char *path, struct bpf_map *map,
			  struct error *error)
{
	CLEANUP_CLOSE int fd = bpf_obj_get(path);
	int err;

	if (fd < 0 && errno == EACCES)
		return error__set(error, -EACCES, "%s %s: is no pinned map, or not accessible",
				  option, path);
	if (fd < 0)
		return error__set(error, -errno,
				  "%s %s: cannot open the map: %s; pin one there with 'bpftool map "
				  "pin'",
				  option, path, strerror(errno));
	err = check_keys(option, path, fd, error);
	if (err)
		return err;
	err = bpf_map__reuse_fd(map, fd);
	return err ? error__set(error, err, "%s %s: cannot use the map: %s", option, path,
				strerror(-err)) :
		     0;
}

/*
 * One process is in the config. Where children are followed the numbers are the kernel's, but a PID
 * namespace has its own.
 */
static bool uses_targets(const struct trace_options *options, const struct trace_config *config)
{
	return trace_options__ids(options)->nr && !config->only_tgid &&
	       (!options->children || config->pidns_ino);
}

static int configure_maps(const struct trace_options *options, const struct trace_maps *maps,
			  const struct trace_config *config, struct error *error)
{
	const struct pid_list *ids = trace_options__ids(options);
	int err = trace_map__create_if(maps->targets, uses_targets(options, config), error);

	if (!err)
		err = trace_map__create_if(maps->cgroup_ids, options->cgroupmap, error);
	if (!err)
		err = trace_map__create_if(maps->mount_namespaces, options->mntnsmap, error);
	if (!err)
		err = trace_map__create_if(maps->cgroup, options->cgroup || options->container,
					   error);
	if (!err && ids->nr)
		bpf_map__set_max_entries(maps->targets, (uint32_t)ids->nr);
	if (!err && options->cgroupmap)
		err = use_pinned_map("--cgroupmap", options->cgroupmap, maps->cgroup_ids, error);
	if (!err && options->mntnsmap)
		err = use_pinned_map("--mntnsmap", options->mntnsmap, maps->mount_namespaces,
				     error);
	return err;
}

int filter__configure(const struct trace_options *options, const struct trace_maps *maps,
		      struct trace_config *config, struct error *error)
{
	int err = find_pid_namespace(config, error);

	if (!err)
		err = find_task_layout(options, config, error);
	if (err)
		return err;
	config->filter_by = options->children || options->command ? FILTER_BY_FOLLOWED :
			    options->tids.nr			  ? FILTER_BY_TID :
			    options->pids.nr			  ? FILTER_BY_TGID :
								    FILTER_BY_NOTHING;
	if (config->filter_by == FILTER_BY_TGID && options->pids.nr == 1 && !config->pidns_ino)
		config->only_tgid = (uint32_t)options->pids.pids[0];
	config->filter_cgroup_ids = options->cgroupmap != NULL;
	config->filter_mount_namespaces = options->mntnsmap != NULL;
	config->filter_cgroup = options->cgroup || options->container;
	config->filter_comm = options->comm != NULL;
	err = configure_maps(options, maps, config, error);
	if (err)
		return err;
	/* trace_options__check() has refused what is no glob. */
	return options->comm ? comm_glob__compile(&config->comm, options->comm) : 0;
}

static int fill_targets(const struct pid_list *list, int fd, struct error *error)
{
	for (size_t i = 0; i < list->nr; i++) {
		uint32_t id = (uint32_t)list->pids[i];
		uint8_t present = 1;

		if (bpf_map_update_elem(fd, &id, &present, BPF_ANY))
			return error__set(error, -errno, "cannot set the filter for %u: %s", id,
					  strerror(errno));
	}
	return 0;
}

/* Put the folder at fd into the map; 0, -EBADF: it is no cgroup of version 2, or another errno. */
static int set_cgroup(int map_fd, int fd)
{
	uint32_t zero = 0;

	return bpf_map_update_elem(map_fd, &zero, &fd, BPF_ANY) ? -errno : 0;
}

/*
 * A path, or the name of a cgroup below the place where they are mounted, as in /proc/PID/cgroup:
 * "/system.slice/cron.service".
 */
static int fill_cgroup(const char *path, int map_fd, struct error *error)
{
	CLEANUP_FREE char *place = cgroups__find_mount();
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), below = -1;
	int err = fd < 0 ? -errno : set_cgroup(map_fd, fd);
	char name[PATH_MAX];

	if (!err || (err != -ENOENT && err != -EBADF && err != -ENOTDIR))
		return err ? error__set(error, err, "--cgroup %s: %s", path, strerror(-err)) : 0;
	if (!place)
		return error__set(error, err,
				  "--cgroup %s: is no cgroup of version 2: none are mounted here",
				  path);
	snprintf(name, sizeof(name), "%s/%s", place, path);
	/* "." is a folder, and no name. */
	below = path[0] == '.' ? -1 : open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (below >= 0 && set_cgroup(map_fd, below) == 0)
		return 0;
	return error__set(error, err,
			  "--cgroup %s: is neither the folder of a cgroup of version 2 nor a name "
			  "below %s, where they are mounted",
			  path, place);
}

static int fill_container(const char *id, int map_fd, struct error *error)
{
	CLEANUP_CLOSE int fd = container__open(id, error);
	uint32_t zero = 0;

	if (fd < 0)
		return fd;
	if (bpf_map_update_elem(map_fd, &zero, &fd, BPF_ANY))
		return error__set(error, -errno, "--container %.100s: %s", id, strerror(errno));
	return 0;
}

int filter__fill(const struct trace_options *options, const struct trace_maps *maps,
		 struct error *error)
{
	int err = bpf_map__autocreate(maps->targets) ?
			  fill_targets(trace_options__ids(options), bpf_map__fd(maps->targets),
				       error) :
			  0;

	if (!err && options->cgroup)
		err = fill_cgroup(options->cgroup, bpf_map__fd(maps->cgroup), error);
	if (!err && options->container)
		err = fill_container(options->container, bpf_map__fd(maps->cgroup), error);
	return err;
}

bool filter__explains(const struct trace_maps *maps, int code, struct error *error)
{
	uint32_t flags =
		bpf_map__map_flags(maps->cgroup_ids) | bpf_map__map_flags(maps->mount_namespaces);

	if (code != -EINVAL || !(flags & BPF_F_NO_PREALLOC))
		return false;
	error__set(
		error, code,
		"cannot use a map of --cgroupmap or --mntnsmap that is not preallocated: before "
		"Linux 6.1 samples cannot; make it without BPF_F_NO_PREALLOC (bpftool: flags 1)");
	return true;
}
