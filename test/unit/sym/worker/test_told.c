// SPDX-License-Identifier: GPL-2.0-or-later
/* Whom a child is told of, in which order, and what is kept of that. */
#include "sym/worker/told.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "sym/process/image.h"
#include "sym/process/maps.h"
#include "sym/process/remembered.h"
#include "sym/types.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/worker/protocol.h"
#include "test/unit/tap.h"

#define CLEANUP_LIST CLEANUP(told_list__release)

static void flood_of_images(void)
{
	CLEANUP(told_list__release) struct told_list list = {0};
	static struct sym_mapping mappings[2 * IMAGE_MAPPINGS_MAX];
	struct sym_image image = {.mappings = mappings, .nr = ARRAY_SIZE(mappings)};
	size_t with_image = 0, bytes = 0;
	char path[PATH_MAX + 1];

	for (size_t i = 0; i < ARRAY_SIZE(mappings); i++)
		mappings[i] = (struct sym_mapping){.start = i, .end = i + 1, .path = path};
	memset(path, 'x', sizeof(path));
	path[PATH_MAX - 1] = '\0';
	/* The largest that there can be is kept. */
	CHECK_INT(told_list__add(&list, 1, false, &image)->image->nr, IMAGE_MAPPINGS_MAX);
	CHECK_INT(list.items[0].image->mappings[0].start, IMAGE_MAPPINGS_MAX);
	CHECK(list.image_bytes > PATH_MAX * IMAGE_MAPPINGS_MAX);
	CHECK(told_list__add(&list, 2, false, &image)->image);
	CHECK(!list.items[0].image);
	CHECK(list.image_bytes <= IMAGES_BYTES_MAX);
	/* A path that is longer than paths can be is none. */
	memset(path, 'x', sizeof(path));
	path[PATH_MAX] = '\0';
	CHECK_STR(told_list__add(&list, 2, false, &image)->image->mappings[0].path, "");
	path[100] = '\0';
	for (pid_t pid = 1; pid < 3 * REMEMBERED_MAX; pid++) {
		image.parent = pid;
		CHECK(told_list__add(&list, pid, false, &image)->image);
		CHECK(list.image_bytes <= IMAGES_BYTES_MAX);
	}
	CHECK_INT(list.nr, REMEMBERED_MAX);
	for (size_t i = 0; i < list.nr; i++) {
		with_image += list.items[i].image != NULL;
		bytes += list.items[i].image_bytes;
		CHECK_INT(list.items[i].image != NULL, list.items[i].image_bytes != 0);
	}
	CHECK_INT(bytes, list.image_bytes);
	CHECK(with_image > 10 && with_image < 50);
}

/* Images are told apart by all that they have. */
static void equal_images(void)
{
	struct sym_mapping mappings[] = {{0x1000, 0x2000, 0, 1, 2, 5, "/a"},
					 {0x3000, 0x4000, 0x3000, 1, 2, 5, "/b"}};
	const struct sym_mapping others[] = {
		{0x1001, 0x2000, 0, 1, 2, 5, "/a"}, {0x1000, 0x2001, 0, 1, 2, 5, "/a"},
		{0x1000, 0x2000, 1, 1, 2, 5, "/a"}, {0x1000, 0x2000, 0, 2, 2, 5, "/a"},
		{0x1000, 0x2000, 0, 1, 3, 5, "/a"}, {0x1000, 0x2000, 0, 1, 2, 5, "/"},
		{0x1000, 0x2000, 0, 1, 2, 5, NULL}, {0x1000, 0x2000, 0, 1, 2, 6, "/a"}};
	struct sym_image original = {.parent = 7, .mappings = mappings, .nr = 2};
	size_t bytes;
	CLEANUP_FREE struct image *image = image__copy(&original, 3, &bytes);

	CHECK_INT(image->version, 3);
	CHECK(image__is_copy(image, &original));
	original.parent = 8;
	CHECK(!image__is_copy(image, &original));
	original.parent = 7;
	original.nr = 1;
	CHECK(!image__is_copy(image, &original));
	original.nr = 2;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		mappings[0] = others[i];
		CHECK(!image__is_copy(image, &original));
	}
}

/* Says the next message to a child; 0, or the process that it was told of. */
static pid_t tell(struct told_list *list, struct told *told, uint64_t number)
{
	struct message message;

	if (!CHECK(told))
		return -1;
	if (!told__fill(told, number, &message)) {
		CHECK_INT(message.request.kind, REQUEST_MAPPING);
		CHECK_INT(message.mapping.index, told->sent);
		told->sent++;
		return 0;
	}
	told->request = number;
	CHECK(told_list__find_request(list, number) == told);
	return message.request.pid;
}

static const struct sym_mapping two[] = {{.start = 1, .end = 2}, {.start = 3, .end = 4}};

static void images_are_sent_whole(void)
{
	CLEANUP_LIST
	struct told_list list = {0};
	const struct sym_image image = {.mappings = two, .nr = 2};

	CHECK_INT(tell(&list, told_list__add(&list, 10, false, &image), 1), 0);
	/* Whoever comes now has to wait, even if it is to be kept. */
	CHECK(told_list__add(&list, 11, true, NULL));
	CHECK_INT(tell(&list, told_list__next(&list, false), 1), 0);
	CHECK_INT(tell(&list, told_list__next(&list, false), 1), 10);
	CHECK_INT(tell(&list, told_list__next(&list, false), 2), 11);
	CHECK(!told_list__next(&list, true));
	/* From the beginning, if it is remembered again or to another child. */
	told_list__add(&list, 10, false, &image);
	CHECK_INT(tell(&list, told_list__next(&list, true), 3), 0);
	told_list__add(&list, 10, false, NULL);
	CHECK_INT(list.items[0].sent, 0);
	CHECK_INT(tell(&list, told_list__next(&list, true), 3), 0);
	told_list__restart(&list);
	CHECK_INT(list.items[0].sent, 0);
	CHECK_INT(tell(&list, told_list__next(&list, true), 4), 11);
}

static void parents_come_first(void)
{
	CLEANUP_LIST
	struct told_list list = {0};

	told_list__add(&list, 1, false, NULL);
	told_list__add(&list, 2, false, &(struct sym_image){.parent = 1});
	told_list__add(&list, 3, false, &(struct sym_image){.parent = 2});
	for (pid_t pid = 1; pid <= 3; pid++)
		CHECK_INT(tell(&list, told_list__next(&list, true), (uint64_t)pid), pid);
	CHECK(!told_list__next(&list, true));
	/* In a circle it does not matter who does. */
	told_list__add(&list, 1, false, &(struct sym_image){.parent = 3});
	told_list__restart(&list);
	for (uint64_t number = 4; number < 7; number++)
		CHECK(tell(&list, told_list__next(&list, true), number) > 0);
	CHECK(!told_list__next(&list, true));
}

static void processes_that_are_asked_for(void)
{
	CLEANUP_LIST
	struct told_list list = {0};
	const struct sym_query first[] = {{.pid = 2}, {.pid = 2}, {.pid = 1}, {.pid = 9}};
	const struct sym_query second[] = {{.pid = 3}};

	for (pid_t pid = 1; pid <= 4; pid++)
		told_list__add(&list, pid, false, NULL);
	CHECK(!told_list__next(&list, false));
	told_list__note_question(&list, first, ARRAY_SIZE(first));
	CHECK_INT(tell(&list, told_list__next(&list, false), 1), 1);
	told_list__note_question(&list, second, ARRAY_SIZE(second));
	CHECK_INT(tell(&list, told_list__next(&list, false), 2), 3);
	CHECK(!told_list__next(&list, false));
	CHECK_INT(tell(&list, told_list__next(&list, true), 3), 2);
}

static void processes_that_have_ended(void)
{
	CLEANUP_LIST
	struct told_list list = {0};
	const struct sym_image image = {.mappings = two, .nr = 1};
	struct told *told = told_list__add(&list, 1, false, &image);
	struct message message;

	told_list__note_answer(&list, told, 0, 77);
	CHECK(!told->ended);
	CHECK_INT(told->start_time, 77);
	told_list__note_answer(&list, told, 0, 0);
	CHECK(told->ended);
	/* Only what is known of it is told, and before a question. */
	told_list__add(&list, 2, false, NULL);
	CHECK_INT(tell(&list, told_list__next(&list, false), 1), 0);
	told = told_list__next(&list, false);
	if (!CHECK(told))
		return;
	CHECK(told__fill(told, 1, &message));
	CHECK_INT(message.request.pid, 1);
	CHECK(message.request.ended);
	CHECK_INT(message.request.mappings, 1);
	told->request = 1;
	CHECK(!told_list__next(&list, false));
	CHECK_INT(tell(&list, told_list__next(&list, true), 2), 2);
	/* One of which nothing is known is forgotten. */
	told_list__note_answer(&list, told_list__find_request(&list, 1), -ESRCH, 0);
	CHECK_INT(list.nr, 1);
	CHECK_INT(list.image_bytes, 0);
}

static const struct tap_test tests[] = {
	{"a flood of images stays bounded", flood_of_images},
	{"images that differ are another one", equal_images},
	{"an image is sent as a whole, or from the beginning", images_are_sent_whole},
	{"who was forked comes behind its parent", parents_come_first},
	{"who is asked for comes before the question", processes_that_are_asked_for},
	{"of those that have ended their images are told", processes_that_have_ended},
};

int main(void)
{
	return TAP_RUN(tests);
}
