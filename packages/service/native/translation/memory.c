/*
 * Accesses the memory of a traced process: by process_vm_readv, and word by word if a program that has changed its user
 * forbids that.
 */
#define _GNU_SOURCE
#include "registers.h"

#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WORD = sizeof(long), PARTS = 16 };

static size_t read_words(pid_t task, uint64_t address, char *buffer, size_t size) {
  size_t done = 0;
  while (done < size) {
    uint64_t at = address + done, aligned = at & ~(uint64_t)(WORD - 1);
    errno = 0;
    long word = ptrace(PTRACE_PEEKDATA, task, (void *)aligned, NULL);
    if (errno != 0) break;
    size_t skip = (size_t)(at - aligned), length = WORD - skip < size - done ? WORD - skip : size - done;
    memcpy(buffer + done, (char *)&word + skip, length);
    done += length;
  }
  return done;
}

/* What surrounds the bytes in their first and last word is the program's. */
static bool write_words(pid_t task, uint64_t address, const char *buffer, size_t size) {
  size_t done = 0;
  while (done < size) {
    uint64_t at = address + done, aligned = at & ~(uint64_t)(WORD - 1);
    size_t skip = (size_t)(at - aligned), length = WORD - skip < size - done ? WORD - skip : size - done;
    errno = 0;
    long word = ptrace(PTRACE_PEEKDATA, task, (void *)aligned, NULL);
    if (errno != 0) return false;
    memcpy((char *)&word + skip, buffer + done, length);
    if (ptrace(PTRACE_POKEDATA, task, (void *)aligned, (void *)word) != 0) return false;
    done += length;
  }
  return true;
}

/* Splits at page boundaries, because a part that touches a missing page fails as a whole. */
static int cut(uint64_t address, size_t size, struct iovec *parts) {
  const uint64_t page = 4096;
  int count = 0;
  while (size > 0 && count < PARTS) {
    size_t length = (size_t)(page - address % page);
    if (length > size || count == PARTS - 1) length = size;
    parts[count++] = (struct iovec){(void *)(uintptr_t)address, length};
    address += length;
    size -= length;
  }
  return count;
}

size_t memory_read(pid_t task, uint64_t address, void *buffer, size_t size) {
  struct iovec here = {buffer, size}, there[PARTS];
  int count = cut(address, size, there);
  ssize_t done = process_vm_readv(task, &here, 1, there, (unsigned long)count, 0);
  if (done >= 0) return (size_t)done;
  return errno == EFAULT || errno == ESRCH ? 0 : read_words(task, address, buffer, size);
}

ssize_t memory_read_text(pid_t task, uint64_t address, char *text, size_t size) {
  size_t used = 0;
  while (used < size) {
    /* Most are short: a whole page is read only if necessary. */
    size_t wanted = used == 0 && size > 256 ? 256 : size - used;
    size_t done = memory_read(task, address + used, text + used, wanted);
    char *end = memchr(text + used, '\0', done);
    if (end != NULL) return end - text;
    used += done;
    if (done < wanted) return -1;
  }
  return -1;
}

bool memory_write(pid_t task, uint64_t address, const void *buffer, size_t size) {
  struct iovec here = {(void *)buffer, size}, there = {(void *)(uintptr_t)address, size};
  ssize_t done = process_vm_writev(task, &here, 1, &there, 1, 0);
  if (done >= 0 || errno == EFAULT || errno == ESRCH) return done == (ssize_t)size;
  return write_words(task, address, buffer, size);
}
