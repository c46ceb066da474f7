/* The files of one cgroup that limit memory and cores. */
#ifndef SLUICE_CGROUP_LIMITS_H
#define SLUICE_CGROUP_LIMITS_H

#include <stdbool.h>

struct cgroup {
  int above; /* directory of the cgroup */
  char name[64];
  bool is_unified; /* v2 */
};

/* A limit of 0 means none. After writing, the value is read back, because the kernel may not accept it unchanged. */
bool cgroup_set_memory(const struct cgroup *cgroup, long long bytes);
bool cgroup_set_cores(const struct cgroup *cgroup, long milli_cores);
/* Whether the cgroup has this limit, and no other setting that cancels it. */
bool cgroup_has_memory(const struct cgroup *cgroup, long long bytes);
bool cgroup_has_cores(const struct cgroup *cgroup, long milli_cores);

#endif
