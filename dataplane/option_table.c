/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of options: of `weir` and of `weir why`, which shares the rows that mean the same.
 * Knows no command line.
 */
#include <assert.h>

#include "option_names.h"
#include "option_row.h"
#include "option_values.h"
#include "options.h"

#define RX_QUEUES_MAX 64
#define MBUF_BYTES_MIN 256			/* the headroom, 128, and a short frame */
#define STICKY_USEC_MAX 3600000000		/* an hour */
#define HOLD_TIMEOUT_USEC_MAX 3600000000	/* likewise */
#define STATS_PERIOD_MIN_NS UINT64_C(100000000) /* more often, nobody can read the table */
#define HEARTBEAT_MSEC_MIN 5			/* control looks as often */
#define HEARTBEAT_MSEC_MAX 3600000		/* an hour */
#define SERVICE_NS_MAX 60000000000		/* a minute */

#define FIELD(member) .offset = offsetof(struct options, member)
#define SECONDS_RANGE(least) .min = (least), .max = OPTION_SECONDS_MAX * OPTION_NS_PER_SECOND

const struct option_row option_table[] = {
	{
		.heading = "Cores and workers",
		.name = "rx-cores",
		.placeholder = "R",
		.help = "lcores that receive, dispatch and transmit",
		.default_text = "1",
		.type = &option_type_u32,
		FIELD(rx_cores),
		.min = 1,
		.max = WEIR_DISPATCHERS_MAX,
	},
	{
		.name = "rx-queues",
		.placeholder = "Q",
		.help = "receive queues of each port",
		.default_text = "1",
		.type = &option_type_u32,
		FIELD(rx_queues),
		.min = 1,
		.max = RX_QUEUES_MAX,
	},
	{
		.name = "workers",
		.placeholder = "N",
		.help = "workers that packets are lent to",
		.default_text = "4",
		.type = &option_type_u32,
		FIELD(workers),
		.min = 1,
		.max = WEIR_WORKERS_MAX,
		.also_why = true,
	},
	{
		.name = "workers-max",
		.placeholder = "N",
		.help = "workers that there can be, later ones by weirctl or by hand; 0: no more "
			"than at the start",
		.default_text = "0",
		.type = &option_type_u32,
		FIELD(workers_max),
		.max = WEIR_WORKERS_MAX,
	},
	{
		.name = "worker-cpus",
		.placeholder = "LIST",
		.help = "CPUs that workers are pinned to, in turn; without it, those that are left",
		.type = &option_type_cpus,
		FIELD(worker_cpus),
		.max = CPU_SETSIZE - 1,
	},
	{
		.name = "worker-mode",
		.placeholder = "MODE",
		.help = "thread: workers are threads; process: processes that Weir starts; "
			"attached: processes that others start, with weir worker",
		.default_text = "thread",
		.type = &option_type_enum,
		FIELD(worker_mode),
		.name_at = worker_mode_name,
	},
	{
		.name = "worker-user",
		.placeholder = "NAME",
		.help = "whom worker processes run as; without it, nobody if Weir is root, else "
			"its own user",
		.type = &option_type_user,
		FIELD(worker_user),
	},
	{
		.name = "worker-syscalls",
		.placeholder = "WHICH",
		.help = "system calls of worker processes: filtered to those that handlers need, "
			"or "
			"any, for plugins that need more",
		.default_text = "filtered",
		.type = &option_type_enum,
		FIELD(worker_calls),
		.name_at = option_worker_calls_name,
	},
	{
		.name = "attach-socket",
		.placeholder = "PATH",
		.help = "where worker processes attach; without it, PREFIX-attach.sock in "
			"/run/weir, "
			"PREFIX being EAL's file prefix",
		.type = &option_type_path,
		FIELD(attach_socket),
	},
	{
		.name = "handler",
		.placeholder = "[WORKERS=]SPEC",
		.help = "what workers do with packets, repeatable: the last that names a worker "
			"wins",
		.default_text = "forward",
		.type = &option_type_handler,
		.max = OPTIONS_HANDLERS_MAX,
	},
	{
		.heading = "Workers that hang or die",
		.name = "restart",
		.placeholder = "N/SECONDS",
		.help = "restarts of a worker that died, at most N in any so many seconds; then "
			"it is out of the pool",
		.default_text = "10/60",
		.type = &option_type_restarts,
		FIELD(restarts),
		.max = WEIR_RESTARTS_MAX,
	},
	{
		.name = "redeliver",
		.help = "what a worker that died was working on goes to another, once; without "
			"it, it is dropped",
		.type = &option_type_flag,
		FIELD(redeliver),
	},
	{
		.name = "stuck-after",
		.placeholder = "SECONDS",
		.help = "time without a completion after which a worker that has packets is stuck; "
			"0: never",
		.default_text = "10",
		.type = &option_type_seconds,
		FIELD(stuck_after_ns),
		SECONDS_RANGE(0),
	},
	{
		.name = "heartbeat",
		.placeholder = "MSEC",
		.help = "period of workers' hearts: a worker that misses three is lost. Longer "
			"than any burst takes",
		.default_text = "10",
		.type = &option_type_u32,
		FIELD(heartbeat_msec),
		.min = HEARTBEAT_MSEC_MIN,
		.max = HEARTBEAT_MSEC_MAX,
	},
	{
		.name = "init-timeout",
		.placeholder = "SECONDS",
		.help = "time that a worker has to become ready; 0: any",
		.default_text = "10",
		.type = &option_type_seconds,
		FIELD(init_timeout_ns),
		SECONDS_RANGE(0),
	},
	{
		.heading = "Decisions",
		.name = "strategy",
		.placeholder = "NAME[,FALLBACK]",
		.help = "how a packet's worker is chosen, and by what if that finds none",
		.default_text = "shallowest",
		.type = &option_type_strategy,
		.also_why = true,
	},
	{
		.name = "rule",
		.placeholder = "RULE",
		.help = "what is done with some packets, repeatable: the first rule that matches "
			"wins; a shell needs quotes around the =>",
		.type = &option_type_rule,
		.max = WEIR_RULES_MAX,
		.also_why = true,
	},
	{
		.name = "weights",
		.placeholder = "W[,W...]",
		.help = "how much of the packets each worker gets, for strategies that read "
			"weights",
		.type = &option_type_weights,
		FIELD(weights),
		.min = 1,
		.max = WEIR_WEIGHT_MAX,
		.also_why = true,
	},
	{
		.name = "budget",
		.placeholder = "K",
		.help = "packets of one rx core that a worker may have before new flows wait; 0: "
			"no budget",
		.default_text = "0",
		.type = &option_type_u32,
		FIELD(budget),
		.max = WEIR_LANE_SIZE_MAX,
		.also_why = true,
	},
	{
		.name = "hold-timeout",
		.placeholder = "USEC",
		.help = "time that a packet may wait for a budget or, where the policy stops "
			"receiving, for room; 0: for ever. Without it, 100000 with --budget, else "
			"0",
		.type = &option_type_u64,
		FIELD(hold_timeout_usec),
		.max = HOLD_TIMEOUT_USEC_MAX,
		.also_why = true,
	},
	{
		.name = "state-period",
		.placeholder = "SECONDS",
		.help = "time after which strategies forget what they have counted; 0: never",
		.default_text = "86400",
		.type = &option_type_seconds,
		FIELD(state_period_ns),
		SECONDS_RANGE(0),
		.also_why = true,
	},
	{
		.name = "order",
		.placeholder = "MODE",
		.help = "flow: packets of a flow that one rx core received never overtake each "
			"other; none: every packet goes its own way",
		.default_text = "flow",
		.type = &option_type_choice,
		FIELD(order),
		.name_at = option_order_name,
		.also_why = true,
	},
	{
		.name = "sticky",
		.placeholder = "USEC",
		.help = "with order flow, a flow stays with its worker until it was silent that "
			"long; 0: until its packets are done",
		.default_text = "0",
		.type = &option_type_u64,
		FIELD(sticky_usec),
		.max = STICKY_USEC_MAX,
		.also_why = true,
	},
	{
		.name = "overflow",
		.placeholder = "POLICY",
		.help = "when the chosen worker's lane is full: drop the packet, or the oldest "
			"one, or stop receiving",
		.default_text = "drop-new",
		.type = &option_type_choice,
		FIELD(overflow),
		.name_at = option_overflow_name,
		.also_why = true,
	},
	{
		.name = "chunk",
		.placeholder = "K",
		.help = "consecutive packets that share a decision",
		.default_text = "1",
		.type = &option_type_u32,
		FIELD(chunk),
		.min = 1,
		.max = WEIR_BURST_MAX,
	},
	{
		.name = "depth-mode",
		.placeholder = "MODE",
		.help = "what a worker's depth counts: all that it has, or what waits",
		.default_text = "outstanding",
		.type = &option_type_enum,
		FIELD(depth_mode),
		.name_at = option_depth_mode_name,
		.also_why = true,
	},
	{
		.name = "seed",
		.placeholder = "N",
		.help = "of all random decisions; without it, random and printed at start",
		.type = &option_type_seed,
	},
	{
		.name = "hash-key",
		.placeholder = "HEX",
		.help = "key of the flow hash; without it, random",
		.type = &option_type_hash_key,
	},
	{
		.name = "flow-hash",
		.placeholder = "SOURCE",
		.help = "soft: Weir parses and hashes, keyed; nic: the ports' RSS hash, with a "
			"symmetric key; auto: nic where a port has one",
		.default_text = "soft",
		.type = &option_type_enum,
		FIELD(flow_hash),
		.name_at = option_flow_hash_name,
	},
	{
		.name = "flow-depth",
		.placeholder = "DEPTH",
		.help = "which packet of a tunnel tells the flow",
		.default_text = "inner",
		.type = &option_type_enum,
		FIELD(flow.depth),
		.name_at = option_flow_depth_name,
		.also_why = true,
	},
	{
		.name = "flow-nesting",
		.placeholder = "N",
		.help = "tunnels in tunnels that are looked through",
		.default_text = "4",
		.type = &option_type_u32,
		FIELD(flow.nesting_max),
		.max = WEIR_FLOW_NESTING_MAX,
		.also_why = true,
	},
	{
		.name = "flow-ports",
		.placeholder = "NAME=PORT[,...]",
		.help = "UDP ports of tunnels, repeatable: what is not named stays as it was",
		.default_text = "vxlan=4789,vxlan-gpe=4790,geneve=6081,gtpu=2152,teredo=3544",
		.type = &option_type_tunnel_ports,
		FIELD(flow.tunnel_port),
		.max = UINT16_MAX,
		.also_why = true,
	},
	{
		.name = "exception-port",
		.placeholder = "PORT",
		.help = "where rules that say kernel send packets: a TAP, say. What comes from it "
			"passes no rule",
		.type = &option_type_name,
		FIELD(exception_port),
	},
	{
		.heading = "Sizes",
		.name = "lane-size",
		.placeholder = "N",
		.help = "packets that one rx core can have lent to one worker (drop-head: queued)",
		.default_text = "512",
		.type = &option_type_u32,
		FIELD(lane_size),
		.min = 1,
		.max = WEIR_LANE_SIZE_MAX,
		.also_why = true,
	},
	{
		.name = "burst",
		.placeholder = "N",
		.help = "most packets moved at a time",
		.default_text = "32",
		.type = &option_type_u32,
		FIELD(burst),
		.min = 1,
		.max = WEIR_BURST_MAX,
	},
	{
		.name = "mbuf-size",
		.placeholder = "BYTES",
		.help = "a buffer's data room, headroom included; longer frames take several",
		.default_text = "2176",
		.type = &option_type_u32,
		FIELD(mbuf_size),
		.min = MBUF_BYTES_MIN,
		.max = UINT16_MAX,
	},
	{
		.heading = "Replay",
		.name = "service-ns",
		.placeholder = "NS",
		.help = "time that a worker takes for a packet, by the capture's clock; 0: each is "
			"done before the next arrives",
		.default_text = "0",
		.type = &option_type_u64,
		FIELD(service_ns),
		.max = SERVICE_NS_MAX,
		.only_why = true,
	},
	{
		.name = "seed",
		.placeholder = "N",
		.help = "of all random decisions; fixed, so that runs can be compared",
		.default_text = "1",
		.type = &option_type_seed,
		.only_why = true,
	},
	{
		.name = "hash-key",
		.placeholder = "HEX",
		.help = "key of the flow hash; fixed, so that runs can be compared: a running weir "
			"has a key, and so buckets, of its own",
		.default_text = "000102030405060708090a0b0c0d0e0f",
		.type = &option_type_hash_key,
		.only_why = true,
	},
	{
		.name = "packets",
		.placeholder = "N",
		.help = "stop after so many packets of the capture; 0: never",
		.default_text = "0",
		.type = &option_type_u64,
		FIELD(packets),
		.max = UINT64_MAX,
		.only_why = true,
	},
	{
		.heading = "When to stop",
		.name = "duration",
		.placeholder = "SECONDS",
		.help = "stop after this time; 0: never",
		.default_text = "0",
		.type = &option_type_seconds,
		FIELD(duration_ns),
		SECONDS_RANGE(0),
	},
	{
		.name = "packets",
		.placeholder = "N",
		.help = "stop after so many packets received; 0: never",
		.default_text = "0",
		.type = &option_type_u64,
		FIELD(packets),
		.max = UINT64_MAX,
	},
	{
		.name = "exit-idle",
		.placeholder = "SECONDS",
		.help = "stop after so long without input; 0: never",
		.default_text = "0",
		.type = &option_type_seconds,
		FIELD(exit_idle_ns),
		SECONDS_RANGE(0),
	},
	{
		.name = "drain-timeout",
		.placeholder = "SECONDS",
		.help = "time that workers have to finish when they drain, and at the end",
		.default_text = "5",
		.type = &option_type_seconds,
		FIELD(drain_timeout_ns),
		SECONDS_RANGE(0),
	},
	{
		.heading = "Output",
		.name = "stats-period",
		.placeholder = "SECONDS",
		.help = "time between two tables; 0: none",
		.default_text = "1",
		.type = &option_type_seconds,
		FIELD(stats_period_ns),
		SECONDS_RANGE(STATS_PERIOD_MIN_NS),
	},
	{
		.name = "report",
		.placeholder = "FILE",
		.help = "write a report in JSON at the end",
		.type = &option_type_path,
		FIELD(report),
	},
	{
		.name = "control-socket",
		.placeholder = "PATH",
		.help = "listen for weirctl at PATH, or none; without it, at "
			"/run/weir/PREFIX.sock, by EAL's --file-prefix",
		.type = &option_type_path,
		FIELD(control_socket),
	},
	{
		.name = "depth-alarm",
		.placeholder = "N",
		.help = "say when a worker's depth reaches N packets, then at twice as many, and "
			"so on, until it was below half of N again; 0: never",
		.default_text = "10000",
		.type = &option_type_u32,
		FIELD(depth_alarm),
		.max = UINT32_MAX,
	},
	{
		.name = "dead-packets",
		.placeholder = "FILE",
		.help = "write what is dropped to a pcapng file: the first bytes of each packet, "
			"why it ended and whose it was",
		.type = &option_type_path,
		FIELD(dead_packets),
	},
	{
		.name = "dead-sample",
		.placeholder = "N",
		.help = "with dead-packets, write one of N; without it, every one",
		.type = &option_type_u32,
		FIELD(dead_sample),
		.min = 1,
		.max = UINT32_MAX,
	},
	{
		.name = "config",
		.placeholder = "FILE",
		.help = "read options from an INI file first: NAME = VALUE in [weir], rule = RULE "
			"in [rules]",
		.type = &option_type_path,
		FIELD(config),
		.also_why = true,
	},
	{
		.name = "summary",
		.help = "print the summary only, nothing of single packets",
		.type = &option_type_flag,
		FIELD(summary),
		.only_why = true,
	},
	{
		.name = "quiet",
		.help = "print neither tables nor notes",
		.type = &option_type_flag,
		FIELD(quiet),
	},
	{
		.name = "help",
		.help = "print this and exit",
		.type = &option_type_flag,
		FIELD(help),
		.also_why = true,
	},
	{
		.name = "version",
		.help = "print the version and exit",
		.type = &option_type_flag,
		FIELD(version),
	},
};

const unsigned int option_table_rows = sizeof(option_table) / sizeof(option_table[0]);

static_assert(sizeof(option_table) / sizeof(option_table[0]) <= 64, "options.given has a bit each");
