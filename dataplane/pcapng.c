/* SPDX-License-Identifier: BSD-3-Clause */
#include "pcapng.h"

#include <assert.h>
#include <string.h>

enum {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_PACKET = 6,
};

enum {
	OPTION_END = 0,
	OPTION_COMMENT = 1,
	OPTION_SECTION_APPLICATION = 4,
	OPTION_INTERFACE_TIME_UNIT = 9,
};

#define BYTE_ORDER_MAGIC UINT32_C(0x1a2b3c4d)
#define LINK_TYPE_ETHERNET 1
#define TIME_UNIT_NS 9 /* negative power of ten */

static void
put_bytes(struct pcapng_block *block, const void *bytes, uint32_t n)
{
	assert(block->n_bytes + n <= sizeof(block->bytes));
	memcpy(&block->bytes[block->n_bytes], bytes, n);
	block->n_bytes += n;
}

/* Numbers are in the writer's byte order, which the magic number tells the reader. */
static void
put_u32(struct pcapng_block *block, uint32_t value)
{
	put_bytes(block, &value, sizeof(value));
}

static void
put_two_u16(struct pcapng_block *block, uint16_t first, uint16_t second)
{
	put_bytes(block, &first, sizeof(first));
	put_bytes(block, &second, sizeof(second));
}

static void
put_padded(struct pcapng_block *block, const void *bytes, uint32_t n)
{
	static const uint8_t padding[3];

	put_bytes(block, bytes, n);
	put_bytes(block, padding, -n & 3u);
}

static void
put_option(struct pcapng_block *block, uint16_t code, const void *value, uint32_t n)
{
	put_two_u16(block, code, (uint16_t)n);
	put_padded(block, value, n);
}

static void
put_text_option(struct pcapng_block *block, uint16_t code, const char *text)
{
	put_option(block, code, text, (uint32_t)strnlen(text, PCAPNG_COMMENT_BYTES_MAX));
}

/* Opens a block; returns where it begins. */
static uint32_t
block_begin(struct pcapng_block *block, uint32_t type)
{
	const uint32_t start = block->n_bytes;

	put_u32(block, type);
	put_u32(block, 0); /* its length, once that is known */
	return start;
}

/* Closes it: the length stands at both ends, so that files can be read backwards. */
static void
block_end(struct pcapng_block *block, uint32_t start)
{
	uint32_t n_bytes;

	put_two_u16(block, OPTION_END, 0);
	n_bytes = block->n_bytes + (uint32_t)sizeof(n_bytes) - start;
	put_u32(block, n_bytes);
	memcpy(&block->bytes[start + 4], &n_bytes, sizeof(n_bytes));
}

void
pcapng_make_header(struct pcapng_block *block, const char *application, uint32_t snap_bytes)
{
	const uint8_t time_unit = TIME_UNIT_NS;
	uint32_t start;

	block->n_bytes = 0;
	start = block_begin(block, BLOCK_SECTION);
	put_u32(block, BYTE_ORDER_MAGIC);
	put_two_u16(block, 1, 0);   /* version */
	put_u32(block, UINT32_MAX); /* 64 bits: a section of unknown length */
	put_u32(block, UINT32_MAX);
	put_text_option(block, OPTION_SECTION_APPLICATION, application);
	block_end(block, start);
	start = block_begin(block, BLOCK_INTERFACE);
	put_two_u16(block, LINK_TYPE_ETHERNET, 0);
	put_u32(block, snap_bytes);
	put_option(block, OPTION_INTERFACE_TIME_UNIT, &time_unit, sizeof(time_unit));
	block_end(block, start);
}

void
pcapng_make_packet(struct pcapng_block *block, const struct pcapng_packet *packet)
{
	uint32_t start;

	block->n_bytes = 0;
	start = block_begin(block, BLOCK_PACKET);
	put_u32(block, 0); /* interface */
	put_u32(block, (uint32_t)(packet->time_ns >> 32));
	put_u32(block, (uint32_t)packet->time_ns);
	put_u32(block, packet->n_bytes);
	put_u32(block, packet->length);
	put_padded(block, packet->bytes, packet->n_bytes);
	put_text_option(block, OPTION_COMMENT, packet->comment);
	block_end(block, start);
}
