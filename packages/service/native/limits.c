/*
 * Limits of a container: the best that this user can enforce on this machine.
 *
 *   cgroup v2   memory and cores of all processes of a container together, if a cgroup with these controllers can be
 *               created: as root, or where systemd has delegated one to the user
 *   cgroup v1   the same, as root
 *   rlimit      memory of each single process (RLIMIT_DATA)
 *   affinity    cores: the container may use only so many processors
 *
 * Creating and removing a cgroup costs more than starting a process, so empty ones are kept and reused ("slots"). Slots
 * are named after the launcher, which holds a lock on each; those of a dead launcher are removed once they are empty. The
 * lock counts, not the PID alone: services in other PID namespaces share the hierarchy, and their PIDs mean nothing here.
 */
#define _GNU_SOURCE
#include "cgroup-limits.h"
#include "launcher.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { IDLE_AT_MOST = 256 };

struct slot {
  struct slot *next;
  unsigned long number;
  long long memory_bytes;
  long milli_cores;
  bool has[2], is_set[2];
  int lock_fd;     /* locked while the launcher lives */
  int memory_fd;   /* file with the number of out-of-memory kills */
  int unified_fd;  /* directory to fork into (v2) */
  struct keeper *keeper; /* process to fork from (v1) */
};

/* Directories in which slots are created: for v1 one per controller, for v2 the same one twice. */
enum { MEMORY, CORES, CONTROLLERS };
static int group_fd[CONTROLLERS] = {-1, -1};
static bool is_unified;
static struct slot *idle;
static unsigned idle_count;
static unsigned long slot_numbers;
static long launcher_pid;
static cpu_set_t allowed;
static unsigned assigned[CPU_SETSIZE];

/* A directory with this name may belong to another user and be unusable. */
static int make_group(int above, const char *name) {
  char trial[32];
  snprintf(trial, sizeof trial, "%ld-0", launcher_pid);
  int group = make_directory(above, name);
  if (group < 0 || (mkdirat(group, trial, 0755) == 0 && unlinkat(group, trial, AT_REMOVEDIR) == 0)) return group;
  close(group);
  return -1;
}

/*
 * Searches upward from this process's cgroup for the first writable directory whose children get the memory controller. Not
 * the own cgroup itself: one that contains processes may not pass controllers down.
 */
static bool open_unified(const char *name) {
  char root[PATH_MAX], own[PATH_MAX], path[2 * PATH_MAX];
  if (!find_hierarchy(NULL, root, sizeof root) || !find_own(NULL, own, sizeof own)) return false;
  for (char *slash; (slash = strrchr(own, '/')) != NULL;) {
    *slash = '\0';
    snprintf(path, sizeof path, "%s%s", root, own);
    int above = open_directory(AT_FDCWD, path);
    int group = above >= 0 && gives_memory(above) ? make_group(above, name) : -1;
    if (above >= 0) close(above);
    if (group < 0) continue;
    if (write_at(group, "cgroup.subtree_control", "+memory")) {
      group_fd[MEMORY] = group;
      if (write_at(group, "cgroup.subtree_control", "+cpu")) group_fd[CORES] = group;
      return is_unified = true;
    }
    close(group);
  }
  return false;
}

static int open_legacy(const char *controller, const char *name) {
  char root[PATH_MAX], own[PATH_MAX], path[2 * PATH_MAX];
  if (!find_hierarchy(controller, root, sizeof root) || !find_own(controller, own, sizeof own)) return -1;
  /* In a container the path is often that of the host, which does not exist there. */
  snprintf(path, sizeof path, "%s%s", root, own);
  int above = open_directory(AT_FDCWD, path);
  if (above < 0) above = open_directory(AT_FDCWD, root);
  int group = above < 0 ? -1 : make_group(above, name);
  if (above >= 0) close(above);
  return group;
}

/* Closing another descriptor of the file in this process or a keeper would release the lock: nothing else opens it. */
static const char *lock_file(void) { return is_unified ? "cgroup.stat" : "cgroup.clone_children"; }

/*
 * Removes slots of launchers that have ended. Only empty ones can be removed; the others are checked again at the next
 * start.
 */
static void sweep(int controller) {
  int dir = group_fd[controller], locked = group_fd[MEMORY] >= 0 ? group_fd[MEMORY] : dir;
  int copy = open_directory(dir, ".");
  DIR *entries = copy < 0 ? NULL : fdopendir(copy);
  for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
    long pid = strtol(entry->d_name, NULL, 10);
    char of_process[32];
    snprintf(of_process, sizeof of_process, "%ld", pid);
    /* This launcher has created none yet: slots with its PID belong to an earlier one. */
    bool is_gone = pid == launcher_pid || (pid > 0 && faccessat(launcher.proc_fd, of_process, F_OK, 0) != 0);
    if (is_gone && !is_locked(locked, entry->d_name, lock_file())) unlinkat(dir, entry->d_name, AT_REMOVEDIR);
  }
  if (entries != NULL) closedir(entries);
}

void limits_open(const char *scope) {
  sched_getaffinity(0, sizeof allowed, &allowed);
  launcher_pid = getpid();
  if (!open_unified(scope)) {
    group_fd[MEMORY] = open_legacy("memory", scope);
    group_fd[CORES] = open_legacy("cpu", scope);
  }
  for (int i = 0; i < CONTROLLERS; i++) {
    if (group_fd[i] >= 0) sweep(i);
  }
}

const char *limits_describe_memory(void) {
  if (group_fd[MEMORY] < 0) return "rlimit";
  return is_unified ? "cgroup2" : "cgroup1";
}

const char *limits_describe_cores(void) {
  if (group_fd[CORES] < 0) return "affinity";
  return is_unified ? "cgroup2" : "cgroup1";
}

static void name_slot(const struct slot *slot, char *name, size_t size) {
  snprintf(name, size, "%ld-%lu", launcher_pid, slot->number);
}

static void close_slot(struct slot *slot) {
  char name[64];
  name_slot(slot, name, sizeof name);
  keeper_destroy(slot->keeper);
  if (slot->lock_fd >= 0) close(slot->lock_fd);
  if (slot->memory_fd >= 0) close(slot->memory_fd);
  if (slot->unified_fd >= 0) close(slot->unified_fd);
  for (int i = 0; i < CONTROLLERS; i++) {
    if (slot->has[i]) unlinkat(group_fd[i], name, AT_REMOVEDIR);
  }
  free(slot);
}

static bool write_slot(const struct slot *slot, int controller, const char *file, const char *text) {
  char name[64], path[128];
  name_slot(slot, name, sizeof name);
  snprintf(path, sizeof path, "%s/%s", name, file);
  return slot->has[controller] && write_at(group_fd[controller], path, text);
}

static bool enter_slot(void *argument) {
  const struct slot *slot = argument;
  for (int i = 0; i < CONTROLLERS; i++) {
    if (slot->has[i] && !write_slot(slot, i, "cgroup.procs", "0")) return false;
  }
  return true;
}

/* False if the name exists: it belongs to an earlier launcher with this PID, with old counters and limits. */
static bool make_groups(struct slot *slot) {
  char name[64];
  name_slot(slot, name, sizeof name);
  for (int i = 0; i < CONTROLLERS; i++) {
    if (is_unified && i != MEMORY) slot->has[i] = group_fd[i] >= 0 && slot->has[MEMORY];
    else slot->has[i] = group_fd[i] >= 0 && mkdirat(group_fd[i], name, 0755) == 0;
    if (slot->has[i] || group_fd[i] < 0 || errno != EEXIST) continue;
    while (--i >= 0) {
      if (slot->has[i]) unlinkat(group_fd[i], name, AT_REMOVEDIR);
    }
    return false;
  }
  return true;
}

static struct slot *make_slot(void) {
  struct slot *slot = calloc(1, sizeof *slot);
  if (slot == NULL) return NULL;
  slot->lock_fd = slot->memory_fd = slot->unified_fd = -1;
  do slot->number = ++slot_numbers;
  while (!make_groups(slot));
  char name[64], path[128];
  name_slot(slot, name, sizeof name);
  int locked = slot->has[MEMORY] ? group_fd[MEMORY] : group_fd[CORES];
  slot->lock_fd = lock_directory(locked, name, lock_file());
  /* A sweep may have removed it before it was locked. */
  if (faccessat(locked, name, F_OK, 0) != 0) {
    close_slot(slot);
    return NULL;
  }
  snprintf(path, sizeof path, "%s/%s", name, is_unified ? "memory.events" : "memory.oom_control");
  if (slot->has[MEMORY]) slot->memory_fd = openat(group_fd[MEMORY], path, O_RDONLY | O_CLOEXEC);
  if (is_unified) slot->unified_fd = open_directory(group_fd[MEMORY], name);
  else slot->keeper = keeper_create(enter_slot, slot);
  if (slot->unified_fd >= 0 || slot->keeper != NULL) return slot;
  close_slot(slot);
  return NULL;
}

static struct cgroup cgroup_of(const struct slot *slot, int controller) {
  struct cgroup cgroup = {.above = group_fd[controller], .is_unified = is_unified};
  name_slot(slot, cgroup.name, sizeof cgroup.name);
  return cgroup;
}

static bool set_memory(struct slot *slot, long long bytes) {
  const struct cgroup cgroup = cgroup_of(slot, MEMORY);
  slot->memory_bytes = bytes;
  return slot->is_set[MEMORY] = slot->has[MEMORY] && cgroup_set_memory(&cgroup, bytes);
}

static bool set_cores(struct slot *slot, long milli_cores) {
  const struct cgroup cgroup = cgroup_of(slot, CORES);
  slot->milli_cores = milli_cores;
  return slot->is_set[CORES] = slot->has[CORES] && cgroup_set_cores(&cgroup, milli_cores);
}

/* Whether it still has its keeper and the limits of its last use. If not, another program has changed it. */
static bool is_untouched(const struct slot *slot) {
  if (slot->keeper != NULL && !keeper_lives(slot->keeper)) return false;
  const struct cgroup memory = cgroup_of(slot, MEMORY), cores = cgroup_of(slot, CORES);
  return (!slot->is_set[MEMORY] || cgroup_has_memory(&memory, slot->memory_bytes)) &&
         (!slot->is_set[CORES] || cgroup_has_cores(&cores, slot->milli_cores));
}

/* An idle slot, preferably one with these limits; NULL if there is none. */
static struct slot *take_idle(long long memory_bytes, long milli_cores) {
  struct slot **link = &idle;
  while (*link != NULL && ((*link)->memory_bytes != memory_bytes || (*link)->milli_cores != milli_cores))
    link = &(*link)->next;
  if (*link == NULL) link = &idle;
  struct slot *slot = *link;
  if (slot == NULL) return NULL;
  *link = slot->next;
  idle_count--;
  return slot;
}

static struct slot *take_slot(long long memory_bytes, long milli_cores) {
  for (struct slot *slot; (slot = take_idle(memory_bytes, milli_cores)) != NULL; close_slot(slot)) {
    if (is_untouched(slot)) return slot;
  }
  return make_slot();
}

static void choose_processors(struct limit_use *use, long milli_cores) {
  size_t wanted = (size_t)((milli_cores + 999) / 1000);
  CPU_ZERO(&use->processors);
  for (size_t chosen = 0; chosen < wanted && chosen < (size_t)CPU_COUNT(&allowed); chosen++) {
    int best = -1;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
      bool is_free = CPU_ISSET(cpu, &allowed) && !CPU_ISSET(cpu, &use->processors);
      if (is_free && (best < 0 || assigned[cpu] < assigned[best])) best = cpu;
    }
    CPU_SET(best, &use->processors);
    assigned[best]++;
  }
  use->has_processors = true;
}

/* A limit of 0 means none, and so does a limit of all the machine's cores. */
void limits_acquire(struct limit_use *use, const struct launch *launch) {
  *use = (struct limit_use){.slot = NULL};
  long long memory_bytes = launch->memory_bytes > 0 ? launch->memory_bytes : 0;
  long milli_cores = launch->milli_cores < 1000L * CPU_COUNT(&allowed) ? launch->milli_cores : 0;
  bool can_memory = group_fd[MEMORY] >= 0, can_cores = group_fd[CORES] >= 0;
  if ((memory_bytes > 0 && can_memory) || (milli_cores > 0 && can_cores)) use->slot = take_slot(memory_bytes, milli_cores);
  if (use->slot != NULL) {
    bool is_same = use->slot->memory_bytes == memory_bytes && use->slot->milli_cores == milli_cores;
    bool is_kept = is_same && use->slot->is_set[MEMORY] && use->slot->is_set[CORES];
    use->memory = is_kept || set_memory(use->slot, memory_bytes);
    use->cores = is_kept || set_cores(use->slot, milli_cores);
  }
  if (!use->memory) use->data_bytes = memory_bytes;
  if (!use->cores && milli_cores > 0) choose_processors(use, milli_cores);
}

void limits_release(struct limit_use *use, bool is_spoilt) {
  for (int cpu = 0; use->has_processors && cpu < CPU_SETSIZE; cpu++) {
    if (CPU_ISSET(cpu, &use->processors)) assigned[cpu]--;
  }
  struct slot *slot = use->slot;
  if (slot == NULL) return;
  if (is_spoilt || idle_count >= IDLE_AT_MOST) {
    close_slot(slot);
    return;
  }
  slot->next = idle;
  idle = slot;
  idle_count++;
}

void limits_close(void) {
  while (idle != NULL) {
    struct slot *slot = idle;
    idle = slot->next;
    close_slot(slot);
  }
}

pid_t limits_fork(const struct limit_use *use, const struct first *first, int *pidfd) {
  if (use->slot != NULL && use->slot->keeper != NULL) return keeper_start(use->slot->keeper, first, pidfd);
  pid_t pid = sys_clone_first(pidfd, use->slot == NULL ? -1 : use->slot->unified_fd, false);
  if (pid == 0) first->run(first->argument);
  return pid;
}

/*
 * Called in the command's process before exec: limits that processes inherit and that must not apply to the first process.
 */
void limits_apply(const struct limit_use *use) {
  if (use->has_processors) sched_setaffinity(0, sizeof use->processors, &use->processors);
  if (use->data_bytes > 0) {
    struct rlimit limit = {(rlim_t)use->data_bytes, (rlim_t)use->data_bytes};
    setrlimit(RLIMIT_DATA, &limit);
  }
}

int limits_file(const struct limit_use *use) { return use->memory ? use->slot->memory_fd : -1; }

bool limits_out_of_memory(const struct limit_use *use) {
  char text[512];
  if (!use->memory) return false;
  ssize_t length = pread(use->slot->memory_fd, text, sizeof text - 1, 0);
  if (length <= 0) return false;
  text[length] = '\0';
  const char *count = strstr(text, "oom_kill ");
  return count != NULL && strtol(count + strlen("oom_kill "), NULL, 10) > 0;
}
