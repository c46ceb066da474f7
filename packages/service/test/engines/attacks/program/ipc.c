/* System V IPC and POSIX message queues of the victim, which belong to the same user. */
#define _GNU_SOURCE
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

static void memory(void) {
  int id = shmget(VICTIM_KEY, 0, 0);
  if (id < 0) blocked(errno);
  char *text = shmat(id, NULL, 0);
  if (text == (char *)-1) blocked(errno);
  text[0] = 'X';
  succeeded("wrote to shared memory");
}
static void remove_memory(void) {
  int id = shmget(VICTIM_KEY, 0, 0);
  if (id < 0) blocked(errno);
  report_call(shmctl(id, IPC_RMID, NULL), "removed shared memory");
}
static void semaphore(void) {
  int id = semget(VICTIM_KEY, 0, 0);
  if (id < 0) blocked(errno);
  report_call(semctl(id, 0, IPC_RMID), "removed a semaphore");
}
static void queue(void) {
  int id = msgget(VICTIM_KEY, 0);
  if (id < 0) blocked(errno);
  report_call(msgctl(id, IPC_RMID, NULL), "removed a message queue");
}
static void posix_queue(void) {
  char name[64];
  snprintf(name, sizeof name, "/" VICTIM_NAME, victim);
  report_call(mq_unlink(name), "removed a POSIX message queue");
}

const struct attack ipc_attacks[] = {
    {"ipc-memory-write", memory},    {"ipc-memory-remove", remove_memory}, {"ipc-semaphore", semaphore},
    {"ipc-message-queue", queue},    {"ipc-posix-queue", posix_queue},     {NULL, NULL},
};
