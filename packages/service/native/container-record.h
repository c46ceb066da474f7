/*
 * Records are symbolic links in the container's directory, since symlink(2) makes name and content in one step that
 * either happens or does not, and never overwrites:
 *
 *   claim -> <pid> <start ticks> <boot id>                       before anything runs: whoever makes it starts it
 *   exit  -> exited <code> <signal> <out of memory> <started ms> <ended ms>
 *            stopped <started ms> <ended ms>
 *            refused <ended ms> <reason>      its own fault
 *            fault <ended ms> <reason>        the machine's
 */
#ifndef SLUICE_CONTAINER_RECORD_H
#define SLUICE_CONTAINER_RECORD_H

#include "launcher.h"

#include <errno.h>

struct ending {
  bool stopped; /* by the service's wish */
  int status;   /* as of waitpid */
};

/* Ends this process where another one has the claim. */
void claim_container(const struct launch *launch);
/* The container's directory, O_PATH, once it is claimed. */
int container_directory(void);
void record_ending(const struct ending *ending, long long started, bool met_limit);
/* `kind` is `refused` or `fault`. */
__attribute__((noreturn, format(printf, 2, 3))) void give_up(const char *kind, const char *format, ...);

#define refuse(...) give_up("refused", __VA_ARGS__)
#define fault(...) give_up("fault", __VA_ARGS__)
/* What the machine is short of is not the container's fault, and passes. */
static inline bool is_shortage(int error) { return error == EMFILE || error == ENFILE || error == ENOMEM; }
#define refuse_for(error, ...) give_up(is_shortage(error) ? "fault" : "refused", __VA_ARGS__)

#endif
