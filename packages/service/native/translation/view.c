#define _GNU_SOURCE
#include "view.h"
#include "container-record.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct place **by_guest, **by_host;
static size_t count, room;

static const char *path_of(const struct place *place, bool is_host) { return is_host ? place->host : place->guest; }

/* The index of the first place whose path is not less. */
static size_t search(struct place **places, const char *path, bool is_host) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (strcmp(path_of(places[middle], is_host), path) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

static void insert(struct place **places, struct place *place, bool is_host) {
  size_t index = search(places, path_of(place, is_host), is_host);
  memmove(places + index + 1, places + index, (count - index) * sizeof *places);
  places[index] = place;
}

const struct place *view_at(const char *guest) {
  size_t index = search(by_guest, guest, false);
  return index < count && strcmp(by_guest[index]->guest, guest) == 0 ? by_guest[index] : NULL;
}

void view_add(const char *guest, const char *host) {
  if (count == room) {
    room = room * 2 + 16;
    by_guest = realloc(by_guest, room * sizeof *by_guest);
    by_host = realloc(by_host, room * sizeof *by_host);
  }
  struct place *place = malloc(sizeof *place);
  if (place == NULL || by_guest == NULL || by_host == NULL) fault("could not keep a mount point: no memory");
  *place = (struct place){strdup(guest), strdup(host)};
  if (place->guest == NULL || place->host == NULL) fault("could not keep a mount point: no memory");
  insert(by_guest, place, false);
  insert(by_host, place, true);
  count++;
}

static void cut(struct place **places, size_t index) {
  memmove(places + index, places + index + 1, (count - index) * sizeof *places);
}

void view_remove(const char *guest) {
  const struct place *place = view_at(guest);
  if (place == NULL) return;
  size_t index = 0;
  while (by_host[index] != place) index++;
  count--;
  cut(by_host, index);
  cut(by_guest, search(by_guest, guest, false));
}

/* Replaces the longest prefix that is a place by its path on the other side. */
static enum beneath replace(const char *path, char *result, bool is_host) {
  char prefix[PATH_MAX];
  struct place **places = is_host ? by_host : by_guest;
  size_t length = strlen(path);
  memcpy(prefix, path, length + 1);
  while (length > 0) {
    prefix[length] = '\0';
    size_t index = search(places, prefix, is_host);
    if (index < count && strcmp(path_of(places[index], is_host), prefix) == 0) {
      int written = snprintf(result, PATH_MAX, "%s%s", path_of(places[index], !is_host), path + length);
      return written < PATH_MAX ? BENEATH : TOO_LONG;
    }
    do length--;
    while (length > 0 && prefix[length] != '/');
  }
  memcpy(result, path, strlen(path) + 1);
  return OUTSIDE;
}

enum beneath view_to_host(const char *guest, char *host) { return replace(guest, host, false); }

enum beneath view_to_guest(const char *host, char *guest) { return replace(host, guest, true); }
