/*
 * The file system as a container sees it ("guest" paths), and where that is on the machine ("host" paths): the host's
 * own, but for a few places. The root is the empty text in both.
 */
#ifndef SLUICE_VIEW_H
#define SLUICE_VIEW_H

#include "launcher.h"

/* A mount point, the private /tmp, or a directory above a mount point that the host does not have. */
struct place {
  char *guest, *host;
};

/* Throws the container out with the reason where it cannot be made. */
void view_make(const struct launch *launch);
void view_add(const char *guest, const char *host);
/* The place with exactly this path, or NULL. */
const struct place *view_at(const char *guest);
enum beneath { OUTSIDE, BENEATH, TOO_LONG };
/* Both take a path without links and a buffer of PATH_MAX; `OUTSIDE`: it is the same on both sides. */
enum beneath view_to_host(const char *guest, char *host);
enum beneath view_to_guest(const char *host, char *guest);

#endif
