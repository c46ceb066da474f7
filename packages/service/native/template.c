/*
 * Templates: mount namespaces that are created once and cloned for each container, because building a root of twenty
 * bind mounts for each container would cost more than the rest of a start.
 *
 * root.c describes the content of a template. Containers with the same mount points share one.
 *
 *   host namespace --unshare, build, pivot_root--> template --unshare--> container
 */
#define _GNU_SOURCE
#include "template.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEMPLATES = 64 };

static struct template templates[TEMPLATES];
static unsigned long uses;

static void drop(struct template *template) {
  if (template->key == NULL) return;
  free(template->key);
  close(template->ns_fd);
  for (size_t i = 0; i < template->covered_count; i++) free(template->covered[i].path);
  memset(template, 0, sizeof *template);
}

void templates_drop(void) {
  for (size_t i = 0; i < TEMPLATES; i++) drop(&templates[i]);
}

static size_t count_masks(void) {
  size_t count = 0;
  struct stat status;
  for (size_t i = 0; i < launcher.mask_count; i++) count += stat(launcher.masks[i], &status) == 0;
  return count;
}

static bool is_fresh(const struct template *template) {
  if (count_masks() != template->masks) return false;
  for (size_t i = 0; i < template->covered_count; i++) {
    const struct covered *covered = &template->covered[i];
    struct stat status;
    if (stat(covered->path, &status) != 0 || status.st_ino != covered->inode || status.st_dev != covered->device ||
        status.st_mtim.tv_sec != covered->changed.tv_sec || status.st_mtim.tv_nsec != covered->changed.tv_nsec)
      return false;
  }
  return true;
}

static char *key_of(const struct launch *launch) {
  size_t size = 1;
  for (size_t i = 0; i < launch->mount_count; i++) size += strlen(launch->mounts[i].target) + 2;
  char *key = calloc(1, size), *end = key;
  for (size_t i = 0; key != NULL && i < launch->mount_count; i++) {
    if (!launch->mounts[i].late) end += sprintf(end, "%c%s\n", launch->mounts[i].is_file ? 'f' : 'd', launch->mounts[i].target);
  }
  return key;
}

static struct template *slot_for(const char *key) {
  struct template *oldest = &templates[0];
  for (size_t i = 0; i < TEMPLATES; i++) {
    if (templates[i].key != NULL && strcmp(templates[i].key, key) == 0) return &templates[i];
    if (templates[i].used < oldest->used) oldest = &templates[i];
  }
  return oldest;
}

/* Whether it could succeed at another time, or with another request. */
static bool is_want(int error) {
  return error == ENOSPC || error == ENOMEM || error == EMFILE || error == ENFILE || error == EAGAIN || error == EPERM;
}

static bool add_target(struct building *building, const char *target) {
  char resolved[PATH_MAX];
  errno = ENAMETOOLONG;
  if (!building_resolve(target, resolved)) return building_fail(building, "could not resolve", target);
  char *kept = strdup(resolved);
  if (kept == NULL) _exit(74);
  building->targets[building->target_count++] = kept;
  return true;
}

/* The service sends mounts sorted by target, so equal sets have equal keys. Returns -1 with a reason. */
int template_for(struct launch *launch, char *reason, size_t reason_size, bool *is_fault) {
  char *key = key_of(launch);
  struct template *template = slot_for(key);
  if (template->key != NULL && strcmp(template->key, key) == 0 && is_fresh(template)) {
    free(key);
    template->used = ++uses;
    return template->ns_fd;
  }
  drop(template);
  static struct building building;
  memset(&building, 0, sizeof building);
  building.root_fd = -1;
  building.launch = launch;
  building.template = template;
  template->masks = count_masks();
  building.targets = calloc(launch->mount_count + 1, sizeof *building.targets);
  if (building.targets == NULL) _exit(74);
  building.reason = reason;
  building.reason_size = reason_size;
  bool good = true;
  for (size_t i = 0; good && i < launch->mount_count; i++) {
    if (launch->mounts[i].late) continue;
    good = add_target(&building, launch->mounts[i].target);
  }
  good = good && building_make(&building);
  for (size_t i = 0; i < building.target_count; i++) free(building.targets[i]);
  free(building.targets);
  for (size_t i = 0; i < building.mask_count; i++) close(building.masks[i]);
  free(building.masks);
  template->key = key;
  template->ns_fd = good ? openat(launcher.proc_fd, "self/ns/mnt", O_RDONLY | O_CLOEXEC) : -1;
  template->used = ++uses;
  if (building.root_fd >= 0) close(building.root_fd);
  if (setns(launcher.host_ns_fd, CLONE_NEWNS) != 0) _exit(70);
  int result = template->ns_fd;
  *is_fault = is_want(building.error);
  if (result < 0) drop(template);
  return result;
}
