/*
 * The first process of a container without namespaces. It traces all processes of its container and replaces the container's
 * paths by the host's (translate.c); when it exits, the kernel kills them. They are not isolated: each sees the processes
 * and files of the machine, like any program of the service's user.
 */
#define _GNU_SOURCE
#include "translated.h"
#include "calls.h"
#include "command.h"
#include "container-record.h"
#include "line.h"
#include "make-view.h"
#include "tracees.h"
#include "view.h"
#include "walk.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *container;
static long long started;

static void tell_start(void) { send_event("started %s %lld", container, started); }

struct start {
  const struct launch *launch;
  const struct limit_use *use;
  int go[2];   /* closed once the command is traced */
  int error[2]; /* why it could not be executed */
};

__attribute__((noreturn)) static void become_command(struct start *start) {
  char byte;
  sigset_t none;
  close(start->go[1]);
  while (read(start->go[0], &byte, 1) < 0 && errno == EINTR) {
  }
  sigemptyset(&none);
  signal(SIGPIPE, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, NULL);
  setsid();
  limits_apply(start->use);
  int error = filter_calls() ? execute_command(start->launch) : errno;
  if (write(start->error[1], &error, sizeof error) < 0) _exit(126);
  _exit(127);
}

static pid_t start_command(struct start *start) {
  if (pipe2(start->go, O_CLOEXEC) != 0 || pipe2(start->error, O_CLOEXEC) != 0) fault("could not make a pipe: %s", strerror(errno));
  pid_t command = fork();
  if (command < 0) fault("could not start a process: %s", strerror(errno));
  if (command == 0) become_command(start);
  if (!tracees_seize(command, tell_start)) {
    int error = errno;
    kill(command, SIGKILL);
    fault("could not trace the command: %s", strerror(error));
  }
  close(start->go[0]);
  close(start->go[1]);
  close(start->error[1]);
  return command;
}

/* Finds the command's file, to explain why it could not be started. */
__attribute__((noreturn)) static void reject_start(const struct launch *launch, int error) {
  struct walk walk = {.task = getpid()};
  const char *name = launch->argv[0];
  bool is_found = strchr(name, '/') != NULL && walk_path(&walk, launch->working_directory, name, true) == 0;
  reject_command(launch, is_found ? walk.host : name, error);
}

void translated_run(struct launch *launch, const struct limit_use *use) {
  claim_container(launch);
  container = launch->id;
  struct output output;
  open_streams(launch, &output);
  make_view(launch);
  char host[PATH_MAX];
  if (view_to_host(launch->working_directory, host) == TOO_LONG || chdir(host) != 0)
    fault("could not enter '%s': %s", launch->working_directory, strerror(errno));
  if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) fault("could not adopt processes: %s", strerror(errno));
  started = clock_ms();
  struct start start = {.launch = launch, .use = use};
  pid_t command = start_command(&start);
  struct ending ending = await_command(command, &output, tracees_reap);
  tracees_kill();
  output_close(&output);
  int error;
  if (read(start.error[0], &error, sizeof error) == sizeof error) reject_start(launch, error);
  bool met_limit = limits_out_of_memory(use);
  record_ending(&ending, started, met_limit);
  _exit(met_limit ? EXIT_WAS_OUT_OF_MEMORY : 0);
}

enum { PROBE_WORKS, PROBE_NO_TRACE, PROBE_NO_FILTER, PROBE_NO_PATHS };

/* Tests everything once: a traced process opens a file by a path that exists only in the view. */
static int probe(void) {
  int go[2], status = 0;
  char byte;
  if (pipe2(go, O_CLOEXEC) != 0) return PROBE_NO_TRACE;
  view_add("/sluice-probe", "/proc");
  pid_t child = fork();
  if (child == 0) {
    close(go[1]);
    if (read(go[0], &byte, 1) < 0 || !filter_calls()) _exit(PROBE_NO_FILTER);
    _exit(access("/sluice-probe/self/stat", R_OK) == 0 ? PROBE_WORKS : PROBE_NO_PATHS);
  }
  close(go[0]);
  if (child < 0 || !tracees_seize(child, NULL)) {
    if (child > 0) kill(child, SIGKILL);
    return PROBE_NO_TRACE;
  }
  close(go[1]);
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  while (!tracees_reap(child, &status)) sigwaitinfo(&children, NULL);
  return WIFEXITED(status) ? WEXITSTATUS(status) : PROBE_NO_FILTER;
}

const char *translated_probe(void) {
  int status = 0;
  pid_t child = fork();
  if (child == 0) _exit(probe());
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return "could not start a process to try it";
  switch (WEXITSTATUS(status)) {
    case PROBE_WORKS: return NULL;
    case PROBE_NO_TRACE: return "could not trace a process (ptrace is forbidden: kernel.yama.ptrace_scope, or the seccomp profile)";
    case PROBE_NO_FILTER: return "could not filter system calls (seccomp)";
    default: return "could not translate the path of a system call";
  }
}
