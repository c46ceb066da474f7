/* The launcher's own namespaces, and the permissions of it and its containers in them. */
#define _GNU_SOURCE
#include "launcher.h"
#include "translation/translated.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static bool write_text(int dir, const char *path, const char *text) {
  int fd = openat(dir, path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  bool good = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
  close(fd);
  return good;
}

/* Maps every user to itself; `file` is uid_map or gid_map. Inside a container, not all user IDs exist. */
static bool map_all(int dir, const char *file) {
  char path[64], line[128], text[4096] = "";
  snprintf(path, sizeof path, "/proc/self/%s", file);
  FILE *own = fopen(path, "re");
  size_t used = 0;
  unsigned long inside, outside, count;
  while (own != NULL && fgets(line, sizeof line, own) != NULL && used < sizeof text - 64) {
    if (sscanf(line, "%lu %lu %lu", &inside, &outside, &count) == 3)
      used += (size_t)sprintf(text + used, "%lu %lu %lu\n", inside, inside, count);
  }
  if (own != NULL) fclose(own);
  return used > 0 && write_text(dir, file, text);
}

/* Whether this process's own `id` exists in its user namespace. */
static bool is_mapped(const char *path, unsigned long id) {
  unsigned long inside, count;
  bool found = false;
  char line[128];
  FILE *map = fopen(path, "re");
  while (map != NULL && !found && fgets(line, sizeof line, map) != NULL)
    found = sscanf(line, "%lu %*u %lu", &inside, &count) == 2 && id >= inside && id - inside < count;
  if (map != NULL) fclose(map);
  return found;
}

enum entry { ENTERED, NOT_ENTERED, NOT_MAPPED };

/* Only a process outside the namespace may map other users: a child that stayed outside does it for root. */
static enum entry map_all_from_outside(void) {
  int ask[2], answer[2];
  if (pipe2(ask, O_CLOEXEC) != 0 || pipe2(answer, O_CLOEXEC) != 0) return NOT_ENTERED;
  char path[64], byte = 0;
  snprintf(path, sizeof path, "/proc/%d/", (int)getpid());
  pid_t child = fork();
  if (child == 0) {
    /* Otherwise it would wait for itself if there is nothing to map. */
    close(ask[1]);
    int dir = read(ask[0], &byte, 1) == 1 ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    bool good = map_all(dir, "uid_map") && map_all(dir, "gid_map");
    _exit(good && write(answer[1], "", 1) == 1 ? 0 : 1);
  }
  close(answer[1]);
  bool entered = child > 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
  int error = errno;
  bool mapped = entered && write(ask[1], "", 1) == 1 && read(answer[0], &byte, 1) == 1;
  close(ask[1]);
  close(ask[0]);
  close(answer[0]);
  if (child > 0) waitpid(child, NULL, 0);
  errno = error;
  if (!entered) return NOT_ENTERED;
  return mapped ? ENTERED : NOT_MAPPED;
}

static enum entry map_self(uid_t uid, gid_t gid) {
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return NOT_ENTERED;
  char users[64], groups[64];
  snprintf(users, sizeof users, "%u %u 1\n", uid, uid);
  snprintf(groups, sizeof groups, "%u %u 1\n", gid, gid);
  bool mapped = write_text(AT_FDCWD, "/proc/self/uid_map", users) &&
                write_text(AT_FDCWD, "/proc/self/setgroups", "deny") && write_text(AT_FDCWD, "/proc/self/gid_map", groups);
  return mapped ? ENTERED : NOT_MAPPED;
}

static void open_proc(void) { launcher.proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC); }

void do_without_namespaces(void) {
  launcher.is_translating = true;
  launcher.is_root = geteuid() == 0;
  open_proc();
  const char *missing = translated_probe();
  if (missing == NULL) return;
  send_event("failed %s", missing);
  _exit(1);
}

void enter_namespaces(void) {
  uid_t uid = geteuid();
  gid_t gid = getegid();
  launcher.is_root = uid == 0;
  errno = EOVERFLOW;
  if (!is_mapped("/proc/self/uid_map", uid) || !is_mapped("/proc/self/gid_map", gid))
    fail_launcher("could not use this process's user and group: its user namespace maps only one of them");
  mounts_open();
  enum entry entry = launcher.is_root ? map_all_from_outside() : map_self(uid, gid);
  /* Applies to the new namespace, not to the machine. Needs a writable /proc/sys. */
  launcher.forbids_nesting = entry == ENTERED && write_text(AT_FDCWD, "/proc/sys/user/max_user_namespaces", "0");
  /* Root works without a user namespace if the machine forbids them. */
  if (launcher.is_root && entry == NOT_ENTERED && unshare(CLONE_NEWNS) == 0) entry = ENTERED;
  if (entry == NOT_ENTERED) fail_launcher("could not make a user namespace");
  if (entry == NOT_MAPPED) fail_launcher("could not map users into a user namespace");
  /* All containers of a service share one: creating one for each would take 20 µs. Kernels can be built without it. */
  if (unshare(CLONE_NEWIPC) != 0 && errno != EINVAL) fail_launcher("could not make an IPC namespace");
  /* Receives later mounts of the host, and propagates none back. */
  if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) != 0) fail_launcher("could not make a mount namespace");
  open_proc();
  launcher.host_ns_fd = openat(launcher.proc_fd, "self/ns/mnt", O_RDONLY | O_CLOEXEC);
  if (launcher.host_ns_fd < 0) fail_launcher("could not open /proc");
  /* Leaves a chroot, in whose place the containers have a root of their own. */
  if (setns(launcher.host_ns_fd, CLONE_NEWNS) != 0) fail_launcher("could not enter the mount namespace");
}

static void give_up_rights(unsigned long long kept) {
  struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct rights[2];
  if (syscall(SYS_capget, &head, rights) != 0) return;
  for (int i = 0; i < 2; i++) {
    rights[i].permitted &= (unsigned)(kept >> (32 * i));
    rights[i].effective &= rights[i].permitted;
    rights[i].inheritable = 0;
  }
  syscall(SYS_capset, &head, rights);
}

/* Capabilities of root in a container: changing owners and users, but nothing that affects the machine. */
void drop_privileges(void) {
  const unsigned long long kept = 1ULL << 0 | 1ULL << 1 | 1ULL << 3 | 1ULL << 4 | 1ULL << 5 | 1ULL << 6 | 1ULL << 7 | 1ULL << 10 | 1ULL << 18;
  for (int capability = 0; capability < 64; capability++) {
    if (!(kept >> capability & 1) && prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) break;
  }
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  /* Tracer and tracees access each other's memory, which requires equal capabilities; they are not isolated anyway. */
  if (launcher.is_translating) {
    give_up_rights(kept);
    return;
  }
  /* First processes keep this launcher's memory and capabilities: containers must not access them (/proc/1, ptrace). */
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

void read_boot_id(void) {
  int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  char text[64] = "";
  if (fd < 0 || read(fd, text, sizeof text - 1) < 36) fail_launcher("could not read the boot id");
  close(fd);
  size_t used = 0;
  for (size_t i = 0; i < 36 && used < 16; i++) {
    if (text[i] != '-') launcher.boot_id[used++] = text[i];
  }
}
