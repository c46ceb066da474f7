/* The system calls that take paths: what their arguments mean, and the filter that makes the kernel tell us of them. */
#ifndef SLUICE_CALLS_H
#define SLUICE_CALLS_H

#include <stdbool.h>

/* How the last name of a path is taken if it is a link. */
enum last {
  FOLLOWED,
  KEPT,
  KEPT_IF_FLAG,     /* AT_SYMLINK_NOFOLLOW in `flags` */
  FOLLOWED_IF_FLAG, /* AT_SYMLINK_FOLLOW in `flags` */
  BY_OPEN_FLAGS,    /* O_NOFOLLOW, or O_CREAT with O_EXCL in `flags` */
  BY_OPEN_HOW,      /* the same in the structure of openat2 */
};

/* Indexes of arguments; -1 for none. */
struct path_argument {
  signed char directory, path;
  unsigned char last;
  signed char flags;
};

enum special { PLAIN, EXECUTES, BINDS, CONNECTS, TELLS_DIRECTORY, READS_LINK };

struct call {
  long number;
  unsigned char special;
  bool removes; /* and a mount point cannot be removed or moved */
  unsigned char count;
  struct path_argument paths[2];
};

/* NULL for what is no such call. */
const struct call *find_call(long number);
/* For this process and all that it starts: each of those calls stops it for its tracer. False with errno. */
bool filter_calls(void);

#endif
