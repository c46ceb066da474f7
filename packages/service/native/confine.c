/*
 * What the launcher drops for itself and for every process that it starts. All of it is inherited, so it costs a
 * container nothing: a filter for each container would take some 100 µs to create and to free.
 *
 *   user namespaces   a process that creates one is root in it, and may mount a cgroup hierarchy whose files belong to the
 *                     host's root: `user.max_user_namespaces` of the launcher's own namespace is 0, and a filter rejects
 *                     the calls (docs/decisions/0030-no-namespaces-inside.md)
 *   system calls      those that access things outside the container, or were used for escapes, without a permission
 *   abstract sockets  of processes outside, if the kernel can distinguish them (Landlock, Linux 6.12)
 */
#define _GNU_SOURCE
#include "launcher.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { REFUSED = SECCOMP_RET_ERRNO | EPERM, UNKNOWN = SECCOMP_RET_ERRNO | ENOSYS };
/* The same numbers on all architectures. */
enum { NR_IO_URING_SETUP = 425, NR_IO_URING_ENTER, NR_IO_URING_REGISTER, NR_CLONE3 = 435, NR_QUOTACTL_FD = 443 };

struct numbers {
  unsigned clone, unshare;
  const unsigned *rejected;
  size_t count;
};

static const unsigned rejected[] = {
    SYS_add_key, SYS_request_key, SYS_keyctl, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_open_by_handle_at,
    SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_acct,
    SYS_quotactl, NR_QUOTACTL_FD, SYS_clock_settime, SYS_settimeofday, SYS_sethostname, SYS_setdomainname, SYS_syslog,
    SYS_vhangup,
};
static const struct numbers native = {SYS_clone, SYS_unshare, rejected, sizeof rejected / sizeof rejected[0]};

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
/* The same calls of 32-bit programs: arch/x86/entry/syscalls/syscall_32.tbl. */
static const unsigned rejected_32[] = {
    286, 287, 288, 357, 336, 374, 342, 128, 350, 129, 283, 88, 87, 115, 51, 131, NR_QUOTACTL_FD, 264, 404, 79, 74, 121, 103, 111,
};
static const struct numbers other = {120, 310, rejected_32, sizeof rejected_32 / sizeof rejected_32[0]};
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#endif

struct filter {
  struct sock_filter program[160];
  unsigned short size;
};

static void add(struct filter *filter, struct sock_filter instruction) { filter->program[filter->size++] = instruction; }
static void load(struct filter *filter, size_t at) { add(filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)at)); }
static void result(struct filter *filter, unsigned value) { add(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, value)); }
/* Skips this many instructions unless the condition holds. */
static void when(struct filter *filter, unsigned short test, unsigned value, unsigned char skip) {
  add(filter, (struct sock_filter)BPF_JUMP((unsigned short)(BPF_JMP | test | BPF_K), value, 0, skip));
}

static void reject_user_namespace(struct filter *filter, unsigned number) {
  when(filter, BPF_JEQ, number, 4);
  load(filter, offsetof(struct seccomp_data, args[0]));
  when(filter, BPF_JSET, CLONE_NEWUSER, 1);
  result(filter, REFUSED);
  result(filter, SECCOMP_RET_ALLOW);
}

static void reject_calls(struct filter *filter, const struct numbers *numbers) {
  load(filter, offsetof(struct seccomp_data, nr));
  reject_user_namespace(filter, numbers->clone);
  reject_user_namespace(filter, numbers->unshare);
  /* A filter cannot read its flags; after ENOSYS the C library uses `clone`. */
  if (!launcher.forbids_nesting) {
    when(filter, BPF_JEQ, NR_CLONE3, 1);
    result(filter, UNKNOWN);
  }
  /* Programs work without it, as on older kernels. */
  for (unsigned number = NR_IO_URING_SETUP; number <= NR_IO_URING_REGISTER; number++) {
    when(filter, BPF_JEQ, number, 1);
    result(filter, UNKNOWN);
  }
  for (size_t i = 0; i < numbers->count; i++) {
    when(filter, BPF_JEQ, numbers->rejected[i], 1);
    result(filter, REFUSED);
  }
  result(filter, SECCOMP_RET_ALLOW);
}

static bool filter_calls(void) {
#ifdef NATIVE
  struct filter filter = {.size = 0}, inner = {.size = 0};
  load(&inner, offsetof(struct seccomp_data, nr));
#if defined(__x86_64__)
  const unsigned x32 = 0x40000000;
  when(&inner, BPF_JGE, x32, 1);
  result(&inner, UNKNOWN);
#endif
  reject_calls(&inner, &native);
  load(&filter, offsetof(struct seccomp_data, arch));
  when(&filter, BPF_JEQ, NATIVE, (unsigned char)inner.size);
  for (unsigned short i = 0; i < inner.size; i++) add(&filter, inner.program[i]);
#if defined(__x86_64__)
  reject_calls(&filter, &other);
#else
  result(&filter, UNKNOWN);
#endif
  const struct sock_fprog all = {filter.size, filter.program};
  /* Speculation stays allowed: otherwise older kernels would slow down each process. */
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &all) == 0;
#else
  return false;
#endif
}

static void leave_abstract_sockets(void) {
  enum { NR_CREATE_RULESET = 444, NR_RESTRICT_SELF = 446, SCOPE_ABSTRACT_SOCKETS = 1 };
  const struct {
    uint64_t files, network, scopes;
  } rules = {.scopes = SCOPE_ABSTRACT_SOCKETS};
  int fd = (int)syscall(NR_CREATE_RULESET, &rules, sizeof rules, 0);
  if (fd < 0) return;
  syscall(NR_RESTRICT_SELF, fd, 0);
  close(fd);
}

void confine(void) {
  leave_abstract_sockets();
  if (!filter_calls() && !launcher.forbids_nesting) fail_launcher("could not forbid user namespaces in containers");
}
