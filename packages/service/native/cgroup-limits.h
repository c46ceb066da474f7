/* The files of one cgroup that limit memory and cores. */
#ifndef SLUICE_CGROUP_LIMITS_H
#define SLUICE_CGROUP_LIMITS_H

#include <stdbool.h>

struct cgroup {
  int above; /* directory of the cgroup's own */
  char name[64];
  bool is_unified; /* v2 */
};

/* A limit of 0 is none. To set one is to write it and to read it again: what the kernel took is what counts. */
bool cgroup_set_memory(const struct cgroup *cgroup, long long bytes);
bool cgroup_set_cores(const struct cgroup *cgroup, long milli_cores);
/* Whether the cgroup has that limit, and nothing beside it that would undo it. */
bool cgroup_has_memory(const struct cgroup *cgroup, long long bytes);
bool cgroup_has_cores(const struct cgroup *cgroup, long milli_cores);

#endif
