/* The system calls with paths: the meaning of their arguments, and the filter that makes the kernel report them. */
#ifndef SLUICE_CALLS_H
#define SLUICE_CALLS_H

#include <stdbool.h>

/* Whether a link at the end of a path is followed. */
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

enum special { PLAIN, EXECUTES, BINDS, CONNECTS, TELLS_DIRECTORY, TELLS_ADDRESS, TELLS_SENDER, READS_LINK };

/* The arguments of calls about sockets; the length follows the address. */
enum { ADDRESS = 1, SENDER = 4 };

struct call {
  long number;
  unsigned char special;
  bool removes; /* and a mount point cannot be removed or moved */
  unsigned char count;
  struct path_argument paths[2];
};

/* NULL for other calls. */
const struct call *find_call(long number);
/* Installs the filter for this process and its descendants: each of these calls stops for the tracer. False with errno. */
bool filter_calls(void);

#endif
