/* Reads the counter of the memory cgroup inside the container, because some daemon versions do not report it. */
#define _GNU_SOURCE
#include "first-process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool counts_kills(const char *path) {
  FILE *file = fopen(path, "re");
  if (file == NULL) return false;
  char line[256];
  long kills = 0;
  while (fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, "oom_kill ", 9) == 0) kills = strtol(line + 9, NULL, 10);
  }
  fclose(file);
  return kills > 0;
}

bool memory_ran_out(void) {
  /* cgroup v1: the container's cgroup is mounted there. */
  if (counts_kills("/sys/fs/cgroup/memory/memory.oom_control")) return true;
  /* cgroup v2: the path is `/` with a cgroup namespace, otherwise that of the container's cgroup. */
  FILE *file = fopen("/proc/self/cgroup", "re");
  if (file == NULL) return false;
  char line[4096], path[4200];
  bool found = false;
  while (!found && fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, "0::", 3) != 0) continue;
    line[strcspn(line, "\n")] = '\0';
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.events", line + 3);
    found = counts_kills(path);
  }
  fclose(file);
  return found;
}
