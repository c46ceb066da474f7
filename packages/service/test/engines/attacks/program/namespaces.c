/* Namespaces of one's own, by every call that makes them, and entering those of others. */
#define _GNU_SOURCE
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

bool write_file(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  bool good = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
  int error = errno;
  close(fd);
  errno = error;
  return good;
}

/* Continues in a child that has the namespaces; false where it could not be made. */
static bool clone_into(int flags) {
  pid_t child = (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
  if (child < 0) return false;
  if (child == 0) return true;
  int status = 0;
  waitpid(child, &status, 0);
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 3);
}

static long clone3(uint64_t flags) {
  struct {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
  } arguments = {.flags = flags, .exit_signal = SIGCHLD};
  return syscall(435, &arguments, sizeof arguments);
}

static bool clone3_into(uint64_t flags) {
  pid_t child = (pid_t)clone3(flags);
  if (child < 0) return false;
  if (child == 0) return true;
  int status = 0;
  waitpid(child, &status, 0);
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 3);
}

#if defined(__x86_64__)
static sigjmp_buf no_old_calls;
static void leave_old_call(int number) { siglongjmp(no_old_calls, number); }

/* The call of 32-bit programs, which a filter may have forgotten. A kernel without them ends the program with SIGSEGV. */
static long old_call(long number, long argument) {
  long result;
  if (sigsetjmp(no_old_calls, 1) != 0) {
    signal(SIGSEGV, SIG_DFL);
    errno = ENOSYS;
    return -1;
  }
  signal(SIGSEGV, leave_old_call);
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(argument), "c"(0), "d"(0), "S"(0), "D"(0) : "memory", "r8", "r9", "r10", "r11");
  signal(SIGSEGV, SIG_DFL);
  if (result >= 0) return result;
  errno = (int)-result;
  return -1;
}
#endif

static bool enter_user_namespace(void) {
  if (unshare(CLONE_NEWUSER) == 0) return true;
#if defined(__x86_64__)
  if (old_call(310, CLONE_NEWUSER) == 0) return true;
  if (syscall(0x40000000 + SYS_unshare, CLONE_NEWUSER) == 0) return true;
#endif
  return clone_into(CLONE_NEWUSER) || clone3_into(CLONE_NEWUSER);
}

void nest(int flags) {
  uid_t uid = geteuid();
  gid_t gid = getegid();
  if (enter_user_namespace()) {
    char text[64];
    snprintf(text, sizeof text, "0 %u 1", uid);
    write_file("/proc/self/uid_map", text);
    write_file("/proc/self/setgroups", "deny");
    snprintf(text, sizeof text, "0 %u 1", gid);
    write_file("/proc/self/gid_map", text);
  }
  for (int flag = 1; flag > 0; flag <<= 1) {
    if ((flags & flag) != 0) unshare(flag);
  }
}

static void user_by_unshare(void) { report_call(unshare(CLONE_NEWUSER), "a user namespace"); }
static void user_by_clone(void) {
  if (!clone_into(CLONE_NEWUSER)) blocked(errno);
  succeeded("a user namespace");
}
static void user_by_clone3(void) {
  if (!clone3_into(CLONE_NEWUSER)) blocked(errno);
  succeeded("a user namespace");
}
static void user_by_old_call(void) {
#if defined(__x86_64__)
  report_call(old_call(310, CLONE_NEWUSER), "a user namespace by int 0x80");
#else
  blocked(ENOSYS);
#endif
}
static void user_by_x32(void) {
#if defined(__x86_64__)
  report_call(syscall(0x40000000 + SYS_unshare, CLONE_NEWUSER), "a user namespace by x32");
#else
  blocked(ENOSYS);
#endif
}
static void mounts(void) { report_call(unshare(CLONE_NEWNS), "a mount namespace"); }
static void cgroups(void) { report_call(unshare(CLONE_NEWCGROUP), "a cgroup namespace"); }
static void processes(void) { report_call(unshare(CLONE_NEWPID), "a PID namespace"); }
static void network(void) { report_call(unshare(CLONE_NEWNET), "a network namespace"); }
static void ipc(void) { report_call(unshare(CLONE_NEWIPC), "an IPC namespace"); }
static void names(void) { report_call(unshare(CLONE_NEWUTS), "a UTS namespace"); }
static void clocks(void) { report_call(unshare(0x80 /* CLONE_NEWTIME */), "a time namespace"); }

/* Namespaces of the first process, which may hold more rights than the container's own. */
static void enter_first(void) {
  static const char *const kinds[] = {"mnt", "user", "pid", "net", "ipc", "uts", "cgroup"};
  int error = 0;
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    char path[64];
    snprintf(path, sizeof path, "/proc/1/ns/%s", kinds[i]);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && setns(fd, 0) == 0) succeeded("entered %s", path);
    error = errno;
  }
  blocked(error);
}

static void enter_by_pidfd(void) {
  int fd = (int)syscall(434, 1, 0);
  if (fd < 0) blocked(errno);
  report_call(setns(fd, CLONE_NEWNS), "entered the mount namespace of PID 1");
}

const struct attack namespace_attacks[] = {
    {"namespace-user-unshare", user_by_unshare},
    {"namespace-user-clone", user_by_clone},
    {"namespace-user-clone3", user_by_clone3},
    {"namespace-user-int80", user_by_old_call},
    {"namespace-user-x32", user_by_x32},
    {"namespace-mount", mounts},
    {"namespace-cgroup", cgroups},
    {"namespace-pid", processes},
    {"namespace-network", network},
    {"namespace-ipc", ipc},
    {"namespace-uts", names},
    {"namespace-time", clocks},
    {"namespace-enter-first", enter_first},
    {"namespace-enter-pidfd", enter_by_pidfd},
    {NULL, NULL},
};
