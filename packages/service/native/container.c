/*
 * The first process of a container: PID 1 of its PID namespace. It makes the container's view of the file system,
 * starts the command, reaps what the command leaves behind, and writes how it ended. When it goes, the kernel kills
 * whatever is left in the namespace. It needs neither the launcher nor the service to live.
 *
 * Records are symbolic links in the container's directory, since symlink(2) makes name and content in one step that
 * either happens or does not, and never overwrites:
 *
 *   claim -> <pid> <start ticks> <boot id>                       before anything runs: whoever makes it starts it
 *   exit  -> exited <code> <signal> <out of memory> <started ms> <ended ms>
 *            stopped <started ms> <ended ms>
 *            refused <ended ms> <reason>      its own fault
 *            fault <ended ms> <reason>        the machine's
 */
#define _GNU_SOURCE
#include "children.h"
#include "launcher.h"
#include "line.h"
#include "output.h"
#include "start-error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int directory_fd = -1;
static const char *container_id;

static void record(const char *text) {
  if (symlinkat(text, directory_fd, "exit") == 0) send_event("ended %s %s", container_id, text);
  /* Without a record (a full disk) the service learns from the end of this process that something failed below. */
}

__attribute__((noreturn, format(printf, 2, 3))) static void give_up(const char *kind, const char *format, ...) {
  char reason[1024], text[1100];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reason, sizeof reason, format, arguments);
  va_end(arguments);
  snprintf(text, sizeof text, "%s %lld %s", kind, clock_ms(), reason);
  record(text);
  _exit(0);
}

#define refuse(...) give_up("refused", __VA_ARGS__)
#define fault(...) give_up("fault", __VA_ARGS__)
/* What the machine is short of is not the container's fault, and passes. */
static int is_shortage(int error) { return error == EMFILE || error == ENFILE || error == ENOMEM; }
#define refuse_for(error, ...) give_up(is_shortage(error) ? "fault" : "refused", __VA_ARGS__)

/* A directory that was moved away to be removed may have held a claim that is removed already. */
static bool is_in_place(const char *path) {
  struct stat there, held;
  return stat(path, &there) == 0 && fstat(directory_fd, &held) == 0 && there.st_ino == held.st_ino &&
         there.st_dev == held.st_dev;
}

static void claim(const char *path) {
  long pid;
  unsigned long long ticks;
  char text[80];
  if (!read_process(launcher.proc_fd, "self", &pid, &ticks)) _exit(71);
  snprintf(text, sizeof text, "%ld %llu %s", pid, ticks, launcher.boot_id);
  if (symlinkat(text, directory_fd, "claim") == 0) {
    if (!is_in_place(path)) {
      unlinkat(directory_fd, "claim", 0);
      _exit(72);
    }
    send_event("claimed %s %s", container_id, text);
    return;
  }
  if (errno != EEXIST) _exit(72);
  send_event("exists %s", container_id);
  _exit(0);
}

static int open_source(const struct mount_request *mount) {
  int root = open(mount->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) refuse_for(errno, "could not open the volume at '%s': %s", mount->root, strerror(errno));
  int source = root;
  if (mount->sub_path[0] != '\0') {
    source = sys_open_beneath(root, mount->sub_path, O_PATH);
    if (source < 0 && errno == EXDEV) refuse("could not mount '%s': it leads out of its volume", mount->sub_path);
    if (source < 0) refuse_for(errno, "could not mount '%s' of a volume: %s", mount->sub_path, strerror(errno));
  }
  struct stat status;
  if (fstat(source, &status) != 0) refuse("could not look at '%s': %s", mount->sub_path, strerror(errno));
  if (mount->is_file ? !S_ISREG(status.st_mode) : !S_ISDIR(status.st_mode))
    refuse("could not mount '%s' at '%s': it is not a %s", mount->sub_path, mount->target, mount->is_file ? "file" : "directory");
  int tree = sys_open_tree(source, "", PATH_EMPTY | TREE_CLONE | (mount->is_file ? 0 : TREE_RECURSIVE));
  if (tree < 0) refuse_for(errno, "could not mount '%s' at '%s': %s", mount->sub_path, mount->target, strerror(errno));
  sys_mount_setattr(tree, "", PATH_EMPTY, ATTR_NOSUID | ATTR_NODEV);
  if (source != root) close(source);
  close(root);
  return tree;
}

static void make_late_mount_point(const struct mount_request *mount) {
  char path[PATH_MAX];
  if (snprintf(path, sizeof path, "%s", mount->target) >= (int)sizeof path) refuse("the mount point is too long");
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
  if (mkdirat(directory_fd, "tmp", 0700) != 0 && errno != EEXIST) fault("could not make the private /tmp: %s", strerror(errno));
  int tree = sys_open_tree(directory_fd, "tmp", TREE_CLONE | 0x100 /* AT_SYMLINK_NOFOLLOW */);
  if (tree < 0) fault("could not open the private /tmp: %s", strerror(errno));
  sys_mount_setattr(tree, "", PATH_EMPTY, ATTR_NOSUID | ATTR_NODEV);
  return tree;
}

static void enter_view(const struct launch *launch, int template_fd) {
  int trees[64];
  for (size_t i = 0; i < launch->mount_count; i++) trees[i] = open_source(&launch->mounts[i]);
  int tmp = open_private_tmp();
  int shm = sys_fresh_tmpfs("1777", NULL);
  if (setns(template_fd, CLONE_NEWNS) != 0 || unshare(CLONE_NEWNS) != 0)
    fault("could not make a mount namespace: %s", strerror(errno));
  mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC | (launcher.is_root ? MS_RDONLY : 0), NULL);
  if (sys_move_mount(tmp, "", AT_FDCWD, "/tmp", MOVE_FROM_EMPTY) != 0) fault("could not mount /tmp: %s", strerror(errno));
  if (shm >= 0) sys_move_mount(shm, "", AT_FDCWD, "/dev/shm", MOVE_FROM_EMPTY);
  for (size_t i = 0; i < launch->mount_count; i++) {
    if (launch->mounts[i].late) make_late_mount_point(&launch->mounts[i]);
    if (sys_move_mount(trees[i], "", AT_FDCWD, launch->mounts[i].target, MOVE_FROM_EMPTY) != 0)
      refuse_for(errno, "could not mount at '%s': %s", launch->mounts[i].target, strerror(errno));
  }
}

static void open_streams(const struct launch *launch, struct output *output) {
  int log = open(launch->log_path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0640);
  if (log < 0) fault("could not open the log '%s': %s", launch->log_path, strerror(errno));
  int end = output_open(output, log);
  if (end < 0 || dup2(end, 1) < 0 || dup2(end, 2) < 0) fault("could not keep the output: %s", strerror(errno));
  close(end);
}

static const char *search_path(char **envp) {
  for (; *envp != NULL; envp++) {
    if (strncmp(*envp, "PATH=", 5) == 0) return *envp + 5;
  }
  return "/usr/local/bin:/usr/bin:/bin";
}

/* Returns only where it failed, with the reason. */
static int execute(const struct launch *launch) {
  const char *name = launch->argv[0];
  if (strchr(name, '/') != NULL) {
    execve(name, launch->argv, launch->envp);
    return errno;
  }
  int error = ENOENT;
  for (const char *from = search_path(launch->envp); from != NULL;) {
    const char *colon = strchr(from, ':');
    int length = colon == NULL ? (int)strlen(from) : (int)(colon - from);
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%.*s%s%s", length, from, length > 0 ? "/" : "", name) < (int)sizeof path) {
      execve(path, launch->argv, launch->envp);
      if (errno != ENOENT && errno != ENOTDIR) error = errno;
      if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) return error;
    }
    from = colon == NULL ? NULL : colon + 1;
  }
  return error;
}

/* vfork: the command's errno comes back in our own memory, and no page is copied. */
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
    error = execute(launch);
    _exit(127);
  }
  if (pid > 0 && error == 0) return pid;
  if (pid > 0) waitpid(pid, NULL, 0);
  if (pid < 0) fault("could not start a process: %s", strerror(errno));
  const char *name = launch->argv[0];
  refuse("could not start '%.300s': %s (%d)", name, describe_start_error(name, error), error == ENOENT ? 127 : 126);
}

struct ending {
  bool stopped;
  int status;
};

static int open_signals(void) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  sigaddset(&signals, SIGTERM);
  int fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd < 0) fault("could not wait for signals: %s", strerror(errno));
  return fd;
}

/*
 * Waits for the command while reaping orphans and keeping the output; SIGTERM with a value is the service's wish to stop
 * within that many ms.
 */
static struct ending wait_for(pid_t command, struct output *output) {
  struct pollfd ready[2] = {{.fd = open_signals(), .events = POLLIN}, {.fd = output->from, .events = POLLIN}};
  struct ending ending = {false, 0};
  long long deadline = 0;
  while (!reap(command, &ending.status)) {
    long long left = deadline - clock_ms();
    if (ending.stopped && left <= 0) {
      ending.status = SIGKILL;
      break;
    }
    if (poll(ready, 2, ending.stopped ? (int)left : -1) <= 0) continue;
    if (ready[1].revents != 0) output_copy(output);
    struct signalfd_siginfo info;
    if (read(ready[0].fd, &info, sizeof info) != sizeof info) continue;
    if (info.ssi_signo != SIGTERM || info.ssi_code != SI_QUEUE) continue;
    long long wanted = clock_ms() + info.ssi_int;
    if (!ending.stopped || wanted < deadline) deadline = wanted;
    ending.stopped = true;
    kill(command, SIGTERM);
  }
  close(ready[0].fd);
  return ending;
}

__attribute__((noreturn)) void container_run(struct launch *launch, int template_fd, const struct limit_use *use) {
  container_id = launch->id;
  directory_fd = open(launch->directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory_fd < 0) _exit(73);
  claim(launch->directory);
  struct output output;
  open_streams(launch, &output);
  enter_view(launch, template_fd);
  if (chdir(launch->working_directory) != 0) fault("could not enter '%s': %s", launch->working_directory, strerror(errno));
  long long started = clock_ms();
  pid_t command = start_command(launch, use);
  send_event("started %s %lld", launch->id, started);
  struct ending ending = wait_for(command, &output);
  kill_rest();
  while (output_copy(&output)) {
  }
  char text[160];
  int signal = WIFSIGNALED(ending.status) ? WTERMSIG(ending.status) : 0;
  int code = signal != 0 ? 128 + signal : WEXITSTATUS(ending.status);
  bool met_limit = limits_out_of_memory(use);
  if (ending.stopped) {
    snprintf(text, sizeof text, "stopped %lld %lld", started, clock_ms());
  } else {
    snprintf(text, sizeof text, "exited %d %d %d %lld %lld", code, signal, code != 0 && met_limit, started, clock_ms());
  }
  record(text);
  _exit(met_limit ? EXIT_WAS_OUT_OF_MEMORY : 0);
}
