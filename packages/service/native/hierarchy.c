/* Finds cgroups by the kernel's lists, and accesses their files and directories. */
#define _GNU_SOURCE
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool has_word(const char *text, const char *word) {
  size_t length = strlen(word);
  for (const char *at = text; (at = strstr(at, word)) != NULL; at += length) {
    bool starts = at == text || at[-1] == ' ' || at[-1] == ',';
    if (starts && (at[length] == '\0' || at[length] == ' ' || at[length] == ',' || at[length] == '\n')) return true;
  }
  return false;
}

/* The mount point of the cgroup hierarchy with `controller`, or of cgroup v2 for NULL. */
bool find_hierarchy(const char *controller, char *path, size_t size) {
  FILE *mounts = fopen("/proc/self/mounts", "re");
  char line[PATH_MAX + 512], where[PATH_MAX], type[64], options[256];
  bool found = false;
  while (mounts != NULL && !found && fgets(line, sizeof line, mounts) != NULL) {
    if (sscanf(line, "%*s %4095s %63s %255s", where, type, options) != 3) continue;
    found = controller == NULL ? strcmp(type, "cgroup2") == 0 : strcmp(type, "cgroup") == 0 && has_word(options, controller);
  }
  if (mounts != NULL) fclose(mounts);
  return found && snprintf(path, size, "%s", where) < (int)size;
}

/* The directory of this process within that hierarchy, from the lines `<id>:<controllers>:<path>`. */
bool find_own(const char *controller, char *path, size_t size) {
  FILE *lines = fopen("/proc/self/cgroup", "re");
  char line[PATH_MAX + 256];
  bool found = false;
  while (lines != NULL && !found && fgets(line, sizeof line, lines) != NULL) {
    char *names = strchr(line, ':');
    char *own = names == NULL ? NULL : strchr(names + 1, ':');
    if (own == NULL) continue;
    *own++ = '\0';
    own[strcspn(own, "\n")] = '\0';
    found = controller == NULL ? names[1] == '\0' : has_word(names + 1, controller);
    if (found) found = snprintf(path, size, "%s", own) < (int)size;
  }
  if (lines != NULL) fclose(lines);
  return found;
}

bool write_at(int dir, const char *name, const char *text) {
  int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  bool good = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
  close(fd);
  return good;
}

bool read_at(int dir, const char *name, char *text, size_t size) {
  int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t length = read(fd, text, size - 1);
  close(fd);
  text[length > 0 ? length : 0] = '\0';
  return length >= 0;
}

int open_directory(int dir, const char *name) { return openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC); }

int make_directory(int dir, const char *name) {
  if (mkdirat(dir, name, 0755) != 0 && errno != EEXIST) return -1;
  return open_directory(dir, name);
}

/*
 * Whether new children of a cgroup have the memory controller. The top cgroup that systemd has delegated to a unit passes no
 * controllers to its children until its owner enables them; only root could change the cgroups above it.
 */
bool gives_memory(int above) {
  char controllers[512];
  if (faccessat(above, "cgroup.procs", W_OK, AT_EACCESS) != 0) return false;
  if (!read_at(above, "cgroup.subtree_control", controllers, sizeof controllers)) return false;
  if (has_word(controllers, "memory")) return true;
  if (geteuid() == 0 || !write_at(above, "cgroup.subtree_control", "+memory")) return false;
  write_at(above, "cgroup.subtree_control", "+cpu");
  return true;
}

static int open_within(int above, const char *name, const char *file) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", name, file);
  return openat(above, path, O_RDONLY | O_CLOEXEC);
}

/*
 * Record locks, because they belong to this process alone: first processes inherit the descriptor and may outlive it. The
 * lock lasts until this process ends or closes any descriptor of the file. -1: there is no such file.
 */
int lock_directory(int above, const char *name, const char *file) {
  struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
  int fd = open_within(above, name, file);
  if (fd >= 0) fcntl(fd, F_SETLK, &lock);
  return fd;
}

bool is_locked(int above, const char *name, const char *file) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  int fd = open_within(above, name, file);
  if (fd < 0) return false;
  bool locked = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  close(fd);
  return locked;
}
