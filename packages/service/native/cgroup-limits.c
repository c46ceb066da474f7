#define _GNU_SOURCE
#include "cgroup-limits.h"
#include "launcher.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PERIOD_US = 100000 };

/* A file of a cgroup and its required content; no file if this cgroup version does not need it. */
struct setting {
  const char *file;
  char text[48];
  bool may_be_missing;
};

static void list_memory(struct setting settings[2], bool is_unified, long long bytes) {
  long long page = sysconf(_SC_PAGESIZE);
  settings[0] = (struct setting){is_unified ? "memory.max" : "memory.limit_in_bytes", "max", false};
  /* Without this, the container would swap instead of reaching its limit. */
  settings[1] = (struct setting){is_unified ? "memory.swap.max" : "memory.swappiness", "0", true};
  /* The kernel counts whole pages. */
  if (bytes > 0 || !is_unified)
    snprintf(settings[0].text, sizeof settings[0].text, "%lld", (bytes > 0 ? bytes : LLONG_MAX) / page * page);
}

static void list_cores(struct setting settings[2], bool is_unified, long milli_cores) {
  long quota = milli_cores > 0 ? milli_cores * (PERIOD_US / 1000) : -1;
  settings[0] = (struct setting){is_unified ? "cpu.max" : "cpu.cfs_period_us", "", false};
  settings[1] = (struct setting){is_unified ? NULL : "cpu.cfs_quota_us", "", false};
  if (!is_unified) snprintf(settings[0].text, sizeof settings[0].text, "%d", PERIOD_US);
  else if (quota < 0) snprintf(settings[0].text, sizeof settings[0].text, "max %d", PERIOD_US);
  else snprintf(settings[0].text, sizeof settings[0].text, "%ld %d", quota, PERIOD_US);
  snprintf(settings[1].text, sizeof settings[1].text, "%ld", quota);
}

static bool is_held(const struct cgroup *cgroup, const struct setting *setting) {
  char path[128], text[sizeof setting->text + 1];
  if (setting->file == NULL) return true;
  snprintf(path, sizeof path, "%s/%s", cgroup->name, setting->file);
  if (!read_at(cgroup->above, path, text, sizeof text)) return setting->may_be_missing && errno == ENOENT;
  text[strcspn(text, "\n")] = '\0';
  return strcmp(text, setting->text) == 0;
}

static bool set(const struct cgroup *cgroup, const struct setting *setting) {
  char path[128];
  if (is_held(cgroup, setting)) return true;
  snprintf(path, sizeof path, "%s/%s", cgroup->name, setting->file);
  write_at(cgroup->above, path, setting->text);
  return is_held(cgroup, setting);
}

bool cgroup_set_memory(const struct cgroup *cgroup, long long bytes) {
  struct setting settings[2];
  list_memory(settings, cgroup->is_unified, bytes);
  return set(cgroup, &settings[0]) && set(cgroup, &settings[1]);
}

bool cgroup_set_cores(const struct cgroup *cgroup, long milli_cores) {
  struct setting settings[2];
  list_cores(settings, cgroup->is_unified, milli_cores);
  return set(cgroup, &settings[0]) && set(cgroup, &settings[1]);
}

bool cgroup_has_memory(const struct cgroup *cgroup, long long bytes) {
  struct setting settings[2];
  list_memory(settings, cgroup->is_unified, bytes);
  return is_held(cgroup, &settings[0]) && is_held(cgroup, &settings[1]);
}

bool cgroup_has_cores(const struct cgroup *cgroup, long milli_cores) {
  struct setting settings[2];
  list_cores(settings, cgroup->is_unified, milli_cores);
  return is_held(cgroup, &settings[0]) && is_held(cgroup, &settings[1]);
}
