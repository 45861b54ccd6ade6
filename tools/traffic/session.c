/* SPDX-License-Identifier: BSD-3-Clause */
/* The applications: one function each, which plays the next packet of a flow. */
#include "session.h"

#include <stdbool.h>
#include <string.h>

#include "dns.h"
#include "rng.h"
#include "stamp.h"

/* One packet in so many of bulk UDP goes the other way. */
#define UDP_REPORT_INTERVAL 8

static enum flow_side
reply_side(enum flow_side side)
{
	return side == FLOW_CLIENT ? FLOW_SERVER : FLOW_CLIENT;
}

/* The random number of the flow's packet `sequence`. */
static uint64_t
packet_random(const struct flow *flow, uint32_t sequence)
{
	return rng_at(flow->random ^ UINT64_C(0x7061636b6574), sequence);
}

static uint32_t
draw_size(const struct session *session, uint64_t random)
{
	return session->min_size_bytes +
	       rng_below(random, session->max_size_bytes - session->min_size_bytes + 1);
}

/*
 * What a frame of `size` bytes has left for data behind its headers. Room for a stamp, if the
 * greatest size allows it; a byte at least.
 */
static uint32_t
data_bytes(const struct session *session, const struct flow *flow, uint32_t transport_bytes,
	uint32_t size)
{
	const uint32_t headers = frame_header_bytes(flow) + transport_bytes;

	if (size < headers + STAMP_BYTES)
		size = headers + STAMP_BYTES;
	if (size > session->max_size_bytes)
		size = session->max_size_bytes;
	return size > headers ? size - headers : 1;
}

/* Fills `n` bytes with a letter and, where it fits, the stamp of packet `sequence` at their end. */
static void
fill_data(uint8_t *at, uint32_t n, const struct flow *flow, uint32_t sequence)
{
	memset(at, 'a' + (int)(sequence % 26), n);
	if (n >= STAMP_BYTES)
		stamp_write(at + n - STAMP_BYTES, (struct stamp) { flow->id, sequence });
}

struct tcp_step {
	enum flow_side from;
	uint8_t flags;
	bool has_data;
};

static const struct tcp_step tcp_opening[] = {
	{ FLOW_CLIENT, TCP_SYN, false },
	{ FLOW_SERVER, TCP_SYN | TCP_ACK, false },
	{ FLOW_CLIENT, TCP_ACK, false },
};

/* Over and over: a request, and an answer in three segments that are acknowledged. */
static const struct tcp_step tcp_exchange[] = {
	{ FLOW_CLIENT, TCP_PUSH | TCP_ACK, true },
	{ FLOW_SERVER, TCP_ACK, true },
	{ FLOW_SERVER, TCP_ACK, true },
	{ FLOW_CLIENT, TCP_ACK, false },
	{ FLOW_SERVER, TCP_PUSH | TCP_ACK, true },
	{ FLOW_CLIENT, TCP_ACK, false },
};

static const struct tcp_step tcp_closing[] = {
	{ FLOW_CLIENT, TCP_FIN | TCP_ACK, false },
	{ FLOW_SERVER, TCP_FIN | TCP_ACK, false },
	{ FLOW_CLIENT, TCP_ACK, false },
};

#define N_STEPS(steps) (uint32_t)(sizeof(steps) / sizeof((steps)[0]))

/* A session too short for a byte of data between opening and closing is one that breaks off. */
static const struct tcp_step *
tcp_step_at(uint32_t sequence, uint32_t n_packets)
{
	const bool closes = n_packets > N_STEPS(tcp_opening) + N_STEPS(tcp_closing);

	if (sequence < N_STEPS(tcp_opening))
		return &tcp_opening[sequence];
	if (closes && sequence >= n_packets - N_STEPS(tcp_closing))
		return &tcp_closing[sequence - (n_packets - N_STEPS(tcp_closing))];
	return &tcp_exchange[(sequence - N_STEPS(tcp_opening)) % N_STEPS(tcp_exchange)];
}

static void
tcp_next(const struct session *session, struct flow *flow, struct frame *frame)
{
	const struct tcp_step *step = tcp_step_at(flow->n_sent, flow->n_packets);
	const uint32_t size = draw_size(session, packet_random(flow, flow->n_sent));
	const uint32_t n = step->has_data ? data_bytes(session, flow, TCP_HEADER_BYTES, size) : 0;
	const struct frame_ip ip = {
		.from = step->from,
		.payload_bytes = TCP_HEADER_BYTES + n,
		.identification = (uint16_t)flow->n_sent,
	};
	const struct tcp_segment segment = {
		.from = step->from,
		.flags = step->flags,
		.sequence = flow->tcp_sequence[step->from],
		.acknowledgement =
			step->flags & TCP_ACK ? flow->tcp_sequence[reply_side(step->from)] : 0,
	};
	uint8_t *at = frame_start(frame, flow, &ip);

	fill_data(at + TCP_HEADER_BYTES, n, flow, flow->n_sent);
	tcp_finish(at, ip.payload_bytes, flow, &segment);
	/* A segment that opens or closes its direction takes a sequence number of its own. */
	flow->tcp_sequence[step->from] += n + (step->flags & (TCP_SYN | TCP_FIN) ? 1 : 0);
}

static void
udp_next(const struct session *session, const struct flow *flow, struct frame *frame)
{
	const bool reports = flow->n_sent % UDP_REPORT_INTERVAL == UDP_REPORT_INTERVAL - 1;
	const uint32_t n = data_bytes(session, flow, UDP_HEADER_BYTES,
		reports ? session->min_size_bytes : session->max_size_bytes);
	const struct frame_ip ip = {
		.from = reports ? FLOW_SERVER : FLOW_CLIENT,
		.payload_bytes = UDP_HEADER_BYTES + n,
		.identification = (uint16_t)flow->n_sent,
	};
	uint8_t *at = frame_start(frame, flow, &ip);

	fill_data(at + UDP_HEADER_BYTES, n, flow, flow->n_sent);
	udp_finish(at, ip.payload_bytes, flow, ip.from);
}

/* Even packets ask, odd ones answer what the one before asked. */
static void
dns_next(const struct flow *flow, struct frame *frame)
{
	const struct dns_message message = {
		.random = packet_random(flow, flow->n_sent / 2),
		.is_response = flow->n_sent % 2 == 1,
		.wants_ipv6 = flow->ip_version == 6,
		.stamp = { flow->id, flow->n_sent },
	};
	uint8_t bytes[DNS_BYTES_MAX];
	const uint32_t n = dns_write(bytes, &message);
	const struct frame_ip ip = {
		.from = message.is_response ? FLOW_SERVER : FLOW_CLIENT,
		.payload_bytes = UDP_HEADER_BYTES + n,
		.identification = (uint16_t)flow->n_sent,
	};
	uint8_t *at = frame_start(frame, flow, &ip);

	memcpy(at + UDP_HEADER_BYTES, bytes, n);
	udp_finish(at, ip.payload_bytes, flow, ip.from);
}

/*
 * Begins a datagram of two to four fragments, and never leaves just one packet for the next: it
 * would not be a fragment. A flow of one packet is a datagram whose other half is lost.
 */
static void
datagram_begin(struct flow *flow)
{
	const uint32_t left = flow->n_packets - flow->n_sent;
	uint32_t n = 2 + rng_below(packet_random(flow, flow->n_sent), SESSION_FRAGMENTS_MAX - 1);

	if (left < n)
		n = left < 2 ? 2 : left;
	if (left == n + 1)
		n = n == SESSION_FRAGMENTS_MAX ? n - 1 : n + 1;
	flow->datagram_start = flow->n_sent;
	flow->datagram_fragments = (uint8_t)n;
}

/* Where a datagram is cut: `slice` bytes a fragment, `last` in the last one. */
struct cuts {
	uint32_t slice;
	uint32_t last;
};

static struct cuts
datagram_cuts(const struct session *session, const struct flow *flow)
{
	/* Offsets count units of eight bytes. The least frame still has room for header and stamp.
	 */
	const uint32_t slice = (session->max_size_bytes - frame_header_bytes(flow)) & ~UINT32_C(7);
	const uint64_t random = packet_random(flow, flow->datagram_start);

	return (struct cuts) {
		.slice = slice,
		.last = STAMP_BYTES + rng_below(rng_at(random, 1), slice - STAMP_BYTES + 1),
	};
}

/* Builds the whole datagram in the scratch buffer: header, data, a stamp at each fragment's end. */
static void
datagram_build(struct session *session, const struct flow *flow, const struct cuts *cuts,
	enum flow_side from)
{
	const uint32_t n_whole = flow->datagram_fragments - 1u;
	uint32_t at = UDP_HEADER_BYTES;

	for (uint32_t i = 0; i <= n_whole; i++) {
		const uint32_t end = i * cuts->slice + (i < n_whole ? cuts->slice : cuts->last);

		fill_data(session->datagram + at, end - at, flow, flow->datagram_start + i);
		at = end;
	}
	udp_finish(session->datagram, at, flow, from);
}

static void
fragment_next(struct session *session, struct flow *flow, struct frame *frame)
{
	if (flow->n_sent == flow->datagram_start + flow->datagram_fragments)
		datagram_begin(flow);
	const struct cuts cuts = datagram_cuts(session, flow);
	const uint64_t random = packet_random(flow, flow->datagram_start);
	const uint32_t number = flow->n_sent - flow->datagram_start;
	const bool is_last = number + 1u == flow->datagram_fragments;
	const struct frame_ip ip = {
		.from = rng_at(random, 2) & 1 ? FLOW_SERVER : FLOW_CLIENT,
		.payload_bytes = is_last ? cuts.last : cuts.slice,
		.identification = (uint16_t)(flow->random + flow->datagram_start),
		.fragment =
			(uint16_t)(number * cuts.slice / 8 | (is_last ? 0 : FRAME_MORE_FRAGMENTS)),
	};

	datagram_build(session, flow, &cuts, ip.from);
	memcpy(frame_start(frame, flow, &ip), session->datagram + number * cuts.slice,
		ip.payload_bytes);
}

void
session_next(struct session *session, struct flow *flow, struct frame *frame)
{
	switch ((enum flow_application)flow->application) {
	case FLOW_TCP:
		tcp_next(session, flow, frame);
		break;
	case FLOW_UDP:
		udp_next(session, flow, frame);
		break;
	case FLOW_DNS:
		dns_next(flow, frame);
		break;
	case FLOW_FRAGMENTS:
		fragment_next(session, flow, frame);
		break;
	}
	frame_pad(frame, session->min_size_bytes);
	flow->n_sent++;
}
