// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The hash of the BPF programs against SipHash as the paper describes it, which
 * is written down here a second time and checked against a published vector.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "bpf/siphash.bpf.h"
#include "sym/util/array.h"
#include "test/unit/tap.h"

/* ---- the reference: bytes in, any number of rounds, 64 or 128 bits out ---- */

struct variant {
	int c, d; /* rounds for each word, and at the end */
	bool is_128bit;
};

static uint64_t rotate(uint64_t x, unsigned int bits)
{
	return (x << bits) | (x >> (64 - bits));
}

static void rounds(uint64_t v[4], int nr)
{
	while (nr-- > 0) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate(v[1], 13);
		v[3] = rotate(v[3], 16);
		v[1] ^= v[0];
		v[3] ^= v[2];
		v[0] = rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotate(v[1], 17);
		v[3] = rotate(v[3], 21);
		v[1] ^= v[2];
		v[3] ^= v[0];
		v[2] = rotate(v[2], 32);
	}
}

/* Little-endian, whatever this machine is. */
static uint64_t load(const unsigned char *bytes, size_t nr)
{
	uint64_t word = 0;

	while (nr-- > 0)
		word = word << 8 | bytes[nr];
	return word;
}

static void absorb(uint64_t v[4], uint64_t word, int c)
{
	v[3] ^= word;
	rounds(v, c);
	v[0] ^= word;
}

static uint64_t squeeze(uint64_t v[4], int d)
{
	rounds(v, d);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static void reference(struct variant variant, const uint64_t key[2], const unsigned char *bytes,
		      size_t size, uint64_t out[2])
{
	uint64_t v[4] = {
		key[0] ^ load((const unsigned char *)"uespemos", 8),
		key[1] ^ load((const unsigned char *)"modnarod", 8),
		key[0] ^ load((const unsigned char *)"arenegyl", 8),
		key[1] ^ load((const unsigned char *)"setybdet", 8),
	};
	size_t whole = size / 8 * 8;

	if (variant.is_128bit)
		v[1] ^= 0xee;
	for (size_t i = 0; i < whole; i += 8)
		absorb(v, load(bytes + i, 8), variant.c);
	absorb(v, load(bytes + whole, size - whole) | (uint64_t)size << 56, variant.c);
	v[2] ^= variant.is_128bit ? 0xee : 0xff;
	out[0] = squeeze(v, variant.d);
	if (variant.is_128bit) {
		v[1] ^= 0xdd;
		out[1] = squeeze(v, variant.d);
	}
}

/* Appendix A of the paper: key 00..0f, message 00..0e. */
static const uint64_t paper_key[] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};

static void reference_gives_the_vector_of_the_paper(void)
{
	const struct variant siphash_2_4 = {.c = 2, .d = 4};
	unsigned char message[15];
	uint64_t out[2];

	for (size_t i = 0; i < sizeof(message); i++)
		message[i] = (unsigned char)i;
	reference(siphash_2_4, paper_key, message, sizeof(message), out);
	CHECK_INT(out[0], 0xa129ca6149be45e5);
}

/* vectors_sip128[0] of the authors' implementation: key 00..0f, no message. */
static void reference_gives_the_vector_of_128_bits(void)
{
	const struct variant siphash_2_4_128 = {.c = 2, .d = 4, .is_128bit = true};
	uint64_t out[2];

	reference(siphash_2_4_128, paper_key, (const unsigned char *)"", 0, out);
	CHECK_INT(out[0], 0xe6a825ba047f81a3);
	CHECK_INT(out[1], 0x930255c71472f66d);
}

/* ---- the hash of the BPF programs ---- */

struct hash {
	uint64_t lo, hi;
};

static struct hash hash(const uint64_t key[2], const uint64_t *words, size_t nr)
{
	struct siphash state = siphash__init(key[0], key[1]);
	__u64 lo, hi;

	for (size_t i = 0; i < nr; i++)
		siphash__add(&state, words[i]);
	siphash__finish(&state, (__u32)nr, &lo, &hi);
	return (struct hash){lo, hi};
}

static bool same(struct hash a, struct hash b)
{
	return a.lo == b.lo && a.hi == b.hi;
}

/* Both halves differ: none of them ignores what has changed. */
static bool differ(struct hash a, struct hash b)
{
	return a.lo != b.lo && a.hi != b.hi;
}

#define MANY 300 /* above 255: the length goes into one byte */

/* Numbers without a pattern, the same in each run. */
static void fill(uint64_t *words, size_t nr)
{
	uint64_t state = 1;

	for (size_t i = 0; i < nr; i++) {
		state = state * 6364136223846793005 + 1442695040888963407;
		words[i] = state ^ state >> 29;
	}
}

static void to_bytes(const uint64_t *words, size_t nr, unsigned char *bytes)
{
	for (size_t i = 0; i < nr * 8; i++)
		bytes[i] = (unsigned char)(words[i / 8] >> i % 8 * 8);
}

static void equals_the_reference(void)
{
	const struct variant siphash_1_3_128 = {.c = 1, .d = 3, .is_128bit = true};
	static unsigned char bytes[MANY * 8];
	static uint64_t words[MANY];

	fill(words, MANY);
	to_bytes(words, MANY, bytes);
	for (size_t nr = 0; nr <= MANY; nr++) {
		const uint64_t key[] = {words[nr % 7], words[nr % 11]};
		struct hash got = hash(key, words, nr);
		uint64_t expected[2];

		reference(siphash_1_3_128, key, bytes, nr * 8, expected);
		tap_check(got.lo == expected[0] && got.hi == expected[1], __FILE__, __LINE__,
			  "%zu words differ from the reference", nr);
	}
}

static void key_matters(void)
{
	const uint64_t words[] = {1, 2, 3};
	struct hash zero = hash((const uint64_t[]){0, 0}, words, 3);

	for (int bit = 0; bit < 64; bit++) {
		CHECK(differ(zero, hash((const uint64_t[]){1ULL << bit, 0}, words, 3)));
		CHECK(differ(zero, hash((const uint64_t[]){0, 1ULL << bit}, words, 3)));
	}
	CHECK(differ(hash((const uint64_t[]){1, 2}, words, 3),
		     hash((const uint64_t[]){2, 1}, words, 3)));
}

static void words_and_their_order_matter(void)
{
	uint64_t words[4] = {1, 2, 3, 4};
	struct hash before = hash(paper_key, words, 4);

	CHECK(same(before, hash(paper_key, words, 4)));
	CHECK(differ(before, hash(paper_key, (const uint64_t[]){2, 1, 3, 4}, 4)));
	CHECK(differ(before, hash(paper_key, (const uint64_t[]){1, 2, 4, 3}, 4)));
	for (size_t i = 0; i < 4 * 64; i++) {
		words[i / 64] ^= 1ULL << i % 64;
		CHECK(differ(before, hash(paper_key, words, 4)));
		words[i / 64] ^= 1ULL << i % 64;
	}
}

static void number_of_words_matters(void)
{
	static const uint64_t zeros[128];
	struct hash hashes[ARRAY_SIZE(zeros) + 1];

	for (size_t nr = 0; nr <= ARRAY_SIZE(zeros); nr++) {
		hashes[nr] = hash(paper_key, zeros, nr);
		for (size_t other = 0; other < nr; other++)
			CHECK(differ(hashes[nr], hashes[other]));
	}
}

static const struct tap_test tests[] = {
	{"the reference gives the vector of the paper", reference_gives_the_vector_of_the_paper},
	{"the reference gives the authors' vector of 128 bits",
	 reference_gives_the_vector_of_128_bits},
	{"the hash of the BPF programs is SipHash-1-3-128, for any number of words",
	 equals_the_reference},
	{"each bit of the key matters", key_matters},
	{"each bit of the words, and their order, matters", words_and_their_order_matter},
	{"the number of words matters", number_of_words_matters},
};

int main(void)
{
	return TAP_RUN(tests);
}
