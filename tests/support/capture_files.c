/* SPDX-License-Identifier: BSD-3-Clause */
/* Every packet of every Ethernet capture in a folder. */
#include "capture_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define PATH_BYTES 4096

struct visit {
	const char *folder;
	void (*visit)(void *context, const struct capture_packet *packet);
	void *context;
	int n_files;
};

bool
captures_find(char *folder, size_t bytes)
{
	const char *captures = getenv("WEIR_CAPTURES");
	const char *root = getenv("WEIR_SOURCE_ROOT");
	struct stat status;

	if (captures)
		(void)snprintf(folder, bytes, "%s", captures);
	else
		(void)snprintf(folder, bytes, "%s/../shared/captures", root ? root : ".");
	return stat(folder, &status) == 0 && S_ISDIR(status.st_mode);
}

static void
file_visit(struct visit *visit, const char *path, const char *name)
{
	struct capture_packet packet = { .file = name };
	char error[PCAP_ERRBUF_SIZE];
	pcap_t *pcap = pcap_open_offline(path, error);
	struct pcap_pkthdr *header;

	if (!pcap)
		return;
	if (pcap_datalink(pcap) == DLT_EN10MB) {
		visit->n_files++;
		while (pcap_next_ex(pcap, &header, &packet.data) == 1) {
			packet.number++;
			packet.header = header;
			visit->visit(visit->context, &packet);
		}
	}
	pcap_close(pcap);
}

static int folder_visit(struct visit *visit, const char *below);

/* `name` is the entry's path below the folder. */
static int
entry_visit(struct visit *visit, const char *name)
{
	char path[PATH_BYTES];
	struct stat status;

	if (snprintf(path, sizeof(path), "%s/%s", visit->folder, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	if (stat(path, &status) != 0)
		return -errno;
	if (S_ISDIR(status.st_mode))
		return folder_visit(visit, name);
	if (S_ISREG(status.st_mode))
		file_visit(visit, path, name);
	return 0;
}

/* Visits the folder whose path below the captures folder is `below`; empty for that one. */
static int
folder_visit(struct visit *visit, const char *below)
{
	char path[PATH_BYTES];
	struct dirent **entries;
	int rc = 0;
	int n;

	if (snprintf(path, sizeof(path), "%s/%s", visit->folder, below) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	n = scandir(path, &entries, NULL, alphasort);
	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++) {
		const char *name = entries[i]->d_name;

		if (snprintf(path, sizeof(path), "%s%s%s", below, below[0] ? "/" : "", name) >=
			(int)sizeof(path))
			rc = -ENAMETOOLONG;
		if (rc == 0 && name[0] != '.')
			rc = entry_visit(visit, path);
		free(entries[i]);
	}
	free(entries);
	return rc;
}

int
captures_visit(const char *folder,
	void (*visit)(void *context, const struct capture_packet *packet), void *context)
{
	struct visit all = { .folder = folder, .visit = visit, .context = context };
	const int rc = folder_visit(&all, "");

	return rc < 0 ? rc : all.n_files;
}
