/* SPDX-License-Identifier: BSD-3-Clause */
/* The handlers' fixture: see handler_fixture.h. */
#include <unistd.h>

#include "handler_fixture.h"
#include "test.h"

const uint8_t pair_of_four[4] = { 1, 0, 3, 2 };
const char *const names_of_four[4] = { "net_pcap0", "net_tap0", NULL, "0000:03:00.1" };
const struct handler_setup setup_of_four = { .worker = 2,
	.n_ports = 4,
	.pair = pair_of_four,
	.port_names = names_of_four,
	.seed = 7,
	.tsc_hz = 1000000000 };

static void
packets_fill(struct fixture *f)
{
	for (uint32_t i = 0; i < N_PACKETS; i++) {
		for (uint32_t b = 0; b < PACKET_BYTES; b++)
			f->bytes[i][b] = (uint8_t)(i * 31 + b);
		f->packets[i] = (struct weir_packet) {
			.data = f->bytes[i],
			.meta = {
				.time_ns = UINT64_C(1700000000123456789) + i,
				.length = PACKET_BYTES - i,
				.segment_length = PACKET_BYTES - i,
				.port = (uint16_t)(i % 4),
			},
		};
	}
}

int
fixture_create(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (f == NULL)
		return -1;
	packets_fill(f);
	strcpy(f->directory, "/tmp/weir-test-handlers-XXXXXX");
	if (mkdtemp(f->directory) == NULL)
		return -1;
	snprintf(f->path, sizeof(f->path), "%s/worker-2.pcap", f->directory);
	*state = f;
	return 0;
}

int
fixture_destroy(void **state)
{
	struct fixture *f = *state;

	unlink(f->path);
	rmdir(f->directory);
	free(f);
	return 0;
}

const struct handler *
fixture_open(struct fixture *f, const char *spec)
{
	const struct handler *handler = handler_find(spec);

	assert_non_null(handler);
	assert_int_equal(handler->open(&setup_of_four, handler_arguments(spec), &f->handler_state,
				 f->error, sizeof(f->error)),
		0);
	if (handler->begin != NULL)
		assert_int_equal(handler->begin(f->handler_state, f->error, sizeof(f->error)), 0);
	return handler;
}

void
fixture_close(struct fixture *f, const struct handler *handler)
{
	if (handler->close != NULL)
		assert_int_equal(handler->close(f->handler_state, f->error, sizeof(f->error)), 0);
}

void
fixture_run(struct fixture *f, const char *spec)
{
	const struct handler *handler = fixture_open(f, spec);

	memset(f->verdicts, 0xff, sizeof(f->verdicts));
	handler->process(f->handler_state, f->packets, N_PACKETS, f->verdicts);
	fixture_close(f, handler);
}

void
assert_dropped(const struct fixture *f, uint32_t i, uint8_t reason)
{
	assert_int_equal(f->verdicts[i].kind, WEIR_VERDICT_DROP);
	assert_int_equal(f->verdicts[i].target, reason);
}
