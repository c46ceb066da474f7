/* From a path as a program gives it to the place on the machine that it means. */
#ifndef SLUICE_WALK_H
#define SLUICE_WALK_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct walk {
  pid_t task; /* whose /proc/self it is */
  /* Results: */
  bool touched; /* it led through a place of the view in a way that the kernel alone would not have gone */
  char guest[PATH_MAX];
  char host[PATH_MAX];
};

/*
 * Follows each link on the way as the container would see it, and the last one if `follow`. `start` is where a relative
 * path begins, a guest path without links. What is missing is appended as it is. Gives 0 or an errno.
 */
int walk_path(struct walk *walk, const char *start, const char *path, bool follow);
/* A link of /proc that leads to a file and not to its name: /proc/<pid>/cwd, /proc/<pid>/fd/1 and the like. */
bool is_magic_link(const char *guest);

#endif
