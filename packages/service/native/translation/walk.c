#define _GNU_SOURCE
#include "walk.h"
#include "view.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINKS_AT_MOST = 40 };

static bool append(char *path, const char *name, size_t length) {
  size_t used = strlen(path);
  if (used + length + 2 > PATH_MAX) return false;
  path[used] = '/';
  memcpy(path + used + 1, name, length);
  path[used + 1 + length] = '\0';
  return true;
}

static bool append_text(char *path, const char *text) {
  if (strlen(path) + strlen(text) + 1 > PATH_MAX) return false;
  strcat(path, text);
  return true;
}

static void pop(char *path) {
  char *slash = strrchr(path, '/');
  if (slash != NULL) *slash = '\0';
}

static const char *skip_number(const char *text) {
  const char *start = text;
  while (isdigit((unsigned char)*text)) text++;
  return text > start && *text == '/' ? text + 1 : NULL;
}

bool is_magic_link(const char *guest) {
  if (strncmp(guest, "/proc/", 6) != 0) return false;
  const char *name = skip_number(guest + 6);
  if (name != NULL && strncmp(name, "task/", 5) == 0) name = skip_number(name + 5);
  if (name == NULL) return false;
  return strcmp(name, "cwd") == 0 || strcmp(name, "root") == 0 || strcmp(name, "exe") == 0 || strncmp(name, "fd/", 3) == 0 ||
         strncmp(name, "ns/", 3) == 0 || strncmp(name, "map_files/", 10) == 0;
}

/* /proc/self would be this process instead of the traced one. */
static bool is_self(struct walk *walk) {
  bool is_thread = strcmp(walk->guest, "/proc/thread-self") == 0;
  if (!is_thread && strcmp(walk->guest, "/proc/self") != 0) return false;
  int task = (int)walk->task;
  if (is_thread) snprintf(walk->guest, PATH_MAX, "/proc/%d/task/%d", task, task);
  else snprintf(walk->guest, PATH_MAX, "/proc/%d", task);
  memcpy(walk->host, walk->guest, strlen(walk->guest) + 1);
  return true;
}

struct rest {
  char text[2 * PATH_MAX];
  char *next;
  int links;
};

enum step { ON, DONE, FAILED };

/* The last name in `walk` is a link to `target`, followed by the rest from `after`. */
static enum step follow_link(struct walk *walk, struct rest *rest, const char *target, const char *after) {
  char longer[2 * PATH_MAX];
  errno = ++rest->links > LINKS_AT_MOST ? ELOOP : ENAMETOOLONG;
  if (rest->links > LINKS_AT_MOST || snprintf(longer, sizeof longer, "%s%s", target, after) >= (int)sizeof longer) return FAILED;
  memcpy(rest->text, longer, strlen(longer) + 1);
  rest->next = rest->text;
  if (target[0] == '/') {
    walk->guest[0] = walk->host[0] = '\0';
  } else {
    pop(walk->guest);
    pop(walk->host);
  }
  return ON;
}

static enum step enter_magic_link(struct walk *walk, struct rest *rest, const char *target, const char *after) {
  rest->next = (char *)after;
  /* A pipe or a socket: it has no entries. */
  if (target[0] != '/') return ON;
  memcpy(walk->host, target, strlen(target) + 1);
  errno = ENAMETOOLONG;
  enum beneath beneath = view_to_guest(target, walk->guest);
  if (beneath == BENEATH) walk->touched = true;
  return beneath == TOO_LONG ? FAILED : ON;
}

/* Consumes the next name, of `length` bytes. */
static enum step enter(struct walk *walk, struct rest *rest, size_t length, bool follow) {
  char *name = rest->next, *after = name + length;
  errno = ENAMETOOLONG;
  if (!append(walk->guest, name, length)) return FAILED;
  const struct place *place = view_at(walk->guest);
  rest->next = after;
  if (place != NULL) {
    memcpy(walk->host, place->host, strlen(place->host) + 1);
    walk->touched = true;
    return ON;
  }
  if (!append(walk->host, name, length)) return FAILED;
  if (is_self(walk)) return ON;
  bool is_last = *after == '\0';
  if (is_last && !follow) return ON;
  char target[PATH_MAX];
  ssize_t size = readlink(walk->host, target, sizeof target - 1);
  if (size >= 0) {
    target[size] = '\0';
    if (!is_magic_link(walk->guest)) return follow_link(walk, rest, target, after);
    /* The last one is left to the kernel, which alone can follow it to a file without a name. */
    return is_last ? ON : enter_magic_link(walk, rest, target, after);
  }
  if (errno == EINVAL) return ON;
  /* Missing or not accessible: the kernel reports that for the whole path. */
  errno = ENAMETOOLONG;
  if (!append_text(walk->host, after) || !append_text(walk->guest, after)) return FAILED;
  return DONE;
}

static bool go_up(struct walk *walk) {
  if (strcmp(walk->guest, walk->host) != 0) walk->touched = true;
  pop(walk->guest);
  errno = ENAMETOOLONG;
  return view_to_host(walk->guest, walk->host) != TOO_LONG;
}

int walk_path(struct walk *walk, const char *start, const char *path, bool follow) {
  struct rest rest = {.links = 0};
  size_t size = strlen(path);
  if (size >= PATH_MAX) return ENAMETOOLONG;
  memcpy(rest.text, path, size + 1);
  rest.next = rest.text;
  walk->touched = false;
  snprintf(walk->guest, PATH_MAX, "%s", path[0] == '/' ? "" : start);
  if (view_to_host(walk->guest, walk->host) == TOO_LONG) return ENAMETOOLONG;
  for (enum step step = ON; step == ON;) {
    rest.next += strspn(rest.next, "/");
    size_t length = strcspn(rest.next, "/");
    if (length == 0) {
      step = DONE;
    } else if (length == 1 && rest.next[0] == '.') {
      rest.next++;
    } else if (length == 2 && memcmp(rest.next, "..", 2) == 0) {
      rest.next += 2;
      if (!go_up(walk)) return errno;
    } else {
      step = enter(walk, &rest, length, follow);
      if (step == FAILED) return errno;
    }
  }
  bool is_directory = size > 0 && path[size - 1] == '/' && walk->host[0] != '\0' && walk->host[strlen(walk->host) - 1] != '/';
  if ((is_directory || walk->host[0] == '\0') && !append_text(walk->host, "/")) return ENAMETOOLONG;
  return 0;
}
