#define _GNU_SOURCE
#include "view.h"
#include "container-record.h"
#include "mount-source.h"
#include "walk.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static void path_of_fd(int fd, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length <= 0) fault("could not find the path of a volume: %s", strerror(errno));
  path[length] = '\0';
}

static void make_directories(char *path) {
  for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    mkdir(path, 0755);
    *slash = '/';
  }
  mkdir(path, 0755);
}

static void make_entry(const char *host, bool is_file) {
  if (!is_file) {
    mkdir(host, 0755);
    return;
  }
  int fd = open(host, O_CREAT | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (fd >= 0) close(fd);
}

/*
 * Makes a mount point visible in its parent directory if that one is ours: /tmp, another volume, or a directory that the
 * host does not have. Directories of the host are not changed.
 */
static void make_mount_point(const char *guest, bool is_file, const char *directory) {
  char above[PATH_MAX], host[PATH_MAX], points[2 * PATH_MAX];
  snprintf(above, sizeof above, "%s", guest);
  for (size_t end = 1; end <= strlen(guest); end++) {
    if (guest[end] != '/' && guest[end] != '\0') continue;
    above[end] = '\0';
    bool is_last = guest[end] == '\0';
    struct stat status;
    enum beneath beneath = view_to_host(above, host);
    if (lstat(host, &status) == 0) {
    } else if (beneath == BENEATH) {
      make_entry(host, is_last && is_file);
    } else if (!is_last) {
      if (snprintf(points, sizeof points, "%s/points%s", directory, above) >= PATH_MAX) reject("the mount point is too long");
      make_directories(points);
      view_add(above, points);
    }
    above[end] = guest[end];
  }
}

static void add_mount(const struct mount_request *mount, const char *directory) {
  int source = open_mount_source(mount);
  char host[PATH_MAX];
  path_of_fd(source, host);
  close(source);
  struct walk walk = {.task = getpid()};
  int error = walk_path(&walk, "", mount->target, false);
  if (error != 0) reject("could not mount at '%s': %s", mount->target, strerror(error));
  make_mount_point(walk.guest, mount->is_file, directory);
  struct place *present = (struct place *)view_at(walk.guest);
  if (present == NULL) {
    view_add(walk.guest, host);
    return;
  }
  /* The volume replaces the private /tmp. */
  size_t index = 0;
  while (by_host[index] != present) index++;
  count--;
  memmove(by_host + index, by_host + index + 1, (count - index) * sizeof *by_host);
  index = search(by_guest, walk.guest, false);
  memmove(by_guest + index, by_guest + index + 1, (count - index) * sizeof *by_guest);
  view_add(walk.guest, host);
}

void view_make(const struct launch *launch) {
  char directory[PATH_MAX], path[2 * PATH_MAX];
  path_of_fd(container_directory(), directory);
  if (mkdirat(container_directory(), "tmp", 0700) != 0 && errno != EEXIST) fault("could not make the private /tmp: %s", strerror(errno));
  if (snprintf(path, sizeof path, "%s/tmp", directory) >= PATH_MAX) fault("the container's directory is too long");
  view_add("/tmp", path);
  for (size_t i = 0; i < launch->mount_count; i++) add_mount(&launch->mounts[i], directory);
}
