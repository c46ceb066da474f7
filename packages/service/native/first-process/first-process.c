/*
 * PID 1 of a container of another engine (Docker, Podman), mounted into the image from outside. It starts the command,
 * forwards signals, reaps orphaned processes, copies the output into the log, and records how the command ended. It
 * continues without the daemon and its shim, so the end of a command is recorded whatever happens to them.
 *
 *   first-process [=<log bytes>] [@] [<device>:<inode> <mount point>]... -- <command> [<argument>]...
 *
 * `=` limits the log. `@` means that more pairs are in /.sluice/mounts, each word ended by NUL: many do not fit a command
 * line. Each mount point must show the file that the service has checked: the daemon resolves paths itself, and a link
 * that was changed in the meantime would lead it elsewhere. The container contains two of our files:
 *
 *   /.sluice/log      the command's output, byte for byte, both streams in the order written
 *   /.sluice/record   started <ms>
 *                     exited <code> <signal> <out of memory> <started ms> <ended ms>
 *                     asked <code> <started ms> <ended ms>     after a signal from outside that ends programs
 *                     rejected <ended ms> <reason>      the request cannot be fulfilled
 *                     fault <ended ms> <reason>        the machine failed
 *
 * If the record is not empty, the command was started before, and is not started again. The service may write `absent`
 * there while a start is in progress: the first line decides.
 */
#define _GNU_SOURCE
#include "first-process.h"
#include "children.h"
#include "line.h"
#include "output.h"
#include "start-error.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_STARTED = 125, NOT_EXECUTABLE = 126, NOT_FOUND = 127 };

static int record_fd = -1;

__attribute__((format(printf, 1, 2))) static void record(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_line(record_fd, format, arguments);
  va_end(arguments);
}

static void open_record(void) {
  struct stat status;
  record_fd = open("/.sluice/record", O_RDWR | O_APPEND | O_CLOEXEC);
  if (record_fd < 0 || fstat(record_fd, &status) != 0 || status.st_size > 0) _exit(NOT_STARTED);
}

static void record_start(long long started) {
  char first[] = "started";
  record("started %lld", started);
  /* Another line: the service has prevented the start. None, on a full disk: the end could not be recorded either, and a
   * success without a record would be repeated. */
  ssize_t length = pread(record_fd, first, sizeof first - 1, 0);
  if (length != sizeof first - 1 || strcmp(first, "started") != 0) _exit(NOT_STARTED);
}

static void check_mount(const char *wanted, const char *point) {
  struct stat status;
  char found[64] = "nothing";
  if (stat(point, &status) == 0) snprintf(found, sizeof found, "%ju:%ju", (uintmax_t)status.st_dev, (uintmax_t)status.st_ino);
  if (strcmp(found, wanted) == 0) return;
  record("rejected %lld could not mount at '%s': the path of the volume was changed during the start", clock_ms(), point);
  _exit(NOT_STARTED);
}

static void check_listed_mounts(void) {
  char *wanted = NULL, *point = NULL;
  size_t wanted_size = 0, point_size = 0;
  FILE *list = fopen("/.sluice/mounts", "re");
  if (list == NULL) {
    record("fault %lld could not read the list of mount points: %s", clock_ms(), strerror(errno));
    _exit(NOT_STARTED);
  }
  while (getdelim(&wanted, &wanted_size, '\0', list) > 0 && getdelim(&point, &point_size, '\0', list) > 0) check_mount(wanted, point);
  fclose(list);
  free(wanted);
  free(point);
}

/* Checks the words before `--`; returns those after it. */
static char **check_mounts(char **words) {
  if (*words != NULL && strcmp(*words, "@") == 0) {
    check_listed_mounts();
    words++;
  }
  for (; *words != NULL && strcmp(*words, "--") != 0; words += 2) {
    if (words[1] == NULL) break;
    check_mount(words[0], words[1]);
  }
  return *words == NULL ? words : words + 1;
}

/* vfork: the command's errno is returned in shared memory. */
static pid_t start_command(char **argv, int output) {
  volatile int error = 0;
  pid_t pid = vfork();
  if (pid == 0) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    execvp(argv[0], argv);
    error = errno;
    _exit(NOT_FOUND);
  }
  if (pid > 0 && error == 0) return pid;
  if (pid > 0) waitpid(pid, NULL, 0);
  if (pid < 0) {
    record("fault %lld could not start a process: %s", clock_ms(), strerror(errno));
    _exit(NOT_STARTED);
  }
  int code = error == ENOENT ? NOT_FOUND : NOT_EXECUTABLE;
  record("rejected %lld could not start '%.300s': %s (%d)", clock_ms(), argv[0], describe_start_error(argv[0], error), code);
  _exit(code);
}

/*
 * A stop by the daemon or its restart, as opposed to one from inside: senders in the container's PID namespace have a PID
 * other than 0. The end of the command after it is not its own. Other signals have other uses (SIGHUP).
 */
static bool asks_for_end(const struct signalfd_siginfo *info) {
  int signal = (int)info->ssi_signo;
  bool is_end = signal == SIGTERM || signal == SIGINT || signal == SIGQUIT || signal >= SIGRTMIN;
  return is_end && info->ssi_code == SI_USER && info->ssi_pid == 0;
}

static int wait_for(pid_t command, struct output *output, int signals, bool *is_asked) {
  struct pollfd ready[2] = {{.fd = signals, .events = POLLIN}, {.fd = output->from, .events = POLLIN}};
  for (;;) {
    struct signalfd_siginfo info;
    int status;
    if (poll(ready, 2, -1) < 0 && errno != EINTR) continue;
    if ((ready[1].revents & POLLIN) != 0) output_copy(output);
    else if (ready[1].revents != 0) ready[1].fd = -1; /* no process is left that could write */
    if ((ready[0].revents & POLLIN) == 0 || read(signals, &info, sizeof info) != sizeof info) continue;
    *is_asked |= asks_for_end(&info);
    if (info.ssi_signo != SIGCHLD) kill(command, (int)info.ssi_signo);
    else if (reap(command, &status)) return status;
  }
}

/* All signals except those caused by our own errors: PID 1 receives only signals that are sent on purpose. */
static int open_signals(void) {
  const int ours[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
  sigset_t set;
  sigfillset(&set);
  for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) sigdelset(&set, ours[i]);
  sigprocmask(SIG_SETMASK, &set, NULL);
  return signalfd(-1, &set, SFD_CLOEXEC);
}

int main(int argc, char **argv) {
  open_record();
  char **words = argv + (argc > 0 ? 1 : 0);
  long long log_limit = *words != NULL && **words == '=' ? strtoll(*words++ + 1, NULL, 10) : 0;
  char **command = check_mounts(words);
  if (*command == NULL) {
    record("rejected %lld could not start the container: it has no command", clock_ms());
    return NOT_STARTED;
  }
  struct output output;
  int signals = open_signals();
  int write_end = signals < 0 ? -1 : output_open(&output, open("/.sluice/log", O_WRONLY | O_APPEND | O_CLOEXEC), log_limit);
  if (write_end < 0) {
    record("fault %lld could not keep the output: %s", clock_ms(), strerror(errno));
    return NOT_STARTED;
  }
  long long started = clock_ms();
  record_start(started);
  pid_t pid = start_command(command, write_end);
  close(write_end);
  bool is_asked = false;
  int status = wait_for(pid, &output, signals, &is_asked);
  kill_rest();
  output_close(&output);
  int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  int code = signal != 0 ? 128 + signal : WEXITSTATUS(status);
  bool met_limit = code != 0 && memory_ran_out();
  if (is_asked && !met_limit) record("asked %d %lld %lld", code, started, clock_ms());
  else record("exited %d %d %d %lld %lld", code, signal, met_limit, started, clock_ms());
  return code;
}
