/* SPDX-License-Identifier: BSD-3-Clause */
#include "bpf_elf.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"

#define OBJECT_BYTES_MAX (4u << 20)
#define INSTRUCTION_BYTES 8
#define CODE_JUMP_CLASS 0x05 /* BPF_JMP; its 32-bit sister is none that rte_bpf knows */
#define CODE_JSET 0x40

struct bytes {
	const uint8_t *data;
	size_t n;
};

/* Copies a struct out of the file: nothing there need be aligned, or there at all. */
static bool
bytes_get(const struct bytes *bytes, uint64_t offset, void *out, size_t n)
{
	if (offset > bytes->n || n > bytes->n - offset)
		return false;
	memcpy(out, bytes->data + offset, n);
	return true;
}

/* Whether the string at `offset` is `text`. */
static bool
string_is(const struct bytes *bytes, uint64_t offset, const char *text)
{
	const size_t n = strlen(text) + 1;

	return offset <= bytes->n && n <= bytes->n - offset &&
	       memcmp(bytes->data + offset, text, n) == 0;
}

static bool
header_is_bpf(const Elf64_Ehdr *header)
{
	return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
	       header->e_machine == EM_BPF && header->e_shentsize == sizeof(Elf64_Shdr);
}

static bool
section_get(const struct bytes *bytes, const Elf64_Ehdr *header, uint32_t i, Elf64_Shdr *section)
{
	if (i >= header->e_shnum || header->e_shoff > bytes->n)
		return false;
	return bytes_get(
		bytes, header->e_shoff + (uint64_t)i * sizeof(*section), section, sizeof(*section));
}

/* Looks for a section with code. Returns false if there is none of that name within the file. */
static bool
code_find(const struct bytes *bytes, const Elf64_Ehdr *header, const char *name, struct bytes *code)
{
	Elf64_Shdr names, section;

	if (!section_get(bytes, header, header->e_shstrndx, &names) || names.sh_offset > bytes->n)
		return false;
	for (uint32_t i = 0; section_get(bytes, header, i, &section); i++) {
		if (section.sh_type != SHT_PROGBITS ||
			!string_is(bytes, names.sh_offset + section.sh_name, name))
			continue;
		if (section.sh_offset > bytes->n || section.sh_size > bytes->n - section.sh_offset)
			return false;
		*code = (struct bytes) { bytes->data + section.sh_offset, section.sh_size };
		return true;
	}
	return false;
}

static int
object_find(struct bpf_object *object, const struct bytes *bytes, char *reason, size_t n_bytes)
{
	struct bytes code, other;
	Elf64_Ehdr header;
	bool is_pick;

	if (!bytes_get(bytes, 0, &header, sizeof(header)) || !header_is_bpf(&header))
		return reason_set(reason, n_bytes, ENOEXEC,
			"is no eBPF object file: clang -O2 -target bpf -mcpu=v2 makes one");
	is_pick = code_find(bytes, &header, BPF_SECTION_PICK, &code);
	if (!is_pick && !code_find(bytes, &header, BPF_SECTION_PICK_OR_NONE, &code))
		return reason_set(reason, n_bytes, ENOEXEC,
			"has no section " BPF_SECTION_PICK " or " BPF_SECTION_PICK_OR_NONE);
	if (is_pick && code_find(bytes, &header, BPF_SECTION_PICK_OR_NONE, &other))
		return reason_set(reason, n_bytes, ENOEXEC,
			"has both sections, " BPF_SECTION_PICK " and " BPF_SECTION_PICK_OR_NONE);
	object->section = is_pick ? BPF_SECTION_PICK : BPF_SECTION_PICK_OR_NONE;
	object->n_instructions = (uint32_t)(code.n / INSTRUCTION_BYTES);
	object->tests_bits = false;
	for (size_t i = 0; i < code.n; i += INSTRUCTION_BYTES)
		object->tests_bits |= (code.data[i] & 0xf7) == (CODE_JSET | CODE_JUMP_CLASS);
	return 0;
}

int
bpf_object_read(struct bpf_object *object, const char *path, char *reason, size_t n_bytes)
{
	FILE *file = fopen(path, "re");
	uint8_t *data = malloc(OBJECT_BYTES_MAX);
	int rc;

	if (!file || !data) {
		rc = reason_set(reason, n_bytes, errno, "%s", strerror(errno));
	} else {
		const struct bytes bytes = { data, fread(data, 1, OBJECT_BYTES_MAX, file) };

		rc = object_find(object, &bytes, reason, n_bytes);
	}
	if (file)
		fclose(file);
	free(data);
	return rc;
}
