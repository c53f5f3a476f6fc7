// SPDX-License-Identifier: GPL-2.0-or-later
/* What libbpf says of the same BTF is right. */
#include "core/kernel/btf.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/tap.h"

/* ---- BTF of our own ---- */

static int make_file(const void *bytes, size_t size)
{
	int fd = memfd_create("btf", MFD_CLOEXEC);

	CHECK(fd >= 0);
	CHECK_INT(write(fd, bytes, size), size);
	return fd;
}

/*
 * What we look into: a struct within a struct, by a typedef, in unnamed ones, behind a bit field;
 * some are described before the outer struct, some behind it. A name longer than any that is asked
 * for ends as one of them does.
 */
static struct btf *make_btf(void)
{
	static char long_name[400];
	struct btf *btf = btf__new_empty();
	int number, early, alias, constant, unnamed;

	memset(long_name, 'x', sizeof(long_name) - 6);
	memcpy(long_name + sizeof(long_name) - 6, "inner", sizeof("inner"));
	number = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	btf__add_int(btf, long_name, 4, 0);
	btf__add_enum(btf, "colour", 4);
	btf__add_enum_value(btf, "inner", 1);
	btf__add_union(btf, "outer", 4); /* no struct */
	btf__add_field(btf, "a", number, 0, 0);
	early = btf__add_struct(btf, "early", 16);
	btf__add_field(btf, "x", number, 0, 0);
	btf__add_field(btf, "y", number, 64, 0);
	alias = btf__add_typedef(btf, "early_t", early);
	constant = btf__add_const(btf, alias);
	btf__add_struct(btf, "outer", 128);
	btf__add_field(btf, "a", number, 0, 0);
	btf__add_field(btf, "bits", number, 32, 3);
	btf__add_field(btf, "early", constant, 64, 0);
	btf__add_field(btf, "", constant + 2, 256, 0);
	btf__add_field(btf, "late", constant + 4, 512, 0);
	/* constant + 2: unnamed, and in it another one that stands behind it */
	btf__add_struct(btf, "", 32);
	btf__add_field(btf, "b", number, 32, 0);
	btf__add_field(btf, "", constant + 3, 64, 0);
	btf__add_union(btf, "", 8);
	btf__add_field(btf, "c", number, 0, 0);
	btf__add_field(btf, "d", early, 0, 0);
	btf__add_struct(btf, "late", 32);
	btf__add_field(btf, "z", number, 96, 0);
	btf__add_struct(btf, "outer", 4); /* the first of this name counts */
	btf__add_field(btf, "b", number, 0, 0);
	/* All that is looked into stands before it, as in the BTF of 7.2. */
	unnamed = btf__add_struct(btf, "", 8);
	btf__add_field(btf, "u", number, 32, 0);
	unnamed = btf__add_struct(btf, "", 16);
	btf__add_field(btf, "", unnamed - 1, 64, 0);
	btf__add_struct(btf, "last", 24);
	btf__add_field(btf, "", unnamed, 64, 0);
	btf__add_typedef(btf, "btf_trace_x", number);
	btf__add_func(btf, "btf_trace_y", BTF_FUNC_STATIC, number);
	return btf;
}

static uint32_t offset_of(int fd, const char *structure, const char *path)
{
	uint32_t offset = 4711;
	const struct btf_field field = {structure, path, &offset};

	CHECK_INT(btf__find_fields(fd, &field, 1), 0);
	return offset;
}

static void members(void)
{
	struct btf *btf = make_btf();
	uint32_t size;
	const void *bytes = btf__raw_data(btf, &size);
	CLEANUP_CLOSE int fd = make_file(bytes, size);

	CHECK_INT(offset_of(fd, "outer", "a"), 0);
	CHECK_INT(offset_of(fd, "outer", "bits"), 4);
	CHECK_INT(offset_of(fd, "outer", "early"), 8);
	CHECK_INT(offset_of(fd, "outer", "early.y"), 16);
	CHECK_INT(offset_of(fd, "outer", "b"), 36);
	CHECK_INT(offset_of(fd, "outer", "c"), 40);
	CHECK_INT(offset_of(fd, "outer", "d.y"), 48);
	CHECK_INT(offset_of(fd, "outer", "late.z"), 76);
	CHECK_INT(offset_of(fd, "last", "u"), 20);
	CHECK_INT(offset_of(fd, "outer", NULL), 128);
	CHECK_INT(offset_of(fd, "early", NULL), 16);
	CHECK_INT(offset_of(fd, "outer", "inner"), BTF_MISSING);
	CHECK_INT(offset_of(fd, "outer", "early.inner"), BTF_MISSING);
	CHECK_INT(offset_of(fd, "outer", "a.x"), BTF_MISSING);
	CHECK_INT(offset_of(fd, "outer", "z"), BTF_MISSING);
	CHECK_INT(offset_of(fd, "colour", "inner"), BTF_MISSING);
	CHECK_INT(offset_of(fd, "nothing", "a"), BTF_MISSING);
	CHECK_INT(offset_of(fd, "nothing", NULL), BTF_MISSING);
	CHECK_INT(offset_of(fd, "", "a"), BTF_MISSING);
	CHECK_INT(offset_of(fd, "outer", ""), BTF_MISSING);
	CHECK(btf__has_typedef(fd, "btf_trace_x"));
	CHECK(!btf__has_typedef(fd, "btf_trace_y"));
	CHECK(!btf__has_typedef(fd, "btf_trace_"));
	CHECK(!btf__has_typedef(fd, ""));
	btf__free(btf);
}

static void too_much(void)
{
	uint32_t offset[BTF_FIELDS_MAX + 1];
	struct btf_field fields[ARRAY_SIZE(offset)];
	struct btf *btf = make_btf();
	uint32_t size;
	const void *bytes = btf__raw_data(btf, &size);
	CLEANUP_CLOSE int fd = make_file(bytes, size);

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		fields[i] = (struct btf_field){"outer", "late.z", &offset[i]};
	CHECK_INT(btf__find_fields(fd, fields, BTF_FIELDS_MAX), 0);
	CHECK_INT(offset[BTF_FIELDS_MAX - 1], 76);
	CHECK_INT(btf__find_fields(fd, fields, BTF_FIELDS_MAX + 1), -E2BIG);
	CHECK_INT(offset[0], BTF_MISSING);
	btf__free(btf);
}

/* A file that ends anywhere, or with any byte changed: an answer, or none, but no harm. */
static void broken_files(void)
{
	struct btf *btf = make_btf();
	uint32_t size, offset;
	const uint8_t *bytes = btf__raw_data(btf, &size);
	const struct btf_field field = {"outer", "late.z", &offset};
	CLEANUP_FREE uint8_t *changed = malloc(size);

	for (uint32_t length = 0; length < size; length++) {
		CLEANUP_CLOSE int fd = make_file(bytes, length);

		CHECK_INT(btf__find_fields(fd, &field, 1), -EBADMSG);
		CHECK(!btf__has_typedef(fd, "btf_trace_x"));
	}
	for (uint32_t at = 0; at < size; at++) {
		for (unsigned int bit = 0; bit < 8; bit++) {
			CLEANUP_CLOSE int fd = -1;
			int err;

			memcpy(changed, bytes, size);
			changed[at] ^= (uint8_t)(1 << bit);
			fd = make_file(changed, size);
			err = btf__find_fields(fd, &field, 1);
			CHECK(err == 0 || err == -EBADMSG);
			btf__has_typedef(fd, "btf_trace_x");
		}
	}
	btf__free(btf);
}

/* A type that holds itself, and one that is not there. */
static void endless_types(void)
{
	struct btf *btf = btf__new_empty();
	uint32_t size;
	const void *bytes;

	btf__add_struct(btf, "outer", 4);
	btf__add_field(btf, "", 1, 0, 0);
	btf__add_field(btf, "", 1, 0, 0);
	btf__add_field(btf, "gone", 99, 0, 0);
	bytes = btf__raw_data(btf, &size);
	{
		CLEANUP_CLOSE int fd = make_file(bytes, size);

		CHECK_INT(offset_of(fd, "outer", "a"), BTF_MISSING);
		CHECK_INT(offset_of(fd, "outer", "gone.a"), BTF_MISSING);
		CHECK_INT(offset_of(fd, "outer", "gone"), 0);
	}
	btf__free(btf);
}

/* ---- the kernel's ---- */

/* As libbpf finds it; a member of an unnamed struct or union in it counts as its own. */
static uint32_t member(const struct btf *btf, uint32_t type_id, const char *path)
{
	size_t length = strcspn(path, ".");
	const struct btf_type *type = btf__type_by_id(btf, type_id);
	const struct btf_member *members = btf_members(type);

	if (!btf_is_composite(type))
		return BTF_MISSING;
	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		uint32_t at = btf_member_bit_offset(type, i) / 8, inner = BTF_MISSING;
		const char *name = btf__name_by_offset(btf, members[i].name_off);
		int id = btf__resolve_type(btf, members[i].type);

		if (!name[0])
			inner = member(btf, (uint32_t)id, path);
		else if (strlen(name) == length && !memcmp(name, path, length))
			inner = path[length] ? member(btf, (uint32_t)id, path + length + 1) : 0;
		if (inner != BTF_MISSING)
			return at + inner;
	}
	return BTF_MISSING;
}

static void the_kernels(void)
{
	static const char *const wanted[][2] = {
		{"task_struct", "mm"},
		{"task_struct", "thread_pid"},
		{"task_struct", "thread.sp"},
		{"task_struct", "__state"},
		{"task_struct", "no_such_member"},
		{"mm_struct", "mm_mt.ma_root"},
		{"mm_struct", "mm_rb.rb_node"},
		{"mm_struct", "mmap_lock.count.counter"},
		{"vm_area_struct", "vm_start"},
		{"vm_area_struct", "vm_end"},
		{"vm_area_struct", "vm_flags"},
		{"vm_area_struct", "vm_pgoff"},
		{"vm_area_struct", "vm_file"},
		{"vm_area_struct", "vm_rb"},
		{"file", "f_inode"},
		{"file", "f_path.dentry"},
		{"inode", "i_sb"},
		{"inode", "i_size"},
		{"inode", "i_generation"},
		{"inode", "i_ctime.tv_sec"},
		{"inode", "__i_ctime.tv_sec"},
		{"inode", "i_ctime_sec"},
		{"super_block", "s_dev"},
		{"dentry", "d_name.name"},
		{"dentry", "d_name.len"},
		{"qstr", "len"},
		{"upid", NULL},
	};
	CLEANUP_CLOSE int fd = kernel_btf__open();
	uint32_t found[ARRAY_SIZE(wanted)];
	struct btf_field fields[ARRAY_SIZE(wanted)];
	struct btf *btf;

	if (fd < 0) {
		tap_skip("the kernel has no BTF");
		return;
	}
	btf = btf__parse_raw("/sys/kernel/btf/vmlinux");
	if (!CHECK(btf != NULL))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		fields[i] = (struct btf_field){wanted[i][0], wanted[i][1], &found[i]};
	CHECK_INT(btf__find_fields(fd, fields, ARRAY_SIZE(fields)), 0);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		int id = btf__find_by_name_kind(btf, wanted[i][0], BTF_KIND_STRUCT);
		uint32_t expected = wanted[i][1] ? member(btf, (uint32_t)id, wanted[i][1]) :
						   btf__type_by_id(btf, (uint32_t)id)->size;

		tap_check(found[i] == expected, __FILE__, __LINE__, "%s.%s is at %u, not %u",
			  wanted[i][0], wanted[i][1] ? wanted[i][1] : "", expected, found[i]);
	}
	btf__free(btf);
}

static const struct tap_test tests[] = {
	{"members, of inner and unnamed structs, and sizes", members},
	{"as many fields as there is room for, and one more", too_much},
	{"files that are cut off or changed anywhere", broken_files},
	{"types that hold themselves, or do not exist", endless_types},
	{"the kernel's: as libbpf finds them", the_kernels},
};

int main(void)
{
	return TAP_RUN(tests);
}
