// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/input/pprof_wire.h"

#include "sym/util/array.h"

/* How a field is written, by the lowest three bits of its tag. */
enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

/* So many fields behind each other are those of a profile, though the last one is damaged. */
#define SURELY 3

static bool fail(struct wire *wire)
{
	wire->at = wire->end;
	wire->failed = true;
	return false;
}

bool wire__next_number(struct wire *wire, uint64_t *number)
{
	*number = 0;
	if (wire->at == wire->end)
		return false;
	for (unsigned int shift = 0; wire->at < wire->end && shift < 64; shift += 7) {
		unsigned char byte = *wire->at++;

		if (shift == 63 && byte > 1)
			break;
		*number |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
		wire->cut = wire->at == wire->end;
	}
	return fail(wire);
}

/* So many bytes become those of the field. */
static bool take_bytes(struct wire *wire, uint64_t size, struct wire_field *field)
{
	if (size > (uint64_t)(wire->end - wire->at)) {
		wire->cut = true;
		return fail(wire);
	}
	field->bytes = (struct wire){.at = wire->at, .end = wire->at + size};
	wire->at += size;
	return true;
}

bool wire__next(struct wire *wire, struct wire_field *field)
{
	uint64_t tag, size;

	*field = (struct wire_field){0};
	if (!wire__next_number(wire, &tag))
		return false;
	if (tag >> 3 == 0 || tag >> 3 > UINT32_MAX)
		return fail(wire);
	field->number = (uint32_t)(tag >> 3);
	field->is_message = (tag & 7) == BYTES;
	field->is_number = (tag & 7) == VARINT;
	wire->cut = wire->at == wire->end;
	switch (tag & 7) {
	case VARINT:
		return wire__next_number(wire, &field->value) || fail(wire);
	case FIXED64:
		return take_bytes(wire, 8, field);
	case FIXED32:
		return take_bytes(wire, 4, field);
	case BYTES:
		return wire__next_number(wire, &size) ? take_bytes(wire, size, field) : fail(wire);
	default:
		return fail(wire);
	}
}

/* As github.com/google/pprof, proto/profile.proto, has the fields of a profile. */
static bool is_of_profile(const struct wire_field *field)
{
	static const struct {
		bool is_number, is_message;
	} forms[] = {
		[1] = {.is_message = true},			/* sample_type */
		[2] = {.is_message = true},			/* sample */
		[3] = {.is_message = true},			/* mapping */
		[4] = {.is_message = true},			/* location */
		[5] = {.is_message = true},			/* function */
		[6] = {.is_message = true},			/* string_table */
		[7] = {.is_number = true},			/* drop_frames */
		[8] = {.is_number = true},			/* keep_frames */
		[9] = {.is_number = true},			/* time_nanos */
		[10] = {.is_number = true},			/* duration_nanos */
		[11] = {.is_message = true},			/* period_type */
		[12] = {.is_number = true},			/* period */
		[13] = {.is_number = true, .is_message = true}, /* comment, packed or not */
		[14] = {.is_number = true},			/* default_sample_type */
		[15] = {.is_number = true},			/* doc_url */
	};

	if (field->number >= ARRAY_SIZE(forms))
		return false;
	return (field->is_message && forms[field->number].is_message) ||
	       (field->is_number && forms[field->number].is_number);
}

bool pprof_wire__is_profile(const unsigned char *bytes, size_t size, bool whole)
{
	struct wire wire = {.at = bytes, .end = bytes + size};
	struct wire_field field;
	unsigned int nr = 0;

	while (wire__next(&wire, &field)) {
		if (!is_of_profile(&field))
			return false;
		nr++;
	}
	if (!wire.failed)
		return nr > 0;
	/* The last field ends behind these bytes; of a whole file it does so only by damage. */
	return wire.cut && is_of_profile(&field) && (!whole || nr >= SURELY);
}
