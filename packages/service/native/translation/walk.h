/* Resolves a program's path to a path on the machine. */
#ifndef SLUICE_WALK_H
#define SLUICE_WALK_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct walk {
  pid_t task; /* whose /proc/self it is */
  /* Results: */
  bool touched; /* it was resolved differently than by the kernel alone */
  char guest[PATH_MAX];
  char host[PATH_MAX];
};

/*
 * Follows each link as seen in the container, and the last one if `follow`. `start` is the guest path, without links, of
 * relative paths. A missing rest is appended unchanged. Returns 0 or an errno.
 */
int walk_path(struct walk *walk, const char *start, const char *path, bool follow);
/* A link of /proc that refers to a file instead of a path: /proc/<pid>/cwd, /proc/<pid>/fd/1 and the like. */
bool is_magic_link(const char *guest);

#endif
