/* A template, and the state while one is built (template.c, root.c). */
#ifndef SLUICE_TEMPLATE_H
#define SLUICE_TEMPLATE_H

#include "launcher.h"

#include <limits.h>
#include <time.h>

enum { COVERED = 64 };

/* A directory whose entries the template has copied: if it changes, the template is stale. */
struct covered {
  dev_t device;
  ino_t inode;
  struct timespec changed;
  char *path;
};

struct template {
  char *key;
  int ns_fd;
  unsigned long used;
  size_t masks; /* number of masked paths that existed: if another one appears, the template is stale */
  size_t covered_count;
  struct covered covered[COVERED];
};

struct building {
  int root_fd;
  struct launch *launch;
  char **targets; /* mount points, resolved on the host */
  size_t target_count;
  size_t entries;
  int *masks; /* mounts that hide masked paths */
  size_t mask_count;
  struct template *template;
  int error;
  char *reason;
  size_t reason_size;
};

/* root.c: sets the error and its reason, and returns false. */
bool building_fail(struct building *building, const char *what, const char *path);
/* Follows links in the existing part of a mount point, so that the rest is created at its real path. */
bool building_resolve(const char *target, char *resolved);
/* Builds it in a new mount namespace, in which the caller remains even after a failure. */
bool building_make(struct building *building);

#endif
