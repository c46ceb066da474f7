/*
 * execve: besides resolving the program's path, the kernel reads the first line of a script itself. If the script or its
 * interpreter is in a place of the view, we do that instead, and start the interpreter with the script's name as given.
 */
#define _GNU_SOURCE
#include "tracee.h"
#include "view.h"
#include "walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NESTED_AT_MOST = 4, FIRST_LINE = 256, WORD = 8 };

/* Words before those of the program; the last was added first. */
struct words {
  char text[2 * NESTED_AT_MOST + 1][PATH_MAX];
  int count;
};

static void add(struct words *words, const char *text) {
  if (words->count < 2 * NESTED_AT_MOST + 1) snprintf(words->text[words->count++], PATH_MAX, "%s", text);
}

/* Whether `host` is an executable script; stores its interpreter and its optional argument (or ""). */
static bool read_first_line(const char *host, char *interpreter, char *argument) {
  char line[FIRST_LINE + 1];
  int fd = access(host, X_OK) == 0 ? open(host, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
  ssize_t length = fd < 0 ? -1 : read(fd, line, FIRST_LINE);
  if (fd >= 0) close(fd);
  if (length < 3 || line[0] != '#' || line[1] != '!') return false;
  line[length] = '\0';
  char *end = strchr(line, '\n');
  if (end == NULL) return false;
  while (end > line && (end[-1] == ' ' || end[-1] == '\t')) end--;
  *end = '\0';
  char *word = line + 2 + strspn(line + 2, " \t");
  size_t size = strcspn(word, " \t");
  if (size == 0) return false;
  char *rest = word + size + strspn(word + size, " \t");
  snprintf(interpreter, FIRST_LINE + 1, "%.*s", (int)size, word);
  snprintf(argument, FIRST_LINE + 1, "%s", rest);
  return true;
}

/* Resolves scripts to the program that runs them. Returns 0 or an errno. */
static int find_program(struct walk *walk, const char *start, struct words *words, bool *touched) {
  char interpreter[FIRST_LINE + 1], argument[FIRST_LINE + 1];
  for (int i = 0; i < NESTED_AT_MOST && read_first_line(walk->host, interpreter, argument); i++) {
    if (argument[0] != '\0') add(words, argument);
    add(words, interpreter);
    int error = walk_path(walk, start, interpreter, true);
    *touched = *touched || walk->touched;
    if (error != 0) return error;
  }
  return 0;
}

/* The number of arguments, without the final NULL; -1 if they cannot be read. */
static long count_arguments(const struct tracee *tracee, uint64_t address) {
  uint64_t words[64];
  if (address == 0) return 0;
  for (long count = 0;; count += 64) {
    size_t done = memory_read(tracee->task, address + (uint64_t)count * WORD, words, sizeof words) / WORD;
    for (size_t i = 0; i < done; i++) {
      if (words[i] == 0) return count + (long)i;
    }
    if (done < 64) return -1;
  }
}

static size_t room_for(const struct words *words, long given) {
  size_t size = PATH_MAX + ((size_t)given + (size_t)words->count + 2) * WORD;
  for (int i = 0; i < words->count; i++) size += strlen(words->text[i]) + 1 + WORD;
  return size;
}

/* The new argument list: our words, followed by the original ones without the first, the script's name. */
static uint64_t put_arguments(struct tracee *tracee, struct rewrite *rewrite, const struct words *words, uint64_t from, long given) {
  uint64_t *list = calloc((size_t)words->count + (size_t)given + 1, WORD);
  size_t size = 0;
  for (int i = words->count - 1; list != NULL && i >= 0; i--)
    list[size++] = put(tracee, rewrite, words->text[i], strlen(words->text[i]) + 1);
  if (list != NULL && given > 1) size += memory_read(tracee->task, from + WORD, list + size, ((size_t)given - 1) * WORD) / WORD;
  uint64_t address = list == NULL ? 0 : put(tracee, rewrite, list, (size + 1) * WORD);
  free(list);
  return address;
}

enum outcome translate_exec(struct tracee *tracee, const struct call *call, struct rewrite *rewrite) {
  const struct path_argument *argument = &call->paths[0];
  char path[PATH_MAX], start[PATH_MAX] = "";
  if (memory_read_text(tracee->task, registers_argument(&tracee->entry, argument->path), path, sizeof path) <= 0) return UNCHANGED;
  int directory = argument->directory < 0 ? AT_FDCWD : (int)registers_argument(&tracee->entry, argument->directory);
  if (!start_of(tracee, directory, start) && path[0] != '/') return UNCHANGED;
  bool follow = argument->flags < 0 || (registers_argument(&tracee->entry, argument->flags) & AT_SYMLINK_NOFOLLOW) == 0;
  struct walk walk = {.task = tracee->task};
  int error = walk_path(&walk, start, path, follow);
  bool touched = walk.touched;
  static struct words words;
  words.count = 0;
  add(&words, directory == AT_FDCWD || path[0] == '/' ? path : walk.guest);
  if (error == 0) error = find_program(&walk, start, &words, &touched);
  if (!touched) return UNCHANGED;
  if (error != 0) return reject_call(tracee, rewrite, error);

  int list_argument = argument->path + 1;
  uint64_t from = registers_argument(&tracee->entry, list_argument);
  long given = count_arguments(tracee, from);
  if (given < 0) return reject_call(tracee, rewrite, EFAULT);
  if (!has_room(tracee, room_for(&words, given))) return WAITING;
  uint64_t address = put(tracee, rewrite, walk.host, strlen(walk.host) + 1);
  if (address == 0) return reject_call(tracee, rewrite, ENOMEM);
  registers_set_argument(&rewrite->registers, argument->path, address);
  if (words.count > 1) {
    uint64_t list = put_arguments(tracee, rewrite, &words, from, given);
    if (list == 0) return reject_call(tracee, rewrite, ENOMEM);
    registers_set_argument(&rewrite->registers, list_argument, list);
  }
  return REWRITTEN;
}
