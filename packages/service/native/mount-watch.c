/*
 * Whether what is mounted on the host has changed. Templates are copies of the host's mounts into which nothing
 * is propagated: a mount that came in would be writable, and not masked. They are made anew instead, and the old ones go, so
 * that nothing keeps busy what was unmounted.
 *
 * The launcher's own mount namespace gets the host's changes where the host shares its mounts, as systemd sets it up.
 * Elsewhere it cannot be brought up to date, and a new launcher has to take its place.
 */
#define _GNU_SOURCE
#include "launcher.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The lines of a mountinfo, in any order. */
struct listing {
  uint64_t mounts; /* by their numbers, which differ between namespaces */
  uint64_t places; /* by what is mounted where */
};

/* Of the mount namespace of the service, which the launcher was started in, and of the launcher's own. */
static FILE *outer, *inner;
/* Opened once more, since who polls takes the event away: one for the main loop, `outer` for the look before a start. */
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
  /* Files that stand for namespaces come and go, are not copied to a new namespace, and show nothing. */
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

/* The kernel says so once for each time that the file was opened. */
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
