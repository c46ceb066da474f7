#define _GNU_SOURCE
#include "make-view.h"
#include "container-record.h"
#include "mount-source.h"
#include "view.h"
#include "walk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
  /* The volume may replace the private /tmp. */
  view_remove(walk.guest);
  view_add(walk.guest, host);
}

void make_view(const struct launch *launch) {
  char directory[PATH_MAX], path[2 * PATH_MAX];
  path_of_fd(container_directory(), directory);
  if (mkdirat(container_directory(), "tmp", 0700) != 0 && errno != EEXIST) fault("could not make the private /tmp: %s", strerror(errno));
  if (snprintf(path, sizeof path, "%s/tmp", directory) >= PATH_MAX) fault("the container's directory is too long");
  view_add("/tmp", path);
  for (size_t i = 0; i < launch->mount_count; i++) add_mount(&launch->mounts[i], directory);
}
