/* The path of a Unix socket, which the kernel limits to 108 bytes. */
#define _GNU_SOURCE
#include "tracee.h"
#include "view.h"
#include "walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { LENGTH = ADDRESS + 1 };
static const size_t head = offsetof(struct sockaddr_un, sun_path);

/* A host path that is too long is expressed relative to its directory, which is kept open during the call. */
static bool shorten(struct tracee *tracee, char *host, char *text, size_t size) {
  if ((size_t)snprintf(text, size, "%s", host) < size) return true;
  char *name = strrchr(host, '/');
  if (name == NULL) return false;
  *name = '\0';
  tracee->socket_directory = open(host, O_PATH | O_DIRECTORY | O_CLOEXEC);
  int length = snprintf(text, size, "/proc/%d/fd/%d/%s", (int)getpid(), tracee->socket_directory, name + 1);
  return tracee->socket_directory >= 0 && length < (int)size;
}

enum outcome translate_socket(struct tracee *tracee, const struct call *call, struct rewrite *rewrite) {
  struct sockaddr_un name;
  char path[sizeof name.sun_path + 1] = "", start[PATH_MAX] = "";
  size_t length = registers_argument(&tracee->entry, LENGTH);
  if (length <= head || length > sizeof name) return UNCHANGED;
  if (memory_read(tracee->task, registers_argument(&tracee->entry, ADDRESS), &name, length) != length) return UNCHANGED;
  if (name.sun_family != AF_UNIX || name.sun_path[0] == '\0') return UNCHANGED;
  memcpy(path, name.sun_path, length - head);
  if (path[0] != '/' && !start_of(tracee, AT_FDCWD, start)) return UNCHANGED;
  struct walk walk = {.task = tracee->task};
  int error = walk_path(&walk, start, path, call->special == CONNECTS);
  if (!walk.touched) return UNCHANGED;
  if (error != 0) return reject_call(tracee, rewrite, error);
  if (!has_room(tracee, sizeof name)) return WAITING;
  struct sockaddr_un other = {.sun_family = AF_UNIX};
  if (!shorten(tracee, walk.host, other.sun_path, sizeof other.sun_path)) return reject_call(tracee, rewrite, ENAMETOOLONG);
  size_t size = head + strlen(other.sun_path) + 1;
  uint64_t address = put(tracee, rewrite, &other, size);
  if (address == 0) return reject_call(tracee, rewrite, ENOMEM);
  registers_set_argument(&rewrite->registers, ADDRESS, address);
  registers_set_argument(&rewrite->registers, LENGTH, size);
  return REWRITTEN;
}

void expect_address(struct tracee *tracee, int argument) {
  uint64_t length = registers_argument(&tracee->entry, argument + 1);
  tracee->address_argument = argument;
  if (memory_read(tracee->task, length, &tracee->address_size, sizeof tracee->address_size) == sizeof tracee->address_size)
    tracee->pending = TELLING_ADDRESS;
}

/* Not for a path that had to be shortened: it is no longer known. */
void tell_address(const struct tracee *tracee) {
  int argument = tracee->address_argument;
  uint64_t address = registers_argument(&tracee->entry, argument), length = registers_argument(&tracee->entry, argument + 1);
  struct sockaddr_un name = {.sun_family = AF_UNSPEC};
  char host[PATH_MAX] = "", guest[PATH_MAX];
  uint32_t size = 0;
  if (memory_read(tracee->task, length, &size, sizeof size) != sizeof size || size <= head || size > sizeof name) return;
  if (size > tracee->address_size || memory_read(tracee->task, address, &name, size) != size) return;
  if (name.sun_family != AF_UNIX || name.sun_path[0] != '/') return;
  memcpy(host, name.sun_path, size - head);
  if (view_to_guest(host, guest) != BENEATH || strlen(guest) >= sizeof name.sun_path) return;
  memcpy(name.sun_path, guest, strlen(guest) + 1);
  size = (uint32_t)(head + strlen(guest) + 1);
  if (memory_write(tracee->task, address, &name, size < tracee->address_size ? size : tracee->address_size))
    memory_write(tracee->task, length, &size, sizeof size);
}
