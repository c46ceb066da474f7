/* A process or thread of a container without namespaces, stopped at the system calls that calls.h lists. */
#ifndef SLUICE_TRACEE_H
#define SLUICE_TRACEE_H

#include "calls.h"
#include "registers.h"

enum pending {
  NOTHING,
  MAKING_ROOM,        /* a mmap of ours runs in the place of its call, which is made again then */
  RESTORING,          /* its arguments were replaced */
  TELLING_DIRECTORY,  /* the answer names a directory of the host */
  READING_MAGIC_LINK, /* the same of a link of /proc */
};

struct tracee {
  struct tracee *next;
  pid_t task;
  enum pending pending;
  struct registers entry; /* as the call was made */
  uint64_t room;          /* memory of its own for what we hand to the kernel, 0 for none yet */
  size_t room_size;
  bool has_executed;      /* its memory is its own since then */
  int socket_directory;   /* kept open while it binds or connects, else -1 */
};

/* translate.c: at the entry of a call, and at its end where true was given. */
bool translate_entry(struct tracee *tracee);
void translate_exit(struct tracee *tracee);

/* What a call is to get instead. Offsets are into the room. */
struct rewrite {
  struct registers registers;
  size_t used;
};

enum outcome { UNCHANGED, REWRITTEN, WAITING };

/* Where a path that the program gives relative to `directory` begins. */
bool start_of(const struct tracee *tracee, int directory, char *guest);
/* False where a mmap in the program has to make it first. */
bool has_room(struct tracee *tracee, size_t size);
/* Puts it into the room; 0 where that is not possible. */
uint64_t put(struct tracee *tracee, struct rewrite *rewrite, const void *data, size_t size);
/* The call is not made and ends with that errno. */
enum outcome refuse_call(struct tracee *tracee, struct rewrite *rewrite, int error);

/* translate-exec.c, translate-socket.c */
enum outcome translate_exec(struct tracee *tracee, const struct call *call, struct rewrite *rewrite);
enum outcome translate_socket(struct tracee *tracee, const struct call *call, struct rewrite *rewrite);

#endif
