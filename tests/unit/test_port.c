/* SPDX-License-Identifier: BSD-3-Clause */
/* A port that does not start (net_null): the machine's failure, not a refused option. */
#include "test.h"

#include <rte_eal.h>
#include <rte_mbuf.h>

#include "eal_bench.h"
#include "parsed_options.h"
#include "port.h"
#include "stderr_capture.h"

static void
what_a_driver_refuses_is_no_refused_option(void **state)
{
	struct ports *ports = calloc(1, sizeof(*ports));
	struct stderr_capture capture;
	struct rte_mempool *pool;
	char text[1024];
	struct parsed p;
	int rc;

	(void)state;
	assert_non_null(ports);
	assert_accepted(&p, "--rx-queues 1");
	pool = rte_pktmbuf_pool_create(
		"test", 1023, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	assert_non_null(pool);
	assert_int_equal(ports_configure(ports, &p.options), 0);
	assert_int_equal(ports->n, 1);
	ports->port[0].n_rx_queues = 2; /* one more than configured: ethdev says -EINVAL */
	stderr_capture_start(&capture);
	rc = ports_start(ports, &p.options, pool, NULL);
	stderr_capture_end(&capture, text, sizeof(text));
	assert_int_equal(rc, -EIO);
	assert_non_null(strstr(text, "weir: port 0 (net_null0): an rx queue cannot be set up: "));
	ports_close(ports);
	rte_mempool_free(pool);
	free(ports);
}

static int
eal_setup(void **state)
{
	(void)state;
	return eal_bench_start("net_null0");
}

static int
eal_teardown(void **state)
{
	(void)state;
	return rte_eal_cleanup();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_driver_refuses_is_no_refused_option),
	};

	return cmocka_run_group_tests(tests, eal_setup, eal_teardown);
}
