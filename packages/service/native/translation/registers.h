/* The registers of a stopped process as its system call sees them, and its memory. x86-64 and aarch64. */
#ifndef SLUICE_REGISTERS_H
#define SLUICE_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

struct registers {
  struct user_regs_struct raw;
};

bool registers_read(pid_t task, struct registers *registers);
bool registers_write(pid_t task, const struct registers *registers);
long registers_number(const struct registers *registers);
uint64_t registers_argument(const struct registers *registers, int index);
void registers_set_argument(struct registers *registers, int index, uint64_t value);
long registers_result(const struct registers *registers);
void registers_set_result(struct registers *registers, long value);
/* Another call in the place of the one that is about to be made; -1 for none. Takes effect in the kernel at once. */
bool registers_set_number(pid_t task, struct registers *registers, long number);
/* From those of the entry: as they were before the call was made, so that it is made (again). */
void registers_rewind(struct registers *entry);
/* Whatever the call was given, as the program has left it; the result stays. */
void registers_restore_arguments(struct registers *registers, const struct registers *entry);

/* How many bytes could be read; fewer where the memory ends. */
size_t memory_read(pid_t task, uint64_t address, void *buffer, size_t size);
/* A text with its NUL; its length, or -1 where it is too long or not there. */
ssize_t memory_read_text(pid_t task, uint64_t address, char *text, size_t size);
bool memory_write(pid_t task, uint64_t address, const void *buffer, size_t size);

#endif
