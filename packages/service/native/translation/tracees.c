#define _GNU_SOURCE
#include "tracees.h"
#include "tracee.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BUCKETS = 1024, SYSCALL_STOP = SIGTRAP | 0x80 };

static struct tracee *tracees[BUCKETS];
static pid_t first_task;
static void (*tell_start)(void);

static struct tracee **find(pid_t task) {
  struct tracee **link = &tracees[(unsigned)task % BUCKETS];
  while (*link != NULL && (*link)->task != task) link = &(*link)->next;
  return link;
}

/* A new process may be seen before or after its parent's event. */
static struct tracee *meet(pid_t task) {
  struct tracee **link = find(task);
  if (*link != NULL) return *link;
  struct tracee *tracee = calloc(1, sizeof *tracee);
  if (tracee == NULL) _exit(74);
  tracee->task = task;
  tracee->socket_directory = -1;
  return *link = tracee;
}

static void forget(pid_t task) {
  struct tracee **link = find(task), *tracee = *link;
  if (tracee == NULL) return;
  if (tracee->socket_directory >= 0) close(tracee->socket_directory);
  rooms_leave(tracee);
  *link = tracee->next;
  free(tracee);
}

bool tracees_seize(pid_t command, void (*on_start)(void)) {
  const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                       PTRACE_O_TRACEEXEC | PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL;
  first_task = command;
  tell_start = on_start;
  if (ptrace(PTRACE_SEIZE, command, NULL, (void *)options) != 0) return false;
  meet(command);
  return true;
}

/* A child may have executed a program or ended before its parent's event. */
static void handle_birth(struct tracee *parent) {
  unsigned long child = 0;
  if (ptrace(PTRACE_GETEVENTMSG, parent->task, NULL, &child) != 0) return;
  if (*find((pid_t)child) == NULL && kill((pid_t)child, 0) != 0) return;
  rooms_inherit(parent, meet((pid_t)child));
}

static void handle_exec(struct tracee *tracee) {
  unsigned long former = 0;
  if (ptrace(PTRACE_GETEVENTMSG, tracee->task, NULL, &former) == 0 && (pid_t)former != tracee->task) forget((pid_t)former);
  rooms_leave(tracee);
  tracee->has_executed = true;
  tracee->pending = NOTHING;
  if (tracee->task != first_task || tell_start == NULL) return;
  tell_start();
  tell_start = NULL;
}

static void go_on(const struct tracee *tracee, int request, int signal) {
  ptrace(request, tracee->task, NULL, (void *)(long)signal);
}

static bool stops_group(int signal) {
  return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

static void handle_stop(pid_t task, int status) {
  struct tracee *tracee = meet(task);
  int signal = WSTOPSIG(status), event = status >> 16;
  /* Until its call has ended, it must stop there, even if something else stops it before. */
  int request = tracee->pending == NOTHING ? PTRACE_CONT : PTRACE_SYSCALL;
  switch (event) {
    case PTRACE_EVENT_SECCOMP:
      go_on(tracee, translate_entry(tracee) ? PTRACE_SYSCALL : PTRACE_CONT, 0);
      return;
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
    case PTRACE_EVENT_CLONE:
      handle_birth(tracee);
      go_on(tracee, request, 0);
      return;
    case PTRACE_EVENT_EXEC:
      handle_exec(tracee);
      go_on(tracee, PTRACE_CONT, 0);
      return;
    case PTRACE_EVENT_STOP:
      go_on(tracee, stops_group(signal) ? PTRACE_LISTEN : request, 0);
      return;
  }
  if (signal == SYSCALL_STOP) {
    if (tracee->pending != NOTHING) translate_exit(tracee);
    go_on(tracee, PTRACE_CONT, 0);
  } else {
    go_on(tracee, request, signal);
  }
}

bool tracees_reap(pid_t command, int *status) {
  int one;
  pid_t task;
  while ((task = waitpid(-1, &one, __WALL | WNOHANG)) > 0) {
    if (WIFSTOPPED(one)) {
      handle_stop(task, one);
      continue;
    }
    forget(task);
    if (task != command) continue;
    *status = one;
    return true;
  }
  return false;
}

/*
 * Includes those that have escaped the tracer and whose parents have ended: they are children of this process, a subreaper.
 */
static void kill_children(void) {
  char path[64], text[4096];
  snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  if (fd >= 0) close(fd);
  if (length <= 0) return;
  text[length] = '\0';
  for (char *next = text, *end; *next != '\0'; next = end + strspn(end, " ")) {
    long child = strtol(next, &end, 10);
    if (end == next) return;
    kill((pid_t)child, SIGKILL);
  }
}

void tracees_kill(void) {
  int status;
  do {
    for (int i = 0; i < BUCKETS; i++) {
      for (struct tracee *tracee = tracees[i]; tracee != NULL; tracee = tracee->next) kill(tracee->task, SIGKILL);
    }
    kill_children();
    pid_t task = waitpid(-1, &status, __WALL);
    if (task > 0 && WIFSTOPPED(status)) meet(task);
    else if (task > 0) forget(task);
    else if (errno != EINTR) return;
  } while (true);
}
