/*
 * The root of a template: a small tmpfs, with every top-level entry of the host bound into it recursively and read-only, a
 * /dev of harmless devices, a /run with name resolution only, the masked paths emptied, and the mount points of the volumes.
 * If a mount point does not exist on the host, its parent directories are recreated in the tmpfs, with their entries bound
 * one by one.
 */
#define _GNU_SOURCE
#include "template.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ENTRIES_AT_MOST = 4096 };

static bool is_beneath(const char *path, const char *above) {
  size_t length = strlen(above);
  if (length == 1) return path[0] == '/';
  return strncmp(path, above, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

bool building_fail(struct building *building, const char *what, const char *path) {
  building->built->error = errno;
  snprintf(building->built->reason, sizeof building->built->reason, "%s '%.400s': %s", what, path,
           strerror(errno));
  return false;
}

static bool attach(int tree, int root_fd, const char *relative) {
  bool done = sys_move_mount(tree, "", root_fd, relative, MOVE_FROM_EMPTY) == 0;
  int error = errno;
  close(tree);
  errno = error;
  return done;
}

static bool make_file(int dir, const char *relative) {
  int fd = openat(dir, relative, O_CREAT | O_WRONLY | O_CLOEXEC, 0444);
  if (fd < 0) return false;
  close(fd);
  return true;
}

static bool bind_read_only(struct building *building, const char *path, const struct stat *status) {
  const char *relative = path + 1;
  bool made = S_ISDIR(status->st_mode) ? mkdirat(building->root_fd, relative, 0755) == 0 || errno == EEXIST
                                       : make_file(building->root_fd, relative);
  if (!made) return building_fail(building, "could not make the mount point", path);
  int tree = sys_open_tree(AT_FDCWD, path, TREE_CLONE | TREE_RECURSIVE);
  /* What this user may not access (another user's FUSE mount) stays an empty directory. */
  if (tree < 0 && (errno == EACCES || errno == EPERM || errno == ENOENT)) return true;
  if (tree < 0) return building_fail(building, "could not open", path);
  if (sys_mount_setattr(tree, "", PATH_EMPTY | TREE_RECURSIVE, ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV) != 0) {
    close(tree);
    return building_fail(building, "could not make read-only", path);
  }
  return attach(tree, building->root_fd, relative) || building_fail(building, "could not bind", path);
}

static bool must_cover(const struct building *building, const char *path) {
  for (size_t i = 0; i < building->target_count; i++) {
    const char *target = building->targets[i];
    if (!is_beneath(target, path) || strcmp(target, path) == 0) continue;
    struct stat status;
    if (lstat(target, &status) != 0) return true;
  }
  return false;
}

static bool is_masked(const char *path) {
  for (size_t i = 0; i < launcher.mask_count; i++) {
    if (strcmp(launcher.masks[i], path) == 0) return true;
  }
  return false;
}

static bool expose(struct building *building, const char *path);

static bool remember_covered(struct building *building, const char *path) {
  struct built *built = building->built;
  struct stat status;
  if (built->covered_count == COVERED || stat(path, &status) != 0) {
    errno = EMLINK;
    return building_fail(building, "could not make mount points beneath", path);
  }
  size_t at = built->covered_count++;
  built->covered[at].device = status.st_dev;
  built->covered[at].inode = status.st_ino;
  built->covered[at].changed = status.st_mtim;
  snprintf(built->covered[at].path, sizeof built->covered[at].path, "%s", path);
  return true;
}

/* Recreates `path` in the root and binds each of its entries. */
static bool cover(struct building *building, const char *path) {
  bool is_top = strcmp(path, "/") == 0;
  if (!is_top && mkdirat(building->root_fd, path + 1, 0755) != 0 && errno != EEXIST)
    return building_fail(building, "could not make the directory", path);
  if (!remember_covered(building, path)) return false;
  struct dirent **entries;
  int count = scandir(path, &entries, NULL, alphasort);
  if (count < 0) return errno == EACCES || building_fail(building, "could not list", path);
  bool good = true;
  for (int i = 0; i < count; i++) {
    char child[PATH_MAX];
    bool fits = snprintf(child, sizeof child, "%s/%s", is_top ? "" : path, entries[i]->d_name) < (int)sizeof child;
    bool is_dots = strcmp(entries[i]->d_name, ".") == 0 || strcmp(entries[i]->d_name, "..") == 0;
    free(entries[i]);
    if (!good || is_dots || !fits) continue;
    if (++building->entries > ENTRIES_AT_MOST) {
      errno = EMLINK;
      good = building_fail(building, "could not make a mount point in a directory with so many entries as", path);
      continue;
    }
    good = expose(building, child);
  }
  free(entries);
  return good;
}

static bool is_special(const char *path) {
  static const char *const special[] = {"/proc", "/dev", "/tmp", "/run", "/lost+found"};
  for (size_t i = 0; i < sizeof special / sizeof special[0]; i++) {
    if (strcmp(special[i], path) == 0) return true;
  }
  return false;
}

static bool expose(struct building *building, const char *path) {
  if (is_special(path)) return true;
  struct stat status;
  if (lstat(path, &status) != 0) return errno == ENOENT || errno == EACCES || building_fail(building, "could not look at", path);
  if (S_ISLNK(status.st_mode)) {
    char to[PATH_MAX];
    ssize_t length = readlink(path, to, sizeof to - 1);
    if (length < 0) return building_fail(building, "could not read the link", path);
    to[length] = '\0';
    return symlinkat(to, building->root_fd, path + 1) == 0 || building_fail(building, "could not link", path);
  }
  if (S_ISDIR(status.st_mode) && is_masked(path))
    return mkdirat(building->root_fd, path + 1, 0755) == 0 || building_fail(building, "could not mask", path);
  if (S_ISDIR(status.st_mode) && must_cover(building, path)) return cover(building, path);
  if (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode)) return true;
  return bind_read_only(building, path, &status);
}

static bool bind_device(struct building *building, const char *path) {
  struct stat status;
  if (stat(path, &status) != 0) return true;
  bool made = S_ISDIR(status.st_mode) ? mkdirat(building->root_fd, path + 1, 0755) == 0
                                      : make_file(building->root_fd, path + 1);
  if (!made) return building_fail(building, "could not make", path);
  int tree = sys_open_tree(AT_FDCWD, path, TREE_CLONE | TREE_RECURSIVE);
  if (tree < 0) return true;
  return attach(tree, building->root_fd, path + 1) || building_fail(building, "could not bind the device", path);
}

/* Not the host's /dev: a disk's device can be written to even through a read-only mount. */
static bool make_devices(struct building *building) {
  static const char *const plain[] = {"/dev/null",    "/dev/zero", "/dev/full", "/dev/random",
                                      "/dev/urandom", "/dev/tty",  "/dev/dri",  "/dev/kfd"};
  if (mkdirat(building->root_fd, "dev", 0755) != 0 || mkdirat(building->root_fd, "dev/shm", 01777) != 0)
    return building_fail(building, "could not make", "/dev");
  for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
    if (!bind_device(building, plain[i])) return false;
  }
  DIR *devices = opendir("/dev");
  bool good = true;
  for (struct dirent *entry; devices != NULL && good && (entry = readdir(devices)) != NULL;) {
    if (strncmp(entry->d_name, "nvidia", 6) != 0) continue;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "/dev/%s", entry->d_name);
    good = bind_device(building, path);
  }
  if (devices != NULL) closedir(devices);
  return good && symlinkat("/proc/self/fd", building->root_fd, "dev/fd") == 0 &&
         symlinkat("/proc/self/fd/0", building->root_fd, "dev/stdin") == 0 &&
         symlinkat("/proc/self/fd/1", building->root_fd, "dev/stdout") == 0 &&
         symlinkat("/proc/self/fd/2", building->root_fd, "dev/stderr") == 0;
}

/*
 * Not the host's /run, which contains sockets of privileged daemons: only entries for name resolution and for finding
 * programs.
 */
static bool make_run(struct building *building) {
  static const char *const kept[] = {"/run/systemd/resolve", "/run/NetworkManager", "/run/resolvconf",
                                     "/run/connman",         "/run/current-system", "/run/booted-system",
                                     "/run/wrappers",        "/run/opengl-driver"};
  if (mkdirat(building->root_fd, "run", 0755) != 0 || mkdirat(building->root_fd, "run/lock", 0755) != 0)
    return building_fail(building, "could not make", "/run");
  for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
    struct stat status;
    if (stat(kept[i], &status) != 0 || !S_ISDIR(status.st_mode)) continue;
    char above[PATH_MAX];
    snprintf(above, sizeof above, "%s", kept[i] + 1);
    *strrchr(above, '/') = '\0';
    if (mkdirat(building->root_fd, above, 0755) != 0 && errno != EEXIST) return building_fail(building, "could not make", above);
    if (!bind_read_only(building, kept[i], &status)) return false;
  }
  return true;
}

/* The kernel allows a new /proc only if a complete one is visible; it is also the fallback. */
static bool bind_proc(struct building *building) {
  if (mkdirat(building->root_fd, "proc", 0755) != 0) return building_fail(building, "could not make", "/proc");
  int tree = sys_open_tree(AT_FDCWD, "/proc", TREE_CLONE | TREE_RECURSIVE);
  if (tree < 0) return building_fail(building, "could not open", "/proc");
  if (launcher.is_root) sys_mount_setattr(tree, "", PATH_EMPTY | TREE_RECURSIVE, ATTR_RDONLY);
  return attach(tree, building->root_fd, "proc") || building_fail(building, "could not bind", "/proc");
}

static bool make_mount_points(struct building *building) {
  size_t next = 0;
  for (size_t i = 0; i < building->launch->mount_count; i++) {
    const struct mount_request *mount = &building->launch->mounts[i];
    if (mount->late) continue;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", building->targets[next++]);
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
      *slash = '\0';
      struct stat status;
      if (fstatat(building->root_fd, path + 1, &status, 0) != 0 && mkdirat(building->root_fd, path + 1, 0755) != 0)
        return building_fail(building, "could not make the mount point", path);
      *slash = '/';
    }
    struct stat status;
    if (fstatat(building->root_fd, path + 1, &status, 0) == 0) {
      if (S_ISDIR(status.st_mode) == !mount->is_file) continue;
      errno = mount->is_file ? EISDIR : ENOTDIR;
      return building_fail(building, "could not mount at", path);
    }
    bool made = mount->is_file ? make_file(building->root_fd, path + 1) : mkdirat(building->root_fd, path + 1, 0755) == 0;
    if (!made) return building_fail(building, "could not make the mount point", path);
  }
  return true;
}

/* Hides the masked paths. Mount points can be made in the empty directories until they are sealed. */
static bool mask_paths(struct building *building) {
  building->masks = calloc(launcher.mask_count + 1, sizeof *building->masks);
  if (building->masks == NULL) _exit(74);
  for (size_t i = 0; i < launcher.mask_count; i++) {
    const char *relative = launcher.masks[i] + 1;
    struct stat status;
    if (fstatat(building->root_fd, relative, &status, 0) != 0 || !S_ISDIR(status.st_mode)) continue;
    int empty = sys_fresh_tmpfs("0755", "4k");
    if (empty < 0) return building_fail(building, "could not mask", launcher.masks[i]);
    building->masks[building->mask_count++] = empty;
    if (sys_move_mount(empty, "", building->root_fd, relative, MOVE_FROM_EMPTY) != 0)
      return building_fail(building, "could not mask", launcher.masks[i]);
  }
  return true;
}

static bool seal_masks(struct building *building) {
  for (size_t i = 0; i < building->mask_count; i++) {
    if (sys_mount_setattr(building->masks[i], "", PATH_EMPTY, ATTR_RDONLY) != 0)
      return building_fail(building, "could not make read-only", "a hidden directory");
  }
  return true;
}

static bool pivot(struct building *building) {
  if (sys_mount_setattr(building->root_fd, "", PATH_EMPTY, ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV) != 0)
    return building_fail(building, "could not make read-only", "/");
  if (fchdir(building->root_fd) != 0 || syscall(SYS_pivot_root, ".", ".") != 0)
    return building_fail(building, "could not enter", "the new root");
  if (umount2(".", MNT_DETACH) != 0 || chdir("/") != 0) return building_fail(building, "could not leave", "the old root");
  return true;
}

bool building_resolve(const char *target, char *resolved) {
  char head[PATH_MAX], tail[PATH_MAX] = "";
  if (snprintf(head, sizeof head, "%s", target) >= (int)sizeof head) return false;
  while (realpath(head, resolved) == NULL) {
    char *slash = strrchr(head, '/');
    if (slash == NULL) return false;
    char longer[PATH_MAX];
    if (snprintf(longer, sizeof longer, "%s%s", slash, tail) >= (int)sizeof longer) return false;
    memcpy(tail, longer, strlen(longer) + 1);
    *slash = '\0';
    if (head[0] == '\0') memcpy(head, "/", 2);
  }
  size_t length = strcmp(resolved, "/") == 0 ? 0 : strlen(resolved);
  if (length + strlen(tail) >= PATH_MAX) return false;
  memcpy(resolved + length, tail, strlen(tail) + 1);
  return true;
}

bool building_make(struct building *building) {
  if (unshare(CLONE_NEWNS) != 0) return building_fail(building, "could not make a mount namespace for", "/");
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return building_fail(building, "could not make private", "/");
  int tmpfs = sys_fresh_tmpfs("0755", "8m");
  if (tmpfs < 0) return building_fail(building, "could not make a tmpfs for", "/");
  building->root_fd = tmpfs;
  if (sys_move_mount(tmpfs, "", AT_FDCWD, "/tmp", MOVE_FROM_EMPTY) != 0) return building_fail(building, "could not mount on", "/tmp");
  return cover(building, "/") && mkdirat(tmpfs, "tmp", 01777) == 0 && make_devices(building) && make_run(building) &&
         bind_proc(building) && mask_paths(building) && make_mount_points(building) && seal_masks(building) && pivot(building);
}
