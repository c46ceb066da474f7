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

/* Longer than a build takes on a busy machine. The launcher handles nothing else meanwhile. */
enum { BUILT_WITHIN_MS = 5000 };

static struct template templates[TEMPLATES];
static unsigned long uses;

static void drop(struct template *template) {
  if (template->key == NULL) return;
  free(template->key);
  free(template->masks);
  close(template->ns_fd);
  for (size_t i = 0; i < template->covered_count; i++) free(template->covered[i].path);
  memset(template, 0, sizeof *template);
}

/* The mounts have changed since a build began. */
static bool is_outdated;

void templates_drop(void) {
  is_outdated = true;
  for (size_t i = 0; i < TEMPLATES; i++) drop(&templates[i]);
}

/* Only masked paths on local file systems are looked at: the others may not answer, and the launcher would wait for them. */
static bool has_same_masks(const struct template *template) {
  for (size_t i = 0; i < launcher.mask_count; i++) {
    struct stat status;
    if (template->masks[i] == MASK_REMOTE) continue;
    if ((stat(launcher.masks[i], &status) == 0) != (template->masks[i] == MASK_LOCAL)) return false;
  }
  return true;
}

static bool is_fresh(const struct template *template) {
  if (!has_same_masks(template)) return false;
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

/* The key of the template that is being built. */
static char *building_key;

/* Replaces the template of `building_key`; returns its descriptor. */
static int keep(const struct built *built, int ns_fd) {
  struct template *template = slot_for(building_key);
  drop(template);
  *template = (struct template){.key = building_key, .ns_fd = ns_fd, .used = ++uses, .covered_count = built->covered_count};
  template->masks = malloc(launcher.mask_count + 1);
  if (template->masks == NULL) _exit(74);
  memcpy(template->masks, built->masks, launcher.mask_count);
  for (size_t i = 0; i < built->covered_count; i++) {
    template->covered[i] = (struct covered){.device = built->covered[i].device, .inode = built->covered[i].inode,
                                            .changed = built->covered[i].changed, .path = strdup(built->covered[i].path)};
    if (template->covered[i].path == NULL) _exit(74);
  }
  return ns_fd;
}

/* Keeps what an earlier build has made meanwhile. False if it still waits. */
static bool finish_earlier(void) {
  if (!builder_is_busy()) return true;
  int ns_fd;
  const struct built *built = builder_await(0, &ns_fd);
  if (built == NULL) return false;
  if (ns_fd >= 0 && !is_outdated) {
    keep(built, ns_fd);
    return true;
  }
  if (ns_fd >= 0) close(ns_fd);
  free(building_key);
  return true;
}

static int fail_silent(struct failure *failure) {
  *failure = (struct failure){"could not build the root: a file system of this machine does not answer", true};
  return -1;
}

/* The service sends mounts sorted by target, so equal sets have equal keys. */
int template_for(struct launch *launch, struct failure *failure) {
  char *key = key_of(launch);
  bool is_free = finish_earlier();
  struct template *template = slot_for(key);
  if (template->key != NULL && strcmp(template->key, key) == 0 && is_fresh(template)) {
    free(key);
    template->used = ++uses;
    return template->ns_fd;
  }
  if (!is_free) {
    free(key);
    return fail_silent(failure);
  }
  if (!builder_start(launch)) {
    *failure = (struct failure){.is_fault = true};
    snprintf(failure->reason, sizeof failure->reason, "could not make a process: %s", strerror(errno));
    free(key);
    return -1;
  }
  building_key = key;
  is_outdated = false;
  int ns_fd;
  const struct built *built = builder_await(BUILT_WITHIN_MS, &ns_fd);
  if (built == NULL) return fail_silent(failure);
  if (ns_fd >= 0) return keep(built, ns_fd);
  failure->is_fault = built->is_fault;
  snprintf(failure->reason, sizeof failure->reason, "%s", built->reason);
  free(key);
  return -1;
}
