/* What the files of the attacker share. Each attack runs in a process of its own and ends it by one of the reports. */
#ifndef SLUICE_ATTACK_H
#define SLUICE_ATTACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct attack {
  const char *name;
  void (*run)(void);
};

/* Number that names everything that belongs to the victim on the host. */
extern unsigned victim;

__attribute__((noreturn)) void blocked(int error);
__attribute__((noreturn)) void succeeded(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* For calls that return a negative number with errno. */
__attribute__((noreturn)) void report_call(long result, const char *evidence);

/* namespaces.c */
extern const struct attack namespace_attacks[];
/* Tries every way into new namespaces of the kinds `flags`, with a user namespace first. What fails is left out. */
void nest(int flags);
bool write_file(const char *path, const char *text);

/* The lists end with an attack without name. */
extern const struct attack cgroup_attacks[];
extern const struct attack mount_attacks[];
extern const struct attack file_attacks[];
extern const struct attack process_attacks[];
extern const struct attack kernel_attacks[];
extern const struct attack ipc_attacks[];
extern const struct attack network_attacks[];

/* victim.c: what is on the host and may not change; returns the exit code. */
int be_victim(void);

#define VICTIM_KEY ((key_t)(0x51000000u | (victim & 0xffffffu)))
#define VICTIM_NAME "sluice-victim-%u"

#endif
