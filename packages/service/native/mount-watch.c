/*
 * Detects changes of the host's mounts. Templates are copies of the host's mounts without propagation, because a propagated
 * mount would be writable and not masked. After a change they are created again, and the old ones are released, so that
 * they do not keep unmounted file systems busy.
 *
 * The launcher's own mount namespace receives the host's changes if the host shares its mounts, as systemd configures it.
 * Elsewhere it cannot be updated, and a new launcher must replace this one.
 */
#define _GNU_SOURCE
#include "launcher.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A summary of the lines of a mountinfo, independent of their order. */
struct listing {
  uint64_t mounts; /* by mount ID, which differs between namespaces */
  uint64_t places; /* by mount point and source */
};

/* Of the mount namespace in which the launcher was started, and of its own. */
static FILE *outer, *inner;
/*
 * Opened separately, because polling consumes the event: `watched` is for the main loop, `outer` for the check before a
 * start.
 */
static int watched = -1;
static struct listing known_outer, known_inner;

static FILE *open_list(void) { return fopen("/proc/self/mountinfo", "re"); }

static uint64_t hash(uint64_t seed, const char *text, size_t length) {
  for (size_t i = 0; i < length; i++) seed = (seed ^ (unsigned char)text[i]) * 1099511628211ULL;
  return seed;
}

/* `<id> <parent> <device> <root> <mount point> <options> [<propagation>]... - <type> …` */
static void add_line(struct listing *listing, const char *line) {
  const char *fields[6] = {line};
  for (int i = 1; i < 6; i++) {
    const char *blank = strchr(fields[i - 1], ' ');
    if (blank == NULL) return;
    fields[i] = blank + 1;
  }
  /* Mounts of namespace files change often, are not copied to a new namespace, and contain nothing. */
  if (strncmp(fields[4], "/proc/", 6) == 0 || strstr(fields[5], " - nsfs ") != NULL) return;
  uint64_t place = hash(14695981039346656037ULL, fields[2], (size_t)(fields[5] - fields[2]));
  listing->places += place;
  listing->mounts += hash(place, line, (size_t)(fields[1] - line));
}

static struct listing read_list(FILE *file) {
  struct listing listing = {0, 0};
  char *line = NULL;
  size_t size = 0;
  rewind(file);
  while (getline(&line, &size, file) > 0) add_line(&listing, line);
  free(line);
  return listing;
}

/* The kernel reports an event once per open descriptor. */
static bool has_event(void) {
  struct pollfd ready = {.fd = fileno(outer), .events = POLLPRI};
  return poll(&ready, 1, 0) > 0 && (ready.revents & (POLLPRI | POLLERR)) != 0;
}

static void read_both(struct listing *now_outer, struct listing *now_inner) {
  do {
    *now_outer = read_list(outer);
    *now_inner = read_list(inner);
  } while (has_event());
}

void mounts_open(void) {
  outer = open_list();
  watched = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
  if (outer == NULL || watched < 0) fail_launcher("could not read what is mounted");
}

int mounts_enter(void) {
  inner = open_list();
  if (inner == NULL) fail_launcher("could not read what is mounted");
  read_both(&known_outer, &known_inner);
  return watched;
}

enum mounts_change mounts_look(void) {
  if (!has_event()) return MOUNTS_SAME;
  struct listing now_outer, now_inner;
  read_both(&now_outer, &now_inner);
  if (now_outer.mounts == known_outer.mounts) return MOUNTS_SAME;
  bool is_mirrored = now_outer.places - known_outer.places == now_inner.places - known_inner.places;
  known_outer = now_outer;
  known_inner = now_inner;
  return is_mirrored ? MOUNTS_CHANGED : MOUNTS_MISSED;
}
