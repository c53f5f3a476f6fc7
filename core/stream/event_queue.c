// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/stream/event_queue.h"

#include <errno.h>
#include <stdlib.h>

int event_queue__init(struct event_queue *queue)
{
	*queue = (struct event_queue){.events = calloc(EVENT_QUEUE_SIZE, sizeof(*queue->events))};
	return queue->events ? 0 : -ENOMEM;
}

void event_queue__release(struct event_queue *queue)
{
	free(queue->events);
	*queue = (struct event_queue){0};
}

static struct stream_event *event_at(const struct event_queue *queue, size_t i)
{
	return &queue->events[(queue->first + i) % EVENT_QUEUE_SIZE];
}

void event_queue__put(struct event_queue *queue, const struct stream_event *event)
{
	size_t at = queue->nr++;

	for (; at > 0 && event_at(queue, at - 1)->time > event->time; at--)
		*event_at(queue, at) = *event_at(queue, at - 1);
	*event_at(queue, at) = *event;
	if (at + 1 < queue->nr && event_at(queue, at + 1)->arrived < event->arrived)
		event_at(queue, at)->arrived = event_at(queue, at + 1)->arrived;
}

struct stream_event *event_queue__first(const struct event_queue *queue)
{
	return queue->nr ? event_at(queue, 0) : NULL;
}

void event_queue__drop(struct event_queue *queue)
{
	queue->first = (queue->first + 1) % EVENT_QUEUE_SIZE;
	queue->nr--;
	/* Memory that has not been used yet is not touched without need. */
	if (queue->nr == 0)
		queue->first = 0;
}
