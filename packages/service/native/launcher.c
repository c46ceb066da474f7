/*
 * The launcher: a co-process of the service that starts containers, because forking a small process is several times
 * cheaper than forking Node. It enters a user namespace and a mount namespace of its own once, keeps templates of
 * mount namespaces (template.c), and forks one first process per container (container.c), which outlives it.
 *
 *   launcher namespaces|translation <scope> [<masked path>]...
 *
 * Frames on standard input: a 32-bit little-endian length, then fields that each end with NUL.
 *   launch <id> <key> <directory> <log> <log bytes> <cwd> <milli-cores> <memory> <n> (<root> <sub> <dir|file> <target> <ro|rw> <0|1>)*n
 *          <argc> argv… <envc> env…
 *   adopt  <id> <pid> <start ticks>     watches a container that an earlier launcher started
 *   stop   <id> <grace ms>
 *   kill   <id>                         if it did not end by itself
 * Lines on standard output:
 *   ready <memory limits> <core limits> | failed <reason>
 *   claimed <id> <pid> <start ticks> <boot id> | exists <id> | started <id> <ms> | ended <id> <exit record>
 *   rejected <id> <reason> | fault <id> <reason>     before it was claimed
 *   gone <id>       its first process has ended, and with it every other process
 *   unknown <id>    nothing to adopt or to stop
 * End of input ends the launcher, and so does a change of the host's mounts that it cannot follow (mount-watch.c); the
 * containers continue.
 */
#define _GNU_SOURCE
#include "launcher.h"
#include "translation/translated.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct launcher launcher;

/* A live container, found by its id for requests and by its pidfd when it ends. */
struct container {
  struct container *next;
  int pidfd;
  pid_t pid;
  bool adopted;
  struct limit_use use;
  char id[24];
};

static struct container *containers[4096];
static int poll_fd, frame_fd, mounts_fd;

static void poll_for(int fd, uint32_t events, void *what) {
  struct epoll_event event = {.events = events, .data.ptr = what};
  if (poll_fd < 0 || epoll_ctl(poll_fd, EPOLL_CTL_ADD, fd, &event) != 0) fail_launcher("could not poll");
}

static size_t bucket(const char *id) { return strtoul(id, NULL, 10) % (sizeof containers / sizeof containers[0]); }

static struct container *find(const char *id) {
  struct container *container = containers[bucket(id)];
  while (container != NULL && strcmp(container->id, id) != 0) container = container->next;
  return container;
}

static struct container *watch(const char *id, pid_t pid, int pidfd, bool adopted) {
  struct container *container = calloc(1, sizeof *container);
  if (container == NULL) _exit(74);
  snprintf(container->id, sizeof container->id, "%s", id);
  container->pid = pid;
  container->pidfd = pidfd;
  container->adopted = adopted;
  container->next = containers[bucket(id)];
  containers[bucket(id)] = container;
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = container};
  epoll_ctl(poll_fd, EPOLL_CTL_ADD, pidfd, &event);
  return container;
}

static void forget(struct container *container) {
  siginfo_t info = {.si_code = 0};
  if (!container->adopted) waitid((idtype_t)3 /* P_PIDFD */, (id_t)container->pidfd, &info, WEXITED);
  bool is_clean = info.si_code == CLD_EXITED && info.si_status != EXIT_WAS_OUT_OF_MEMORY;
  /* Closing is not enough: copies in first processes that were forked later would keep it in the poll set. */
  epoll_ctl(poll_fd, EPOLL_CTL_DEL, container->pidfd, NULL);
  close(container->pidfd);
  limits_release(&container->use, !is_clean);
  send_event("gone %s", container->id);
  struct container **link = &containers[bucket(container->id)];
  while (*link != container) link = &(*link)->next;
  *link = container->next;
  free(container);
}

struct fields {
  char *next, *end;
};

static char *take(struct fields *fields) {
  char *field = fields->next;
  char *nul = field < fields->end ? memchr(field, '\0', (size_t)(fields->end - field)) : NULL;
  if (nul == NULL) _exit(75); /* the service and this program have different versions */
  fields->next = nul + 1;
  return field;
}

static char **take_list(struct fields *fields) {
  size_t count = strtoul(take(fields), NULL, 10);
  char **list = calloc(count + 1, sizeof *list);
  if (list == NULL) _exit(74);
  for (size_t i = 0; i < count; i++) list[i] = take(fields);
  return list;
}

static void take_mounts(struct fields *fields, struct launch *launch) {
  launch->mount_count = strtoul(take(fields), NULL, 10);
  launch->mounts = calloc(launch->mount_count + 1, sizeof *launch->mounts);
  if (launch->mounts == NULL) _exit(74);
  for (size_t i = 0; i < launch->mount_count; i++) {
    struct mount_request *mount = &launch->mounts[i];
    mount->root = take(fields);
    mount->sub_path = take(fields);
    mount->is_file = strcmp(take(fields), "file") == 0;
    mount->target = take(fields);
    mount->is_read_only = strcmp(take(fields), "ro") == 0;
    mount->late = strcmp(take(fields), "1") == 0;
  }
}

/* Containers continue: the service starts another launcher, which adopts them. */
__attribute__((noreturn)) static void leave(void) {
  limits_close();
  _exit(0);
}

static void look_at_mounts(void) {
  enum mounts_change change = launcher.is_translating ? MOUNTS_SAME : mounts_look();
  if (change == MOUNTS_MISSED) leave();
  if (change == MOUNTS_CHANGED) templates_drop();
}

struct birth {
  struct launch *launch;
  int template_fd;
  struct limit_use use;
};

static void run_born(void *argument) {
  struct birth *birth = argument;
  if (launcher.is_translating) translated_run(birth->launch, &birth->use);
  container_run(birth->launch, birth->template_fd, &birth->use);
}

static void start(struct launch *launch) {
  struct failure failure;
  struct birth birth = {.launch = launch, .template_fd = -1};
  look_at_mounts();
  if (!launcher.is_translating) birth.template_fd = template_for(launch, &failure);
  if (birth.template_fd < 0 && !launcher.is_translating) {
    send_event("%s %s %s", failure.is_fault ? "fault" : "rejected", launch->id, failure.reason);
    return;
  }
  limits_acquire(&birth.use, launch);
  int pidfd = -1;
  const struct first first = {.run = run_born, .argument = &birth};
  pid_t pid = limits_fork(&birth.use, &first, &pidfd);
  /* The keeper of its cgroup was killed just now. */
  if (pid < 0 && errno == ESRCH) {
    limits_release(&birth.use, true);
    limits_acquire(&birth.use, launch);
    pid = limits_fork(&birth.use, &first, &pidfd);
  }
  if (pid < 0) {
    send_event("fault %s could not make a process: %s", launch->id, strerror(errno));
    limits_release(&birth.use, true);
    return;
  }
  watch(launch->id, pid, pidfd, false)->use = birth.use;
}

static void handle_launch(struct fields *fields) {
  struct launch launch = {.id = take(fields)};
  launch.key = take(fields);
  launch.directory = take(fields);
  launch.log_path = take(fields);
  launch.log_limit = strtoll(take(fields), NULL, 10);
  launch.working_directory = take(fields);
  launch.milli_cores = strtol(take(fields), NULL, 10);
  launch.memory_bytes = strtoll(take(fields), NULL, 10);
  take_mounts(fields, &launch);
  launch.argv = take_list(fields);
  launch.envp = take_list(fields);
  start(&launch);
  free(launch.mounts);
  free(launch.argv);
  free(launch.envp);
}

static void handle_adopt(struct fields *fields) {
  const char *id = take(fields), *pid = take(fields);
  unsigned long long wanted = strtoull(take(fields), NULL, 10), ticks = 0;
  long host_pid;
  pid_t number = (pid_t)strtol(pid, NULL, 10);
  int pidfd = sys_pidfd_open(number);
  /* Opened first and then checked: the PID cannot be reused in between. */
  if (pidfd >= 0 && read_process(launcher.proc_fd, pid, &host_pid, &ticks) && ticks == wanted) {
    watch(id, number, pidfd, true);
    send_event("adopted %s", id);
    return;
  }
  if (pidfd >= 0) close(pidfd);
  send_event("unknown %s", id);
}

static void handle_stop(struct fields *fields) {
  const char *id = take(fields);
  int grace = (int)strtol(take(fields), NULL, 10);
  struct container *container = find(id);
  if (container == NULL || sys_pidfd_queue(container->pidfd, SIGTERM, grace) != 0) send_event("unknown %s", id);
  else sys_signal_thread(container->pid, PROOF_SIGNAL);
}

static void handle_kill(struct fields *fields) {
  struct container *container = find(take(fields));
  if (container != NULL) sys_pidfd_queue(container->pidfd, SIGKILL, 0);
}

static void handle(char *frame, size_t length) {
  struct fields fields = {frame, frame + length};
  const char *verb = take(&fields);
  if (strcmp(verb, "launch") == 0) handle_launch(&fields);
  else if (strcmp(verb, "adopt") == 0) handle_adopt(&fields);
  else if (strcmp(verb, "stop") == 0) handle_stop(&fields);
  else if (strcmp(verb, "kill") == 0) handle_kill(&fields);
  else _exit(75);
}

static char *input;
static size_t input_size, input_used;

/* Returns false at the end of input. */
static bool read_frames(void) {
  if (input_size - input_used < 65536) {
    input_size = input_size * 2 + 131072;
    input = realloc(input, input_size);
    if (input == NULL) _exit(74);
  }
  ssize_t length = read(frame_fd, input + input_used, input_size - input_used);
  if (length <= 0) return length < 0 && (errno == EINTR || errno == EAGAIN);
  input_used += (size_t)length;
  size_t at = 0;
  while (input_used - at >= 4) {
    const unsigned char *head = (const unsigned char *)input + at;
    size_t size = head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16 | (size_t)head[3] << 24;
    if (input_used - at - 4 < size) break;
    handle(input + at + 4, size);
    at += 4 + size;
  }
  memmove(input, input + at, input_used - at);
  input_used -= at;
  return true;
}

static void open_descriptors(void) {
  /* Containers must not inherit the service's descriptors. */
  syscall(SYS_close_range, 3u, ~0u, 0u);
  launcher.event_fd = fcntl(1, F_DUPFD_CLOEXEC, 3);
  frame_fd = fcntl(0, F_DUPFD_CLOEXEC, 3);
  int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(nothing, 0);
  dup2(nothing, 1);
  close(nothing);
  signal(SIGPIPE, SIG_IGN);
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGCHLD);
  sigaddset(&blocked, SIGTERM);
  sigaddset(&blocked, PROOF_SIGNAL);
  sigprocmask(SIG_BLOCK, &blocked, NULL);
  umask(022);
  setsid();
}

int main(int argc, char **argv) {
  open_descriptors();
  if (argc < 3) return 75;
  launcher.masks = (const char **)argv + 3;
  launcher.mask_count = (size_t)argc - 3;
  if (strcmp(argv[1], "translation") == 0) {
    do_without_namespaces();
  } else {
    enter_namespaces();
    mounts_fd = mounts_enter();
  }
  read_boot_id();
  limits_open(argv[2]);
  struct launch none = {.mount_count = 0};
  struct failure failure;
  /* A file system that does not answer keeps containers from starting, but those of an earlier launcher can be stopped. */
  if (!launcher.is_translating && template_for(&none, &failure) < 0 && !builder_is_busy()) {
    send_event("failed %s", failure.reason);
    return 1;
  }
  drop_privileges();
  if (!launcher.is_translating) confine();
  poll_fd = epoll_create1(EPOLL_CLOEXEC);
  poll_for(frame_fd, EPOLLIN, NULL);
  if (!launcher.is_translating) poll_for(mounts_fd, EPOLLPRI, &mounts_fd);
  send_event("ready %s %s", limits_describe_memory(), limits_describe_cores());
  for (;;) {
    struct epoll_event events[64];
    int count = epoll_wait(poll_fd, events, 64, -1);
    for (int i = 0; i < count; i++) {
      if (events[i].data.ptr == &mounts_fd) look_at_mounts();
      else if (events[i].data.ptr != NULL) forget(events[i].data.ptr);
      else if (!read_frames()) leave();
    }
  }
}
