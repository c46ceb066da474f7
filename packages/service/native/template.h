/* A template, and the state while one is built (template.c, template-builder.c, root.c). */
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

/* Where a masked path was when a template was built: if it appears or disappears, the template is stale. */
enum mask_state {
  MASK_MISSING,
  MASK_LOCAL,
  MASK_REMOTE, /* on a file system that may stop answering: not looked at again before the mounts change */
};

struct template {
  char *key;
  int ns_fd;
  unsigned long used;
  char *masks; /* the state of each masked path */
  size_t covered_count;
  struct covered covered[COVERED];
};

/* What the process that builds a template writes; shared with the launcher. */
struct built {
  int error;
  bool is_fault;
  char reason[512];
  size_t covered_count;
  struct {
    dev_t device;
    ino_t inode;
    struct timespec changed;
    char path[PATH_MAX];
  } covered[COVERED];
  char masks[]; /* as in a template */
};

struct building {
  int root_fd;
  struct launch *launch;
  char **targets; /* mount points, resolved on the host */
  size_t target_count;
  size_t entries;
  int *masks; /* mounts that hide masked paths */
  size_t mask_count;
  struct built *built;
};

/* root.c: sets the error and its reason, and returns false. */
bool building_fail(struct building *building, const char *what, const char *path);
/* Follows links in the existing part of a mount point, so that the rest is created at its real path. */
bool building_resolve(const char *target, char *resolved);
/* Builds it in a new mount namespace, in which the caller remains even after a failure. */
bool building_make(struct building *building);

/* template-builder.c */
/* May not return as long as a file system does not answer. */
enum mask_state mask_state_of(const char *path);
/* Starts to build one; false with errno. Call it only if the builder is not busy. */
bool builder_start(struct launch *launch);
/*
 * The result, with the namespace or -1 after a failure; valid until the next start. NULL if it is not there within `wait_ms`
 * (-1: no limit).
 */
const struct built *builder_await(int wait_ms, int *ns_fd);

#endif
