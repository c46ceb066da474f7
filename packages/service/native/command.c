/* The command of a container: its start, its output, and the wait for its end. */
#define _GNU_SOURCE
#include "command.h"
#include "line.h"
#include "start-error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

void open_streams(const struct launch *launch, struct output *output) {
  int log = open(launch->log_path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0640);
  if (log < 0) fault("could not open the log '%s': %s", launch->log_path, strerror(errno));
  int end = output_open(output, log, launch->log_limit);
  if (end < 0 || dup2(end, 1) < 0 || dup2(end, 2) < 0) fault("could not keep the output: %s", strerror(errno));
  close(end);
}

static const char *search_path(char **envp) {
  for (; *envp != NULL; envp++) {
    if (strncmp(*envp, "PATH=", 5) == 0) return *envp + 5;
  }
  return "/usr/local/bin:/usr/bin:/bin";
}

int execute_command(const struct launch *launch) {
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
      int failed = errno;
      /* A directory of PATH that this user cannot search does not mean that the program exists and is not executable. */
      if (failed == EACCES && access(path, F_OK) != 0) failed = ENOENT;
      if (failed != ENOENT && failed != ENOTDIR) error = failed;
      if (failed != ENOENT && failed != ENOTDIR && failed != EACCES) return error;
    }
    from = colon == NULL ? NULL : colon + 1;
  }
  return error;
}

void reject_command(const struct launch *launch, const char *path, int error) {
  reject("could not start '%.300s': %s (%d)", launch->argv[0], describe_start_error(path, error), error == ENOENT ? 127 : 126);
}

static int open_signals(void) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, PROOF_SIGNAL);
  int fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd < 0) fault("could not wait for signals: %s", strerror(errno));
  return fd;
}

/* A stop request, which may not yet be proven to come from the launcher. */
struct stop {
  bool has_deadline, is_proven;
  long long deadline;
};

/*
 * The deadline is the value of SIGTERM, which any process may send. The proof is a signal to a single thread: the kernel
 * records its sender itself, even if its memory for signals is exhausted, and records 0 for a sender outside of the PID
 * namespace. Without namespaces a container can write its own records anyway.
 */
static void note_signal(struct stop *stop, const struct signalfd_siginfo *info) {
  if (info->ssi_signo == PROOF_SIGNAL)
    stop->is_proven |= info->ssi_code == SI_TKILL && (info->ssi_pid == 0 || launcher.is_translating);
  if (info->ssi_signo != SIGTERM || info->ssi_code != SI_QUEUE) return;
  long long wanted = monotonic_ms() + info->ssi_int;
  if (!stop->has_deadline || wanted < stop->deadline) stop->deadline = wanted;
  stop->has_deadline = true;
}

struct ending await_command(pid_t command, struct output *output, bool (*reap)(pid_t, int *)) {
  struct pollfd ready[2] = {{.fd = open_signals(), .events = POLLIN}, {.fd = output->from, .events = POLLIN}};
  struct ending ending = {false, 0};
  struct stop stop = {false, false, 0};
  while (!reap(command, &ending.status)) {
    long long left = stop.deadline - monotonic_ms();
    if (ending.stopped && left <= 0) {
      ending.status = SIGKILL;
      break;
    }
    if (poll(ready, 2, ending.stopped ? (int)left : -1) <= 0) continue;
    if (ready[1].revents != 0) output_copy(output);
    struct signalfd_siginfo info;
    if (read(ready[0].fd, &info, sizeof info) != sizeof info) continue;
    note_signal(&stop, &info);
    if (ending.stopped || !stop.has_deadline || !stop.is_proven) continue;
    ending.stopped = true;
    kill(command, SIGTERM);
  }
  close(ready[0].fd);
  return ending;
}
