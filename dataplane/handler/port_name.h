/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports by the names that users give: a device's name, or its number. Ports are known by a table,
 * so that nobody who asks needs a port library.
 */
#ifndef WEIR_DATAPLANE_HANDLER_PORT_NAME_H
#define WEIR_DATAPLANE_HANDLER_PORT_NAME_H

#include <stddef.h>
#include <stdint.h>

/*
 * The id of the port that `text` means. `names` has `n` entries, by id; NULL: there is no such
 * port. Returns -ENOENT if it means none.
 */
int port_name_find(const char *const *names, uint16_t n, const char *text);

/* Writes the ports that there are: "net_pcap0 (0), net_tap0 (1)"; "..." ends what does not fit. */
void port_names_list(const char *const *names, uint16_t n, char *text, size_t n_bytes);

#endif
