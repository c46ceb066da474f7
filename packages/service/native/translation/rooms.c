/*
 * Rooms: memory in a process for the arguments that we replace. Each task has its own, because those of one memory run
 * concurrently. The room of a task that has ended is given to the next one with the same memory.
 */
#define _GNU_SOURCE
#include "tracee.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

struct room {
  struct room *next;
  uint64_t address;
  size_t size;
};

struct memory {
  unsigned users;
  struct room *free;
};

/* Leaves the room for others with the same memory. */
static void leave_room(struct tracee *tracee) {
  struct memory *memory = tracee->memory;
  bool is_own = tracee->room_size > 0 && !tracee->borrows_room && tracee->pending != MAKING_ROOM;
  struct room *room = is_own && memory != NULL ? malloc(sizeof *room) : NULL;
  if (room != NULL) {
    *room = (struct room){memory->free, tracee->room, tracee->room_size};
    memory->free = room;
  }
  tracee->room = tracee->room_size = 0;
  tracee->borrows_room = false;
}

void rooms_leave(struct tracee *tracee) {
  struct memory *memory = tracee->memory;
  leave_room(tracee);
  tracee->memory = NULL;
  if (memory == NULL || --memory->users > 0) return;
  for (struct room *room = memory->free, *next; room != NULL; room = next) {
    next = room->next;
    free(room);
  }
  free(memory);
}

static struct memory *memory_of(struct tracee *tracee) {
  if (tracee->memory == NULL) {
    tracee->memory = calloc(1, sizeof *tracee->memory);
    if (tracee->memory == NULL) _exit(74);
    tracee->memory->users = 1;
  }
  return tracee->memory;
}

static uint64_t clone_flags(pid_t task) {
  struct registers registers;
  if (!registers_read(task, &registers)) return 0;
  long number = registers_number(&registers);
  if (number == SYS_clone) return registers_argument(&registers, 0);
#ifdef SYS_vfork
  if (number == SYS_vfork) return CLONE_VM | CLONE_VFORK;
#endif
  return 0;
}

void rooms_inherit(struct tracee *parent, struct tracee *child) {
  uint64_t flags = clone_flags(parent->task);
  bool is_shared = (flags & CLONE_VM) != 0, waits = (flags & CLONE_VFORK) != 0;
  if (child->has_executed) return;
  if (is_shared && child->memory == NULL) {
    child->memory = memory_of(parent);
    child->memory->users++;
  }
  if (child->room_size > 0 || (is_shared && !waits)) return;
  child->room = parent->room;
  child->room_size = parent->room_size;
  child->borrows_room = is_shared;
}

bool rooms_take(struct tracee *tracee, size_t size) {
  struct memory *memory = memory_of(tracee);
  leave_room(tracee);
  for (struct room **link = &memory->free; *link != NULL; link = &(*link)->next) {
    struct room *room = *link;
    if (room->size < size) continue;
    *link = room->next;
    tracee->room = room->address;
    tracee->room_size = room->size;
    free(room);
    return true;
  }
  return false;
}
