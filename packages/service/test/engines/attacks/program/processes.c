/* Processes: those of the host, the container's first one, and rights that a process may take. */
#define _GNU_SOURCE
#include "attack.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* The victim's process has its number as its name. */
static void see_victim(void) {
  char wanted[32], path[300], name[32];
  snprintf(wanted, sizeof wanted, "victim-%u\n", victim);
  DIR *entries = opendir("/proc");
  for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
    snprintf(path, sizeof path, "/proc/%s/comm", entry->d_name);
    FILE *file = isdigit((unsigned char)entry->d_name[0]) ? fopen(path, "re") : NULL;
    if (file == NULL) continue;
    bool is_victim = fgets(name, sizeof name, file) != NULL && strcmp(name, wanted) == 0;
    fclose(file);
    if (is_victim) succeeded("saw the host's process %s", entry->d_name);
  }
  blocked(ESRCH);
}

static void open_of_first(const char *name, int flags) {
  char path[64];
  snprintf(path, sizeof path, "/proc/1/%s", name);
  int fd = open(path, flags | O_CLOEXEC);
  if (fd < 0) blocked(errno);
  succeeded("opened %s", path);
}
static void first_memory(void) { open_of_first("mem", O_RDWR); }
static void first_root(void) { open_of_first("root/", O_RDONLY); }
static void first_directory(void) { open_of_first("cwd/", O_RDONLY); }
static void first_files(void) { open_of_first("fd/0", O_RDONLY); }
static void first_environment(void) { open_of_first("environ", O_RDONLY); }
static void first_trace(void) { report_call(ptrace(PTRACE_SEIZE, 1, NULL, NULL), "traced PID 1"); }
static void first_read(void) {
  char byte;
  struct iovec own = {&byte, 1}, its = {(void *)0x400000, 1};
  report_call(process_vm_readv(1, &own, 1, &its, 1, 0), "read PID 1's memory");
}
static void first_descriptor(void) {
  int fd = (int)syscall(434, 1, 0);
  if (fd < 0) blocked(errno);
  report_call(syscall(438, fd, 0, 0), "took a descriptor of PID 1");
}

static void capabilities(void) {
  struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct all[2] = {{~0u, ~0u, ~0u}, {0x1ff, 0x1ff, 0x1ff}};
  report_call(syscall(SYS_capset, &head, all), "took all capabilities");
}
static void administrator(void) {
  struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct own[2] = {{0, 0, 0}, {0, 0, 0}};
  if (syscall(SYS_capget, &head, own) != 0) blocked(errno);
  if ((own[0].permitted & (1u << CAP_SYS_ADMIN)) == 0) blocked(EPERM);
  succeeded("has CAP_SYS_ADMIN");
}
/* A program with the setuid bit would gain rights. */
static void new_privileges(void) {
  if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) blocked(EPERM);
  succeeded("may gain rights by setuid programs");
}
static void priority(void) { report_call(setpriority(PRIO_PROCESS, 0, -20), "raised its priority"); }
static void real_time(void) {
  struct sched_param parameters = {.sched_priority = 99};
  report_call(sched_setscheduler(0, SCHED_FIFO, &parameters), "runs in real time");
}
static void resources(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max == RLIM_INFINITY) blocked(EPERM);
  limit.rlim_max++;
  report_call(setrlimit(RLIMIT_NOFILE, &limit), "raised a hard limit");
}
/* Whoever is bound to some processors may take others again. */
static void processors(void) {
  cpu_set_t own, all;
  if (sched_getaffinity(0, sizeof own, &own) != 0) blocked(errno);
  memset(&all, 0xff, sizeof all);
  if (sched_setaffinity(0, sizeof all, &all) != 0 || sched_getaffinity(0, sizeof all, &all) != 0) blocked(errno);
  if (CPU_COUNT(&all) <= CPU_COUNT(&own)) blocked(EPERM);
  succeeded("uses %d processors in the place of %d", CPU_COUNT(&all), CPU_COUNT(&own));
}
static void killable(void) {
  report_call(write_file("/proc/self/oom_score_adj", "-1000") ? 0 : -1, "cannot be killed for want of memory");
}

const struct attack process_attacks[] = {
    {"process-of-host", see_victim},
    {"process-first-memory", first_memory},
    {"process-first-root", first_root},
    {"process-first-directory", first_directory},
    {"process-first-files", first_files},
    {"process-first-environment", first_environment},
    {"process-first-ptrace", first_trace},
    {"process-first-read", first_read},
    {"process-first-descriptor", first_descriptor},
    {"process-capabilities", capabilities},
    {"process-administrator", administrator},
    {"process-new-privileges", new_privileges},
    {"process-priority", priority},
    {"process-real-time", real_time},
    {"process-hard-limit", resources},
    {"process-processors", processors},
    {"process-oom-score", killable},
    {NULL, NULL},
};
