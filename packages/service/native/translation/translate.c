/*
 * Resolves a program's path (walk.h). If the kernel alone would find another file, the call gets the host's path instead.
 * The paths are in memory that we make the program map: its own memory is not written to. After the call its registers are
 * restored.
 */
#define _GNU_SOURCE
#include "tracee.h"
#include "view.h"
#include "walk.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool follows(const struct tracee *tracee, const struct path_argument *argument) {
  uint64_t flags = argument->flags >= 0 ? registers_argument(&tracee->entry, argument->flags) : 0;
  switch (argument->last) {
    case KEPT: return false;
    case KEPT_IF_FLAG: return (flags & AT_SYMLINK_NOFOLLOW) == 0;
    case FOLLOWED_IF_FLAG: return (flags & AT_SYMLINK_FOLLOW) != 0;
    case BY_OPEN_HOW: {
      uint64_t how = 0;
      memory_read(tracee->task, flags, &how, sizeof how);
      flags = how;
    } /* fall through */
    case BY_OPEN_FLAGS: return (flags & O_NOFOLLOW) == 0 && (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
    default: return true;
  }
}

/* Confined to its directory: an absolute path would be rejected. */
static bool is_confined(const struct tracee *tracee, const struct path_argument *argument) {
  uint64_t how[3] = {0};
  const uint64_t beneath = 8, in_root = 16;
  if (argument->last != BY_OPEN_HOW) return false;
  memory_read(tracee->task, registers_argument(&tracee->entry, argument->flags), how, sizeof how);
  return (how[2] & (beneath | in_root)) != 0;
}

/* False if there is nothing to translate: the call is not changed. */
static bool look_up(struct tracee *tracee, const struct path_argument *argument, struct walk *walk, int *error) {
  char path[PATH_MAX], start[PATH_MAX] = "";
  uint64_t address = registers_argument(&tracee->entry, argument->path);
  if (address == 0 || memory_read_text(tracee->task, address, path, sizeof path) <= 0) return false;
  int directory = argument->directory < 0 ? AT_FDCWD : (int)registers_argument(&tracee->entry, argument->directory);
  if (path[0] != '/' && !start_of(tracee, directory, start)) return false;
  if (is_confined(tracee, argument)) return false;
  walk->task = tracee->task;
  *error = walk_path(walk, start, path, follows(tracee, argument));
  return true;
}

static enum outcome translate_paths(struct tracee *tracee, const struct call *call, struct rewrite *rewrite) {
  enum outcome outcome = UNCHANGED;
  for (int i = 0; i < call->count; i++) {
    const struct path_argument *argument = &call->paths[i];
    struct walk walk;
    int error = 0;
    if (!look_up(tracee, argument, &walk, &error)) continue;
    if (call->special == READS_LINK && is_magic_link(walk.guest)) tracee->pending = READING_MAGIC_LINK;
    if (!walk.touched) continue;
    if (error == 0 && call->removes && view_at(walk.guest) != NULL) error = EBUSY;
    if (error != 0) return reject_call(tracee, rewrite, error);
    if (!has_room(tracee, ROOM_BYTES)) return WAITING;
    uint64_t address = put(tracee, rewrite, walk.host, strlen(walk.host) + 1);
    if (address == 0) return reject_call(tracee, rewrite, ENOMEM);
    registers_set_argument(&rewrite->registers, argument->path, address);
    outcome = REWRITTEN;
  }
  return outcome;
}

bool translate_entry(struct tracee *tracee) {
  if (!registers_read(tracee->task, &tracee->entry)) return false;
  const struct call *call = find_call(registers_number(&tracee->entry));
  if (call == NULL) return false;
  struct rewrite rewrite = {.registers = tracee->entry, .used = 0};
  enum outcome outcome = UNCHANGED;
  tracee->pending = NOTHING;
  if (call->special == TELLS_DIRECTORY) tracee->pending = TELLING_DIRECTORY;
  else if (call->special == TELLS_ADDRESS) expect_address(tracee, ADDRESS);
  else if (call->special == TELLS_SENDER) expect_address(tracee, SENDER);
  else if (call->special == EXECUTES) outcome = translate_exec(tracee, call, &rewrite);
  else if (call->special == BINDS || call->special == CONNECTS) outcome = translate_socket(tracee, call, &rewrite);
  else outcome = translate_paths(tracee, call, &rewrite);
  if (outcome == REWRITTEN) {
    if (tracee->pending == NOTHING) tracee->pending = RESTORING;
    registers_write(tracee->task, &rewrite.registers);
  }
  return tracee->pending != NOTHING;
}

static void end_mmap(struct tracee *tracee, struct registers *registers) {
  long result = registers_result(registers);
  *registers = tracee->entry;
  if (result < 0 && result > -4096) {
    /* No memory: the call fails as if the kernel had none. */
    tracee->room = tracee->room_size = 0;
    registers_set_result(registers, -ENOMEM);
    return;
  }
  tracee->room = (uint64_t)result;
  registers_rewind(registers);
}

/* Translates the host path of `length` bytes in the program's buffer back into a guest path. */
static long tell(const struct tracee *tracee, int buffer, size_t length, bool is_whole) {
  char host[PATH_MAX], guest[PATH_MAX];
  uint64_t address = registers_argument(&tracee->entry, buffer);
  size_t size = registers_argument(&tracee->entry, buffer + 1);
  if (length >= sizeof host || memory_read(tracee->task, address, host, length) != length) return (long)length;
  host[length] = '\0';
  if (host[0] != '/' || view_to_guest(host, guest) != BENEATH) return (long)length;
  size_t told = strlen(guest) + (is_whole ? 1 : 0);
  if (told > size && is_whole) return -ERANGE;
  if (told > size) told = size;
  return memory_write(tracee->task, address, guest, told) ? (long)told : (long)length;
}

void translate_exit(struct tracee *tracee) {
  struct registers registers;
  enum pending pending = tracee->pending;
  tracee->pending = NOTHING;
  if (tracee->socket_directory >= 0) close(tracee->socket_directory);
  tracee->socket_directory = -1;
  if (!registers_read(tracee->task, &registers)) return;
  if (pending == MAKING_ROOM) {
    end_mmap(tracee, &registers);
  } else {
    registers_restore_arguments(&registers, &tracee->entry);
    long result = registers_result(&registers);
    bool is_readlink_at = registers_number(&tracee->entry) == SYS_readlinkat;
    if (pending == TELLING_DIRECTORY && result > 0) registers_set_result(&registers, tell(tracee, 0, (size_t)result, true));
    if (pending == TELLING_ADDRESS && result >= 0) tell_address(tracee);
    if (pending == READING_MAGIC_LINK && result > 0)
      registers_set_result(&registers, tell(tracee, is_readlink_at ? 2 : 1, (size_t)result, false));
  }
  registers_write(tracee->task, &registers);
}
