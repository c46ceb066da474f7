/* A process or thread of a container without namespaces, stopped at the system calls that calls.h lists. */
#ifndef SLUICE_TRACEE_H
#define SLUICE_TRACEE_H

#include "calls.h"
#include "registers.h"

enum pending {
  NOTHING,
  MAKING_ROOM,        /* our mmap replaces the call, which is then made again */
  RESTORING,          /* its arguments were replaced */
  TELLING_DIRECTORY,  /* the result is a host path of a directory */
  TELLING_ADDRESS,    /* the result may be the host path of a socket */
  READING_MAGIC_LINK, /* the same for a link of /proc */
};

struct memory;

struct tracee {
  struct tracee *next;
  pid_t task;
  enum pending pending;
  struct registers entry; /* at the entry of the call */
  uint64_t room;          /* memory in the process for the arguments that we replace, 0 for none yet */
  size_t room_size;
  bool borrows_room;      /* it is the parent's, which waits */
  struct memory *memory;  /* which other tasks may have, too; NULL if not yet known */
  bool has_executed;      /* its memory is not shared since then */
  int address_argument;   /* the buffer for the address of a socket */
  uint32_t address_size;  /* its size */
  int socket_directory;   /* open while it binds or connects, otherwise -1 */
};

/* translate.c: at the entry of a call, and, if that returned true, at its end. */
bool translate_entry(struct tracee *tracee);
void translate_exit(struct tracee *tracee);

/* The replaced arguments of a call. Offsets are into the room. */
struct rewrite {
  struct registers registers;
  size_t used;
};

enum outcome { UNCHANGED, REWRITTEN, WAITING };

/* rewrite.c */
/* Enough for the path of a call; more is mapped for more. */
enum { ROOM_BYTES = 16384 };
/* The guest path from which a path relative to `directory` starts. */
bool start_of(const struct tracee *tracee, int directory, char *guest);
/* False if a mmap in the program must create it first. */
bool has_room(struct tracee *tracee, size_t size);
/* Writes it into the room; 0 if that is not possible. */
uint64_t put(struct tracee *tracee, struct rewrite *rewrite, const void *data, size_t size);
/* Prevents the call, which then fails with that errno. */
enum outcome reject_call(struct tracee *tracee, struct rewrite *rewrite, int error);

/* rooms.c */
/* After the birth of `child`: the memory of a child is its parent's or a copy of it, in which the parent's room exists, too. */
void rooms_inherit(struct tracee *parent, struct tracee *child);
/* Reuses a room of at least this size that another task has left; false if there is none. */
bool rooms_take(struct tracee *tracee, size_t size);
/* The task has ended or has a new memory. */
void rooms_leave(struct tracee *tracee);

/* translate-exec.c, translate-socket.c */
enum outcome translate_exec(struct tracee *tracee, const struct call *call, struct rewrite *rewrite);
/* Before and after a call that tells the address of a socket. */
void expect_address(struct tracee *tracee, int argument);
void tell_address(const struct tracee *tracee);
enum outcome translate_socket(struct tracee *tracee, const struct call *call, struct rewrite *rewrite);

#endif
