/* Limits of a container: what the machine lets this user enforce, best first. */
#define _GNU_SOURCE
#include "launcher.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>


static cpu_set_t allowed;

void limits_open(const char *scope) {
  (void)scope;
  sched_getaffinity(0, sizeof allowed, &allowed);
}

const char *limits_describe_memory(void) { return "rlimit"; }
const char *limits_describe_cores(void) { return "affinity"; }

void limits_acquire(struct limit_slot *slot, const struct launch *launch) {
  *slot = (struct limit_slot){.memory_fd = -1, .cpu_fd = -1, .unified_fd = -1};
  slot->memory_bytes = launch->memory_bytes;
  slot->milli_cores = launch->milli_cores;
}

void limits_release(struct limit_slot *slot) { (void)slot; }
int limits_unified_fd(const struct limit_slot *slot) { return slot->unified_fd; }

void limits_enter(struct limit_slot *slot) {
  if (slot->memory_bytes > 0) {
    struct rlimit limit = {(rlim_t)slot->memory_bytes, (rlim_t)slot->memory_bytes};
    setrlimit(RLIMIT_DATA, &limit);
  }
}

bool limits_out_of_memory(const struct limit_slot *slot) {
  (void)slot;
  return false;
}
