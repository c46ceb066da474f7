/*
 * The first process of a container: PID 1 of its PID namespace. It creates the container's view of the file system, starts
 * the command, reaps orphaned processes, and records how the command ended. When it exits, the kernel kills all remaining
 * processes of the namespace. It continues without the launcher and the service.
 */
#define _GNU_SOURCE
#include "children.h"
#include "command.h"
#include "container-record.h"
#include "launcher.h"
#include "line.h"
#include "mount-source.h"
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int open_source(const struct mount_request *mount) {
  int source = open_mount_source(mount);
  int tree = sys_open_tree(source, "", PATH_EMPTY | TREE_CLONE | (mount->is_file ? 0 : TREE_RECURSIVE));
  if (tree < 0) reject_for(errno, "could not mount '%s' at '%s': %s", mount->sub_path, mount->target, strerror(errno));
  /* Includes inner mounts, which belong to the volume. A mount that is added there later would be writable. */
  uint64_t attributes = ATTR_NOSUID | ATTR_NODEV;
  int result = mount->is_read_only ? sys_mount_seal(tree, attributes | ATTR_RDONLY)
                                   : sys_mount_setattr(tree, "", PATH_EMPTY | TREE_RECURSIVE, attributes);
  if (result != 0)
    reject_for(errno, "could not restrict the mount at '%s': %s", mount->target, strerror(errno));
  close(source);
  return tree;
}

static void make_late_mount_point(const struct mount_request *mount) {
  char path[PATH_MAX];
  if (snprintf(path, sizeof path, "%s", mount->target) >= (int)sizeof path) reject("the mount point is too long");
  for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    mkdir(path, 0755);
    *slash = '/';
  }
  if (!mount->is_file) {
    mkdir(path, 0755);
    return;
  }
  int fd = open(path, O_CREAT | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (fd >= 0) close(fd);
}

static int open_private_tmp(void) {
  if (mkdirat(container_directory(), "tmp", 0700) != 0 && errno != EEXIST) fault("could not make the private /tmp: %s", strerror(errno));
  int tree = sys_open_tree(container_directory(), "tmp", TREE_CLONE | 0x100 /* AT_SYMLINK_NOFOLLOW */);
  if (tree < 0) fault("could not open the private /tmp: %s", strerror(errno));
  sys_mount_setattr(tree, "", PATH_EMPTY, ATTR_NOSUID | ATTR_NODEV);
  return tree;
}

/* Small enough for any limit of open files: sources are opened in the host's view, and mounted in the container's. */
enum { TREES = 256 };

static size_t open_sources(const struct launch *launch, size_t from, int trees[TREES]) {
  size_t count = launch->mount_count - from < TREES ? launch->mount_count - from : TREES;
  for (size_t i = 0; i < count; i++) trees[i] = open_source(&launch->mounts[from + i]);
  return count;
}

static void mount_sources(const struct launch *launch, size_t from, const int *trees, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const struct mount_request *mount = &launch->mounts[from + i];
    if (mount->late) make_late_mount_point(mount);
    if (sys_move_mount(trees[i], "", AT_FDCWD, mount->target, MOVE_FROM_EMPTY) != 0)
      reject_for(errno, "could not mount at '%s': %s", mount->target, strerror(errno));
    close(trees[i]);
  }
}

/* The remaining mounts, in batches that alternate between the host's view and the container's. */
static void mount_rest(const struct launch *launch, size_t from) {
  if (from == launch->mount_count) return;
  int view = openat(launcher.proc_fd, "self/ns/mnt", O_RDONLY | O_CLOEXEC);
  if (view < 0) fault("could not open the mount namespace: %s", strerror(errno));
  int trees[TREES];
  while (from < launch->mount_count) {
    if (setns(launcher.host_ns_fd, CLONE_NEWNS) != 0) fault("could not leave the mount namespace: %s", strerror(errno));
    size_t count = open_sources(launch, from, trees);
    if (setns(view, CLONE_NEWNS) != 0) fault("could not enter the mount namespace: %s", strerror(errno));
    mount_sources(launch, from, trees, count);
    from += count;
  }
  close(view);
}

static void enter_view(const struct launch *launch, int template_fd) {
  int trees[TREES];
  size_t count = open_sources(launch, 0, trees);
  int tmp = open_private_tmp();
  int shm = sys_fresh_tmpfs("1777", NULL);
  if (setns(template_fd, CLONE_NEWNS) != 0 || unshare(CLONE_NEWNS) != 0)
    fault("could not make a mount namespace: %s", strerror(errno));
  mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC | (launcher.is_root ? MS_RDONLY : 0), NULL);
  if (sys_move_mount(tmp, "", AT_FDCWD, "/tmp", MOVE_FROM_EMPTY) != 0) fault("could not mount /tmp: %s", strerror(errno));
  if (shm >= 0) sys_move_mount(shm, "", AT_FDCWD, "/dev/shm", MOVE_FROM_EMPTY);
  mount_sources(launch, 0, trees, count);
  mount_rest(launch, count);
}

/* The launcher's descriptors would keep its templates, and the mounts in them, as long as this process runs. */
static void keep_own_files(const struct output *output, const struct limit_use *use) {
  int kept[] = {launcher.event_fd, container_directory(), output->from, output->to, limits_file(use)};
  sys_close_others(kept, sizeof kept / sizeof kept[0]);
}

/* vfork: the command's errno is returned in shared memory, and no page is copied. */
static pid_t start_command(const struct launch *launch, const struct limit_use *use) {
  volatile int error = 0;
  pid_t pid = vfork();
  if (pid == 0) {
    sigset_t none;
    sigemptyset(&none);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    limits_apply(use);
    error = execute_command(launch);
    _exit(127);
  }
  if (pid > 0 && error == 0) return pid;
  if (pid > 0) waitpid(pid, NULL, 0);
  if (pid < 0) fault("could not start a process: %s", strerror(errno));
  reject_command(launch, launch->argv[0], error);
}

__attribute__((noreturn)) void container_run(struct launch *launch, int template_fd, const struct limit_use *use) {
  claim_container(launch);
  struct output output;
  open_streams(launch, &output);
  enter_view(launch, template_fd);
  keep_own_files(&output, use);
  if (chdir(launch->working_directory) != 0) fault("could not enter '%s': %s", launch->working_directory, strerror(errno));
  long long started = clock_ms();
  pid_t command = start_command(launch, use);
  send_event("started %s %lld", launch->id, started);
  struct ending ending = await_command(command, &output, reap);
  kill_rest();
  output_close(&output);
  bool met_limit = limits_out_of_memory(use);
  record_ending(&ending, started, met_limit);
  _exit(met_limit ? EXIT_WAS_OUT_OF_MEMORY : 0);
}
