/*
 * Maps the container's paths ("guest" paths) to the machine's ("host" paths): they are equal except for a few places. The
 * root is the empty string in both.
 */
#ifndef SLUICE_VIEW_H
#define SLUICE_VIEW_H

/* A mount point, the private /tmp, or a directory above a mount point that the host does not have. */
struct place {
  char *guest, *host;
};

void view_add(const char *guest, const char *host);
/* No effect if there is no place with exactly this path. */
void view_remove(const char *guest);
/* The place with exactly this path, or NULL. */
const struct place *view_at(const char *guest);
enum beneath { OUTSIDE, BENEATH, TOO_LONG };
/* Both take a path without links and a buffer of PATH_MAX; `OUTSIDE`: the path is the same on both sides. */
enum beneath view_to_host(const char *guest, char *host);
enum beneath view_to_guest(const char *host, char *guest);

#endif
