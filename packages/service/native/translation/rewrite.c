/* What replaces the arguments of a call: it is written into memory that we make the program map. */
#define _GNU_SOURCE
#include "tracee.h"
#include "view.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WORD = 8 };

static ssize_t read_proc_link(pid_t task, const char *name, char *target) {
  char link[64];
  snprintf(link, sizeof link, "/proc/%d/%s", (int)task, name);
  ssize_t length = readlink(link, target, PATH_MAX - 1);
  if (length >= 0) target[length] = '\0';
  return length;
}

bool start_of(const struct tracee *tracee, int directory, char *guest) {
  char name[32] = "cwd", host[PATH_MAX];
  if (directory != AT_FDCWD) snprintf(name, sizeof name, "fd/%d", directory);
  if (read_proc_link(tracee->task, name, host) <= 0 || host[0] != '/') return false;
  if (host[1] == '\0') host[0] = '\0';
  return view_to_guest(host, guest) != TOO_LONG;
}

bool has_room(struct tracee *tracee, size_t size) {
  if (tracee->room_size >= size || rooms_take(tracee, size)) return true;
  struct registers registers = tracee->entry;
  size_t rounded = size < ROOM_BYTES ? ROOM_BYTES : (size + 4095) / 4096 * 4096;
  const uint64_t arguments[] = {0, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0};
  for (int i = 0; i < 6; i++) registers_set_argument(&registers, i, arguments[i]);
  registers_set_number(tracee->task, &registers, SYS_mmap);
  tracee->room_size = rounded;
  tracee->pending = MAKING_ROOM;
  return false;
}

uint64_t put(struct tracee *tracee, struct rewrite *rewrite, const void *data, size_t size) {
  size_t at = (rewrite->used + WORD - 1) / WORD * WORD;
  if (at + size > tracee->room_size || !memory_write(tracee->task, tracee->room + at, data, size)) return 0;
  rewrite->used = at + size;
  return tracee->room + at;
}

enum outcome reject_call(struct tracee *tracee, struct rewrite *rewrite, int error) {
  rewrite->registers = tracee->entry;
  registers_set_result(&rewrite->registers, -error);
  registers_set_number(tracee->task, &rewrite->registers, -1);
  return UNCHANGED;
}
