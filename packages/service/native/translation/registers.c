#define _GNU_SOURCE
#include "registers.h"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

bool registers_read(pid_t task, struct registers *registers) {
  struct iovec all = {&registers->raw, sizeof registers->raw};
  return ptrace(PTRACE_GETREGSET, task, (void *)NT_PRSTATUS, &all) == 0;
}

bool registers_write(pid_t task, const struct registers *registers) {
  struct iovec all = {(void *)&registers->raw, sizeof registers->raw};
  return ptrace(PTRACE_SETREGSET, task, (void *)NT_PRSTATUS, &all) == 0;
}

#if defined(__x86_64__)

static unsigned long long *argument_of(struct registers *registers, int index) {
  struct user_regs_struct *raw = &registers->raw;
  unsigned long long *all[] = {&raw->rdi, &raw->rsi, &raw->rdx, &raw->r10, &raw->r8, &raw->r9};
  return all[index];
}

long registers_number(const struct registers *registers) { return (long)registers->raw.orig_rax; }

uint64_t registers_argument(const struct registers *registers, int index) {
  return *argument_of((struct registers *)registers, index);
}

void registers_set_argument(struct registers *registers, int index, uint64_t value) { *argument_of(registers, index) = value; }

long registers_result(const struct registers *registers) { return (long)registers->raw.rax; }

void registers_set_result(struct registers *registers, long value) { registers->raw.rax = (unsigned long long)value; }

bool registers_set_number(pid_t task, struct registers *registers, long number) {
  registers->raw.orig_rax = (unsigned long long)number;
  return registers_write(task, registers);
}

void registers_rewind(struct registers *entry) {
  enum { SYSCALL_INSTRUCTION = 2 };
  entry->raw.rax = entry->raw.orig_rax;
  entry->raw.rip -= SYSCALL_INSTRUCTION;
  entry->raw.orig_rax = ~0ULL;
}

void registers_restore_arguments(struct registers *registers, const struct registers *entry) {
  for (int i = 0; i < 6; i++) registers_set_argument(registers, i, registers_argument(entry, i));
  registers->raw.orig_rax = entry->raw.orig_rax;
}

#elif defined(__aarch64__)

long registers_number(const struct registers *registers) { return (long)registers->raw.regs[8]; }

uint64_t registers_argument(const struct registers *registers, int index) { return registers->raw.regs[index]; }

void registers_set_argument(struct registers *registers, int index, uint64_t value) { registers->raw.regs[index] = value; }

long registers_result(const struct registers *registers) { return (long)registers->raw.regs[0]; }

void registers_set_result(struct registers *registers, long value) { registers->raw.regs[0] = (unsigned long long)value; }

bool registers_set_number(pid_t task, struct registers *registers, long number) {
  enum { SYSTEM_CALL = 0x404 /* NT_ARM_SYSTEM_CALL */ };
  int value = (int)number;
  struct iovec one = {&value, sizeof value};
  return registers_write(task, registers) && ptrace(PTRACE_SETREGSET, task, (void *)SYSTEM_CALL, &one) == 0;
}

void registers_rewind(struct registers *entry) {
  enum { SYSCALL_INSTRUCTION = 4 };
  entry->raw.pc -= SYSCALL_INSTRUCTION;
}

/* The first one contains the result, and the kernel has kept the original itself. */
void registers_restore_arguments(struct registers *registers, const struct registers *entry) {
  for (int i = 1; i < 6; i++) registers_set_argument(registers, i, registers_argument(entry, i));
  registers->raw.regs[8] = entry->raw.regs[8];
}

#endif
