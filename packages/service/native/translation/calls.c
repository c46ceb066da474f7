#define _GNU_SOURCE
#include "calls.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* Calls that the C library may not know. The numbers are the same on all architectures. */
enum {
  NR_IO_URING_SETUP = 425,
  NR_CLONE3 = 435,
  NR_OPENAT2 = 437,
  NR_FACCESSAT2 = 439,
  NR_FCHMODAT2 = 452,
  NR_SETXATTRAT = 463,
  NR_GETXATTRAT = 464,
  NR_LISTXATTRAT = 465,
  NR_REMOVEXATTRAT = 466,
  NR_FILE_GETATTR = 468,
  NR_FILE_SETATTR = 469,
};

#define ONE(number, directory, path, last, flags) {number, PLAIN, false, 1, {{directory, path, last, flags}}}
#define REMOVES(number, directory, path) {number, PLAIN, true, 1, {{directory, path, KEPT, -1}}}
#define TWO(number, removes, d1, p1, last, flags, d2, p2) {number, PLAIN, removes, 2, {{d1, p1, last, flags}, {d2, p2, KEPT, -1}}}

static const struct call calls[] = {
    {SYS_execve, EXECUTES, false, 1, {{-1, 0, FOLLOWED, -1}}},
    {SYS_execveat, EXECUTES, false, 1, {{0, 1, KEPT_IF_FLAG, 4}}},
    {SYS_bind, BINDS, false, 0, {{0}}},
    {SYS_connect, CONNECTS, false, 0, {{0}}},
    {SYS_getsockname, TELLS_ADDRESS, false, 0, {{0}}},
    {SYS_getpeername, TELLS_ADDRESS, false, 0, {{0}}},
    {SYS_accept, TELLS_ADDRESS, false, 0, {{0}}},
    {SYS_accept4, TELLS_ADDRESS, false, 0, {{0}}},
    {SYS_recvfrom, TELLS_SENDER, false, 0, {{0}}},
    {SYS_getcwd, TELLS_DIRECTORY, false, 0, {{0}}},
    {SYS_readlinkat, READS_LINK, false, 1, {{0, 1, KEPT, -1}}},
    ONE(SYS_openat, 0, 1, BY_OPEN_FLAGS, 2),
    ONE(NR_OPENAT2, 0, 1, BY_OPEN_HOW, 2),
    ONE(SYS_newfstatat, 0, 1, KEPT_IF_FLAG, 3),
    ONE(SYS_statx, 0, 1, KEPT_IF_FLAG, 2),
    ONE(SYS_faccessat, 0, 1, FOLLOWED, -1),
    ONE(NR_FACCESSAT2, 0, 1, KEPT_IF_FLAG, 3),
    ONE(SYS_chdir, -1, 0, FOLLOWED, -1),
    ONE(SYS_mkdirat, 0, 1, KEPT, -1),
    ONE(SYS_mknodat, 0, 1, KEPT, -1),
    ONE(SYS_fchmodat, 0, 1, FOLLOWED, -1),
    ONE(NR_FCHMODAT2, 0, 1, KEPT_IF_FLAG, 3),
    ONE(SYS_fchownat, 0, 1, KEPT_IF_FLAG, 4),
    ONE(SYS_utimensat, 0, 1, KEPT_IF_FLAG, 3),
    ONE(SYS_truncate, -1, 0, FOLLOWED, -1),
    ONE(SYS_statfs, -1, 0, FOLLOWED, -1),
    ONE(SYS_setxattr, -1, 0, FOLLOWED, -1),
    ONE(SYS_lsetxattr, -1, 0, KEPT, -1),
    ONE(SYS_getxattr, -1, 0, FOLLOWED, -1),
    ONE(SYS_lgetxattr, -1, 0, KEPT, -1),
    ONE(SYS_listxattr, -1, 0, FOLLOWED, -1),
    ONE(SYS_llistxattr, -1, 0, KEPT, -1),
    ONE(SYS_removexattr, -1, 0, FOLLOWED, -1),
    ONE(SYS_lremovexattr, -1, 0, KEPT, -1),
    ONE(NR_SETXATTRAT, 0, 1, KEPT_IF_FLAG, 2),
    ONE(NR_GETXATTRAT, 0, 1, KEPT_IF_FLAG, 2),
    ONE(NR_LISTXATTRAT, 0, 1, KEPT_IF_FLAG, 2),
    ONE(NR_REMOVEXATTRAT, 0, 1, KEPT_IF_FLAG, 2),
    ONE(NR_FILE_GETATTR, 0, 1, KEPT_IF_FLAG, 4),
    ONE(NR_FILE_SETATTR, 0, 1, KEPT_IF_FLAG, 4),
    ONE(SYS_inotify_add_watch, -1, 1, FOLLOWED, -1),
    ONE(SYS_name_to_handle_at, 0, 1, FOLLOWED_IF_FLAG, 4),
    ONE(SYS_symlinkat, 1, 2, KEPT, -1),
    REMOVES(SYS_unlinkat, 0, 1),
    TWO(SYS_linkat, false, 0, 1, FOLLOWED_IF_FLAG, 4, 2, 3),
    TWO(SYS_renameat2, true, 0, 1, KEPT, -1, 2, 3),
#ifdef SYS_renameat
    TWO(SYS_renameat, true, 0, 1, KEPT, -1, 2, 3),
#endif
#ifdef SYS_open
    ONE(SYS_open, -1, 0, BY_OPEN_FLAGS, 1),
    ONE(SYS_creat, -1, 0, FOLLOWED, -1),
    ONE(SYS_stat, -1, 0, FOLLOWED, -1),
    ONE(SYS_lstat, -1, 0, KEPT, -1),
    ONE(SYS_access, -1, 0, FOLLOWED, -1),
    {SYS_readlink, READS_LINK, false, 1, {{-1, 0, KEPT, -1}}},
    ONE(SYS_mkdir, -1, 0, KEPT, -1),
    ONE(SYS_mknod, -1, 0, KEPT, -1),
    ONE(SYS_symlink, -1, 1, KEPT, -1),
    ONE(SYS_chmod, -1, 0, FOLLOWED, -1),
    ONE(SYS_chown, -1, 0, FOLLOWED, -1),
    ONE(SYS_lchown, -1, 0, KEPT, -1),
    ONE(SYS_utime, -1, 0, FOLLOWED, -1),
    ONE(SYS_utimes, -1, 0, FOLLOWED, -1),
    ONE(SYS_futimesat, 0, 1, FOLLOWED, -1),
    REMOVES(SYS_rmdir, -1, 0),
    REMOVES(SYS_unlink, -1, 0),
    TWO(SYS_link, false, -1, 0, KEPT, -1, -1, 1),
    TWO(SYS_rename, true, -1, 0, KEPT, -1, -1, 1),
#endif
};

enum { CALLS = sizeof calls / sizeof calls[0] };

const struct call *find_call(long number) {
  for (size_t i = 0; i < CALLS; i++) {
    if (calls[i].number == number) return &calls[i];
  }
  return NULL;
}

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#endif

#define LOAD(field) (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define LOAD_HIGH(field) (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field) + 4)
#define RETURN(value) (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, value)
/* Skips the next instruction unless it is equal (or has one of those bits). */
#define IF_EQUAL(value) (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1)
#define IF_ANY(bits) (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1)
/* Skips the next instruction if it is zero. */
#define IF_NOT_ZERO (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0)
#define UNKNOWN (SECCOMP_RET_ERRNO | ENOSYS)

bool filter_calls(void) {
  struct sock_filter program[2 * CALLS + 32];
  unsigned short size = 0;
  program[size++] = LOAD(arch);
  /* Programs of another architecture (32 bit) see the host's file system. */
  program[size++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 1, 0);
  program[size++] = RETURN(SECCOMP_RET_ALLOW);
  program[size++] = LOAD(nr);
#if defined(__x86_64__)
  const unsigned x32 = 0x40000000;
  program[size++] = IF_ANY(x32);
  program[size++] = RETURN(UNKNOWN);
#endif
  /* Calls that would bypass this filter; programs work without them, as on older kernels. */
  program[size++] = IF_EQUAL(NR_IO_URING_SETUP);
  program[size++] = RETURN(UNKNOWN);
  /* A filter cannot read its flags; after ENOSYS the C library uses clone, whose flags it can. */
  program[size++] = IF_EQUAL(NR_CLONE3);
  program[size++] = RETURN(UNKNOWN);
  for (size_t i = 0; i < CALLS; i++) {
    if (calls[i].special == TELLS_SENDER) continue;
    program[size++] = IF_EQUAL((uint32_t)calls[i].number);
    program[size++] = RETURN(SECCOMP_RET_TRACE);
  }
  /* The library's recv is the same call without an address, and too frequent to stop. */
  program[size++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_recvfrom, 0, 7);
  program[size++] = LOAD(args[SENDER]);
  program[size++] = IF_NOT_ZERO;
  program[size++] = RETURN(SECCOMP_RET_TRACE);
  program[size++] = LOAD_HIGH(args[SENDER]);
  program[size++] = IF_NOT_ZERO;
  program[size++] = RETURN(SECCOMP_RET_TRACE);
  program[size++] = RETURN(SECCOMP_RET_ALLOW);
  program[size++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0);
  program[size++] = RETURN(SECCOMP_RET_ALLOW);
  program[size++] = LOAD(args[0]);
  program[size++] = IF_ANY(CLONE_UNTRACED);
  program[size++] = RETURN(SECCOMP_RET_ERRNO | EPERM);
  program[size++] = RETURN(SECCOMP_RET_ALLOW);
  struct sock_fprog all = {size, program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) == 0;
}
