/*
 * Records are symbolic links in the container's directory, since symlink(2) creates name and content
 * atomically and never overwrites:
 *
 *   claim -> <pid> <start ticks> <boot id>                       before anything runs: its creator starts the container
 *   exit  -> exited <code> <signal> <out of memory> <started ms> <ended ms>
 *            stopped <started ms> <ended ms>
 *            rejected <ended ms> <reason>      the request cannot be fulfilled
 *            fault <ended ms> <reason>        the machine failed
 */
#ifndef SLUICE_CONTAINER_RECORD_H
#define SLUICE_CONTAINER_RECORD_H

#include "launcher.h"

#include <errno.h>

struct ending {
  bool stopped; /* requested by the service */
  int status;   /* as of waitpid */
};

/* Ends this process if another one holds the claim. */
void claim_container(const struct launch *launch);
/* The container's directory (O_PATH), valid after the claim. */
int container_directory(void);
void record_ending(const struct ending *ending, long long started, bool met_limit);
/* `kind` is `rejected` or `fault`. */
__attribute__((noreturn, format(printf, 2, 3))) void give_up(const char *kind, const char *format, ...);

#define reject(...) give_up("rejected", __VA_ARGS__)
#define fault(...) give_up("fault", __VA_ARGS__)
/* A shortage of the machine's resources is temporary and not caused by the container. */
static inline bool is_shortage(int error) { return error == EMFILE || error == ENFILE || error == ENOMEM; }
#define reject_for(error, ...) give_up(is_shortage(error) ? "fault" : "rejected", __VA_ARGS__)

#endif
