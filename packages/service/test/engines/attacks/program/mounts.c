/* Mounts: by the old calls and by the new ones, with and without namespaces of one's own. */
#define _GNU_SOURCE
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NR_OPEN_TREE = 428, NR_MOVE_MOUNT, NR_FSOPEN, NR_FSCONFIG, NR_FSMOUNT, NR_FSPICK, NR_MOUNT_SETATTR = 442 };

static void prepare(void) {
  nest(CLONE_NEWNS);
  mkdir("/tmp/mount", 0755);
}

static void tmpfs(void) {
  prepare();
  report_call(mount("none", "/tmp/mount", "tmpfs", 0, NULL), "mounted a tmpfs");
}
static void bind(void) {
  prepare();
  report_call(mount("/", "/tmp/mount", NULL, MS_BIND | MS_REC, NULL), "bound the root");
}
static void remount(void) {
  prepare();
  report_call(mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND, NULL), "made the root writable");
}
static void remount_proc(void) {
  prepare();
  report_call(mount(NULL, "/proc", NULL, MS_REMOUNT | MS_BIND, NULL), "made /proc writable");
}
static void remount_system(void) {
  prepare();
  report_call(mount(NULL, "/sys", NULL, MS_REMOUNT | MS_BIND, NULL), "made /sys writable");
}
static void fresh_proc(void) {
  prepare();
  report_call(mount("none", "/tmp/mount", "proc", 0, NULL), "mounted a /proc");
}
static void fresh_system(void) {
  nest(CLONE_NEWNET);
  prepare();
  report_call(mount("none", "/tmp/mount", "sysfs", 0, NULL), "mounted a /sys");
}
static void overlay(void) {
  prepare();
  mkdir("/tmp/upper", 0755);
  mkdir("/tmp/work", 0755);
  report_call(mount("none", "/tmp/mount", "overlay", 0, "lowerdir=/etc,upperdir=/tmp/upper,workdir=/tmp/work"), "mounted an overlay");
}
static void unmount(void) {
  prepare();
  report_call(umount2("/proc", MNT_DETACH), "unmounted /proc");
}
static void unmount_masked(void) {
  prepare();
  report_call(umount2("/sys", MNT_DETACH), "unmounted /sys");
}
static void pivot(void) {
  prepare();
  report_call(syscall(SYS_pivot_root, "/tmp", "/tmp"), "exchanged the root");
}
static void tree(void) {
  prepare();
  report_call(syscall(NR_OPEN_TREE, AT_FDCWD, "/", 1 | O_CLOEXEC), "copied a tree of mounts");
}
static void context(void) {
  prepare();
  report_call(syscall(NR_FSOPEN, "tmpfs", 1), "opened a file system context");
}
static void pick(void) {
  prepare();
  report_call(syscall(NR_FSPICK, AT_FDCWD, "/", 1), "opened the context of the root");
}
static void move(void) {
  prepare();
  report_call(syscall(NR_MOVE_MOUNT, AT_FDCWD, "/dev/shm", AT_FDCWD, "/tmp/mount", 0), "moved a mount");
}
static void attributes(void) {
  struct {
    uint64_t set, clear, propagation, user;
  } change = {.clear = 1};
  prepare();
  report_call(syscall(NR_MOUNT_SETATTR, AT_FDCWD, "/", 0x8000, &change, sizeof change), "made the root writable");
}

const struct attack mount_attacks[] = {
    {"mount-tmpfs", tmpfs},         {"mount-bind", bind},          {"mount-remount-root", remount},
    {"mount-remount-proc", remount_proc}, {"mount-remount-sys", remount_system}, {"mount-new-proc", fresh_proc},
    {"mount-new-sys", fresh_system}, {"mount-overlay", overlay},   {"mount-unmount-proc", unmount},
    {"mount-unmount-sys", unmount_masked}, {"mount-pivot-root", pivot}, {"mount-open-tree", tree},
    {"mount-fsopen", context},      {"mount-fspick", pick},        {"mount-move", move},
    {"mount-setattr", attributes},  {NULL, NULL},
};
