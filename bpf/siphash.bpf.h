/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SipHash-1-3 with 128 bits of output, over whole 64-bit words.
 *
 * Aumasson and Bernstein, "SipHash: a fast short-input PRF" (2012); the long
 * output as in their reference implementation; 1 and 3 rounds, which is what
 * hash tables that face chosen keys commonly use. A keyed hash because the
 * processes that are traced choose the addresses that go into it: without the
 * key nobody can build two stacks that are counted as one.
 *
 * Pure arithmetic on integers: the unit tests compile it for the host.
 */
#ifndef TRACEKIT_BPF_SIPHASH_H
#define TRACEKIT_BPF_SIPHASH_H

#include <linux/types.h>

struct siphash {
	__u64 v0, v1, v2, v3;
};

static inline __attribute__((always_inline)) __u64 siphash__rotl(__u64 x, int bits)
{
	return x << bits | x >> (64 - bits);
}

static inline __attribute__((always_inline)) void siphash__round(struct siphash *h)
{
	h->v0 += h->v1;
	h->v1 = siphash__rotl(h->v1, 13) ^ h->v0;
	h->v0 = siphash__rotl(h->v0, 32);
	h->v2 += h->v3;
	h->v3 = siphash__rotl(h->v3, 16) ^ h->v2;
	h->v0 += h->v3;
	h->v3 = siphash__rotl(h->v3, 21) ^ h->v0;
	h->v2 += h->v1;
	h->v1 = siphash__rotl(h->v1, 17) ^ h->v2;
	h->v2 = siphash__rotl(h->v2, 32);
}

static inline __attribute__((always_inline)) struct siphash siphash__init(__u64 k0, __u64 k1)
{
	return (struct siphash){
		.v0 = 0x736f6d6570736575ULL ^ k0,
		.v1 = 0x646f72616e646f6dULL ^ k1 ^ 0xee,
		.v2 = 0x6c7967656e657261ULL ^ k0,
		.v3 = 0x7465646279746573ULL ^ k1,
	};
}

static inline __attribute__((always_inline)) void siphash__add(struct siphash *h, __u64 word)
{
	h->v3 ^= word;
	siphash__round(h);
	h->v0 ^= word;
}

/* words: how many siphash__add() took. */
static inline __attribute__((always_inline)) void siphash__finish(struct siphash *h, __u32 words,
								  __u64 *lo, __u64 *hi)
{
	siphash__add(h, (__u64)(words * 8) << 56);
	h->v2 ^= 0xee;
	siphash__round(h);
	siphash__round(h);
	siphash__round(h);
	*lo = h->v0 ^ h->v1 ^ h->v2 ^ h->v3;
	h->v1 ^= 0xdd;
	siphash__round(h);
	siphash__round(h);
	siphash__round(h);
	*hi = h->v0 ^ h->v1 ^ h->v2 ^ h->v3;
}

#endif
