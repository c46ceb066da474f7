/* The registers and memory of a stopped process, from the view of its system call. x86-64 and aarch64. */
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
/* Replaces the call that is about to be made; -1 for none. Takes effect immediately. */
bool registers_set_number(pid_t task, struct registers *registers, long number);
/* Resets the registers of the entry, so that the call is made (again). */
void registers_rewind(struct registers *entry);
/* Restores the arguments of the call as the program has set them; the result stays. */
void registers_restore_arguments(struct registers *registers, const struct registers *entry);

/* Returns the number of bytes read; fewer if the memory ends. */
size_t memory_read(pid_t task, uint64_t address, void *buffer, size_t size);
/* Reads a string including NUL; returns its length, or -1 if it is too long or not readable. */
ssize_t memory_read_text(pid_t task, uint64_t address, char *text, size_t size);
bool memory_write(pid_t task, uint64_t address, const void *buffer, size_t size);

#endif
