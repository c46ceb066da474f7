/* System calls for which older C libraries have no wrapper. The numbers are the same on all architectures. */
#define _GNU_SOURCE
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
  NR_PIDFD_SEND_SIGNAL = 424,
  NR_OPEN_TREE = 428,
  NR_MOVE_MOUNT = 429,
  NR_FSOPEN = 430,
  NR_FSCONFIG = 431,
  NR_FSMOUNT = 432,
  NR_PIDFD_OPEN = 434,
  NR_CLONE3 = 435,
  NR_OPENAT2 = 437,
  NR_MOUNT_SETATTR = 442,
};

struct mount_attributes {
  uint64_t set, clear, propagation, userns_fd;
};

struct open_how_arguments {
  uint64_t flags, mode, resolve;
};

struct clone3_arguments {
  uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size, cgroup;
};

int sys_open_tree(int dir, const char *path, unsigned flags) {
  return (int)syscall(NR_OPEN_TREE, dir, path, flags | O_CLOEXEC);
}

int sys_move_mount(int from, const char *from_path, int to, const char *to_path, unsigned flags) {
  return (int)syscall(NR_MOVE_MOUNT, from, from_path, to, to_path, flags);
}

int sys_mount_setattr(int dir, const char *path, unsigned flags, uint64_t set) {
  struct mount_attributes attributes = {.set = set};
  return (int)syscall(NR_MOUNT_SETATTR, dir, path, flags, &attributes, sizeof attributes);
}

int sys_mount_seal(int tree, uint64_t set) {
  struct mount_attributes attributes = {.set = set, .propagation = MS_PRIVATE};
  return (int)syscall(NR_MOUNT_SETATTR, tree, "", PATH_EMPTY | TREE_RECURSIVE, &attributes, sizeof attributes);
}

/* Follows symbolic links only beneath `dir`: the kernel checks each step, so changing a link has no effect. */
int sys_open_beneath(int dir, const char *path, uint64_t flags) {
  const uint64_t no_magic_links = 2, beneath = 8;
  struct open_how_arguments how = {.flags = flags | O_CLOEXEC, .resolve = beneath | no_magic_links};
  for (int tries = 0;; tries++) {
    int fd = (int)syscall(NR_OPENAT2, dir, path, &how, sizeof how);
    /* EAGAIN: a concurrent rename prevented the check of `..`; the path may be valid. */
    if (fd >= 0 || errno != EAGAIN || tries == 100) return fd;
  }
}

int sys_fresh_tmpfs(const char *mode, const char *size) {
  enum { SET_STRING = 1, CREATE = 6 };
  int context = (int)syscall(NR_FSOPEN, "tmpfs", 1);
  if (context < 0) return -1;
  int mount = -1;
  if ((mode == NULL || syscall(NR_FSCONFIG, context, SET_STRING, "mode", mode, 0) == 0) &&
      (size == NULL || syscall(NR_FSCONFIG, context, SET_STRING, "size", size, 0) == 0) &&
      syscall(NR_FSCONFIG, context, CREATE, NULL, NULL, 0) == 0) {
    mount = (int)syscall(NR_FSMOUNT, context, 1, ATTR_NOSUID | ATTR_NODEV);
  }
  int error = errno;
  close(context);
  errno = error;
  return mount;
}

int sys_pidfd_open(pid_t pid) { return (int)syscall(NR_PIDFD_OPEN, pid, 0); }

int sys_pidfd_queue(int pidfd, int signal, int value) {
  siginfo_t info;
  memset(&info, 0, sizeof info);
  info.si_signo = signal;
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_uid = getuid();
  info.si_value.sival_int = value;
  return (int)syscall(NR_PIDFD_SEND_SIGNAL, pidfd, signal, &info, 0);
}

int sys_signal_thread(pid_t pid, int signal) { return (int)syscall(SYS_tgkill, pid, pid, signal); }

void sys_close_others(int *kept, size_t count) {
  unsigned from = 3;
  for (size_t i = 0; i < count; i++) {
    for (size_t j = i; j > 0 && kept[j] < kept[j - 1]; j--) {
      int swapped = kept[j];
      kept[j] = kept[j - 1];
      kept[j - 1] = swapped;
    }
  }
  for (size_t i = 0; i < count; i++) {
    if (kept[i] < (int)from) continue;
    if ((unsigned)kept[i] > from) syscall(SYS_close_range, from, (unsigned)kept[i] - 1, 0u);
    from = (unsigned)kept[i] + 1;
  }
  syscall(SYS_close_range, from, ~0u, 0u);
}

/* For machines, or our own filter, that forbid clone3. A cgroup is entered by a process that already runs in it. */
static pid_t clone_plainly(int *pidfd, int cgroup_fd, bool is_sibling) {
  const int namespaces = launcher.is_translating ? 0 : CLONE_NEWPID;
  pid_t pid = (pid_t)syscall(SYS_clone, namespaces | (is_sibling ? CLONE_PARENT : SIGCHLD), 0, 0, 0, 0);
  if (pid == 0 && cgroup_fd >= 0) write_at(cgroup_fd, "cgroup.procs", "0");
  if (pid <= 0) return pid;
  *pidfd = sys_pidfd_open(pid);
  if (*pidfd >= 0) return pid;
  int error = errno;
  kill(pid, SIGKILL);
  errno = error;
  return -1;
}

pid_t sys_clone_first(int *pidfd, int cgroup_fd, bool is_sibling) {
  if (!launcher.forbids_nesting) return clone_plainly(pidfd, cgroup_fd, is_sibling);
  const uint64_t clone_pidfd = 0x1000, clone_into_cgroup = 0x200000000ULL;
  struct clone3_arguments arguments = {
      .flags = CLONE_NEWPID | clone_pidfd | (cgroup_fd >= 0 ? clone_into_cgroup : 0) | (is_sibling ? CLONE_PARENT : 0),
      .pidfd = (uint64_t)(uintptr_t)pidfd,
      .exit_signal = is_sibling ? 0 : SIGCHLD,
      .cgroup = cgroup_fd >= 0 ? (uint64_t)cgroup_fd : 0,
  };
  return (pid_t)syscall(NR_CLONE3, &arguments, sizeof arguments);
}
