// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/stream/event_queue.h"

#include <errno.h>

#include <stdlib.h>

#include "core/stream/sent_stacks.h"
#include "test/unit/tap.h"

static void put(struct event_queue *queue, uint64_t time, uint32_t tid)
{
	const struct stream_event event = {.time = time, .tid = tid};

	event_queue__put(queue, &event);
}

/* True if the next event is this one; it is taken away. */
static bool takes(struct event_queue *queue, uint64_t time, uint32_t tid)
{
	const struct stream_event *event = event_queue__first(queue);
	bool is = event && event->time == time && event->tid == tid;

	if (event)
		event_queue__drop(queue);
	return is;
}

static void by_time(void)
{
	struct event_queue queue;

	if (!CHECK_INT(event_queue__init(&queue), 0))
		return;
	CHECK(!event_queue__first(&queue));
	put(&queue, 30, 1);
	put(&queue, 10, 2);
	put(&queue, 20, 3);
	put(&queue, 40, 4);
	CHECK(takes(&queue, 10, 2));
	put(&queue, 5, 5);
	CHECK(takes(&queue, 5, 5));
	CHECK(takes(&queue, 20, 3));
	CHECK(takes(&queue, 30, 1));
	CHECK(takes(&queue, 40, 4));
	CHECK(!event_queue__first(&queue));
	event_queue__release(&queue);
}

/* A gap is put before the event that showed it, and has its time. */
static void equal_times_stay_in_order(void)
{
	struct event_queue queue;

	if (!CHECK_INT(event_queue__init(&queue), 0))
		return;
	put(&queue, 10, 1);
	put(&queue, 10, 2);
	put(&queue, 9, 3);
	put(&queue, 10, 4);
	CHECK(takes(&queue, 9, 3));
	CHECK(takes(&queue, 10, 1));
	CHECK(takes(&queue, 10, 2));
	CHECK(takes(&queue, 10, 4));
	event_queue__release(&queue);
}

/* Late events are not held as long as new ones: that would hold up all behind them. */
static void late_events(void)
{
	const struct stream_event early = {.time = 10, .arrived = 100},
				  late = {.time = 5, .arrived = 200},
				  later = {.time = 20, .arrived = 300};
	struct event_queue queue;

	if (!CHECK_INT(event_queue__init(&queue), 0))
		return;
	event_queue__put(&queue, &early);
	event_queue__put(&queue, &late);
	event_queue__put(&queue, &later);
	CHECK_INT(event_queue__first(&queue)->time, 5);
	CHECK_INT(event_queue__first(&queue)->arrived, 100);
	event_queue__drop(&queue);
	CHECK_INT(event_queue__first(&queue)->arrived, 100);
	event_queue__drop(&queue);
	CHECK_INT(event_queue__first(&queue)->arrived, 300);
	event_queue__release(&queue);
}

/* Full, and round its end many times over, with times that go up and down by some. */
static void full_and_round(void)
{
	struct event_queue queue;
	uint64_t time = 1000, last = 0;
	bool sorted = true;
	size_t taken = 0;

	if (!CHECK_INT(event_queue__init(&queue), 0))
		return;
	srand(1);
	while (queue.nr < EVENT_QUEUE_SIZE)
		put(&queue, time + (uint64_t)rand() % 100, 0);
	for (size_t i = 0; i < 3 * (size_t)EVENT_QUEUE_SIZE; i++) {
		uint64_t first = event_queue__first(&queue)->time;

		sorted &= first >= last;
		last = first;
		event_queue__drop(&queue);
		taken++;
		/* Later than what has been taken. */
		put(&queue, last + (uint64_t)rand() % 50, 0);
	}
	while (event_queue__first(&queue)) {
		sorted &= event_queue__first(&queue)->time >= last;
		last = event_queue__first(&queue)->time;
		event_queue__drop(&queue);
		taken++;
	}
	CHECK(sorted);
	CHECK_INT(taken, 4 * EVENT_QUEUE_SIZE);
	event_queue__release(&queue);
}

static struct stack_id id_of(uint64_t number)
{
	/* All in a few buckets. */
	return (struct stack_id){.lo = number, .hi = number % 3};
}

static void stacks_by_id(void)
{
	struct sent_stacks stacks = {0};
	struct stack_part stack = {0};
	const struct sent_stack *found;

	CHECK(!sent_stacks__find(&stacks, id_of(1)));
	for (uint64_t number = 1; number <= 1000; number++) {
		stack.nr = number % PART_FRAMES + 1;
		for (uint32_t i = 0; i < stack.nr; i++)
			stack.frames[i] = number * 1000 + i;
		CHECK_INT(sent_stacks__add(&stacks, id_of(number), &stack), 0);
	}
	CHECK_INT(stacks.nr, 1000);
	for (uint64_t number = 1; number <= 1000; number++) {
		found = sent_stacks__find(&stacks, id_of(number));
		if (!CHECK(found != NULL))
			break;
		CHECK_INT(found->nr, number % PART_FRAMES + 1);
		CHECK_INT(found->frames[found->nr - 1], number * 1000 + found->nr - 1);
		CHECK_INT(found->shown_version, 0);
	}
	CHECK(!sent_stacks__find(&stacks, id_of(1001)));
	sent_stacks__release(&stacks);
	CHECK_INT(stacks.bytes, 0);
	CHECK(!sent_stacks__find(&stacks, id_of(1)));
}

static void twice_is_once(void)
{
	const struct stack_part one = {.nr = 1, .frames = {42}};
	const struct stack_part other = {.nr = 2, .frames = {1, 2}};
	struct sent_stacks stacks = {0};
	const struct sent_stack *found;

	CHECK_INT(sent_stacks__add(&stacks, id_of(7), &one), 0);
	found = sent_stacks__find(&stacks, id_of(7));
	/* Events point to it. */
	CHECK_INT(sent_stacks__add(&stacks, id_of(7), &other), 0);
	CHECK(sent_stacks__find(&stacks, id_of(7)) == found);
	CHECK_INT(found->frames[0], 42);
	CHECK_INT(stacks.nr, 1);
	sent_stacks__release(&stacks);
}

/* Each part is the leaf's end of a stack, whose other parts have been sent before. */
static void parts_are_joined(void)
{
	struct stack_part part = {.nr = PART_FRAMES};
	struct sent_stacks stacks = {0};
	const struct sent_stack *found;

	part.next = id_of(99);
	CHECK_INT(sent_stacks__add(&stacks, id_of(1), &part), -EPROTO);
	part.next = (struct stack_id){0};
	for (uint64_t number = 1; number <= STACK_PARTS; number++) {
		part.frames[0] = number;
		part.frames[PART_FRAMES - 1] = 1000 + number;
		CHECK_INT(sent_stacks__add(&stacks, id_of(number), &part), 0);
		part.next = id_of(number);
	}
	CHECK_INT(sent_stacks__add(&stacks, id_of(77), &part), -EPROTO);
	found = sent_stacks__find(&stacks, id_of(STACK_PARTS));
	if (CHECK(found != NULL) && CHECK_INT(found->nr, STACK_SLOTS)) {
		CHECK_INT(found->frames[0], STACK_PARTS);
		CHECK_INT(found->frames[PART_FRAMES], STACK_PARTS - 1);
		CHECK_INT(found->frames[STACK_SLOTS - 1], 1001);
	}
	sent_stacks__release(&stacks);
}

static const struct tap_test tests[] = {
	{"events come out by their times", by_time},
	{"events of one time stay in their order", equal_times_stay_in_order},
	{"an event that comes late holds up no other", late_events},
	{"a full queue, round its end", full_and_round},
	{"stacks are found by their ids", stacks_by_id},
	{"the parts of a stack are joined", parts_are_joined},
	{"a stack that was sent twice is kept once", twice_is_once},
};

int main(void)
{
	return TAP_RUN(tests);
}
