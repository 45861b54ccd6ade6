/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An application and a status that nobody ran, for tests of what is printed and written of them. No
 * two numbers are equal, so that none can stand for another.
 */
#ifndef WEIR_TESTS_REPORT_FIXTURE_H
#define WEIR_TESTS_REPORT_FIXTURE_H

#include "app.h"

#define FIXTURE_WORKERS 3
#define FIXTURE_RX_CORES 2
#define FIXTURE_QUEUES 3

struct report_fixture {
	char folder[64]; /* empty */
	char path[128];	 /* r.json in it */
	struct app app;
	struct status_queue queue[FIXTURE_QUEUES];
	struct status *status;	    /* app.status */
	struct weir_ledger *ledger; /* of the status; balances, with something in each term */
};

/*
 * As cmocka's setup and teardown. The teardown removes `path`, and fails if anything else is left
 * in the folder.
 */
int report_fixture_create(void **state);
int report_fixture_destroy(void **state);

#define REPORT_FIXTURE_TEST(function) \
	cmocka_unit_test_setup_teardown(function, report_fixture_create, report_fixture_destroy)

#endif
