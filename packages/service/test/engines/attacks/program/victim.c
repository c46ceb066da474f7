/*
 * What the attacks are aimed at: a process of the host with cgroups, files and IPC of its own, run as the service's user.
 * Prints `ready`, waits for a line or the end of its input, then prints `intact` or `harmed <what>`, and removes all.
 */
#define _GNU_SOURCE
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stddef.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { LIMIT = 1 << 30 };
static const char *const hierarchies[] = {"/sys/fs/cgroup/freezer", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"};
enum { HIERARCHIES = sizeof hierarchies / sizeof hierarchies[0] };
static char directory[64], name[64], limit_file[PATH_MAX];
static int memory_id, semaphore_id, queue_id;
static char *memory;

static void enter_groups(void) {
  char path[128], limit[PATH_MAX], text[32];
  for (size_t i = 0; i < HIERARCHIES; i++) {
    snprintf(path, sizeof path, "%s/cgroup.procs", hierarchies[i]);
    if (access(path, F_OK) != 0) continue;
    snprintf(path, sizeof path, "%s/" VICTIM_NAME, hierarchies[i], victim);
    if (mkdir(path, 0755) != 0) continue;
    snprintf(limit, sizeof limit, "%s/memory.limit_in_bytes", path);
    snprintf(text, sizeof text, "%d", LIMIT);
    if (write_file(limit, text)) strcpy(limit_file, limit);
    snprintf(path, sizeof path, "%s/" VICTIM_NAME "/cgroup.procs", hierarchies[i], victim);
    write_file(path, "0");
  }
}

static void leave_groups(void) {
  char path[128];
  for (size_t i = 0; i < HIERARCHIES; i++) {
    snprintf(path, sizeof path, "%s/" VICTIM_NAME, hierarchies[i], victim);
    if (access(path, F_OK) != 0) continue;
    snprintf(path, sizeof path, "%s/cgroup.procs", hierarchies[i]);
    write_file(path, "0");
    snprintf(path, sizeof path, "%s/" VICTIM_NAME, hierarchies[i], victim);
    rmdir(path);
  }
}

static void make_file(const char *path) {
  int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
  if (fd < 0) return;
  fchmod(fd, 0666);
  close(fd);
}

static bool make_ipc(void) {
  memory_id = shmget(VICTIM_KEY, 4096, IPC_CREAT | IPC_EXCL | 0600);
  semaphore_id = semget(VICTIM_KEY, 1, IPC_CREAT | IPC_EXCL | 0600);
  queue_id = msgget(VICTIM_KEY, IPC_CREAT | IPC_EXCL | 0600);
  mqd_t queue = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, NULL);
  memory = memory_id < 0 ? (char *)-1 : shmat(memory_id, NULL, 0);
  return semaphore_id >= 0 && queue_id >= 0 && queue != (mqd_t)-1 && memory != (char *)-1;
}

static void listen_at(const char *path, socklen_t length) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  memcpy(address.sun_path, path, length);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bind(fd, (struct sockaddr *)&address, (socklen_t)offsetof(struct sockaddr_un, sun_path) + length);
  listen(fd, 8);
}

static void listen_on_sockets(void) {
  char path[100] = "";
  int length = snprintf(path + 1, sizeof path - 1, "%s", name + 1);
  listen_at(path, (socklen_t)length + 1);
  length = snprintf(path, sizeof path, "%s/socket", directory);
  listen_at(path, (socklen_t)length);
}

static const char *find_harm(void) {
  char path[128], text[64] = "";
  struct stat status;
  struct shmid_ds memory_status;
  struct semid_ds semaphore_status;
  struct msqid_ds queue_status;
  snprintf(path, sizeof path, "%s/file", directory);
  if (stat(path, &status) != 0 || status.st_size != 0) return "a file was changed";
  if (shmctl(memory_id, IPC_STAT, &memory_status) != 0 || memory[0] != '\0') return "shared memory was changed";
  if (semctl(semaphore_id, 0, IPC_STAT, &semaphore_status) != 0) return "a semaphore was removed";
  if (msgctl(queue_id, IPC_STAT, &queue_status) != 0) return "a message queue was removed";
  mqd_t queue = mq_open(name, O_RDONLY);
  if (queue == (mqd_t)-1) return "a POSIX message queue was removed";
  if (limit_file[0] == '\0') return NULL;
  FILE *file = fopen(limit_file, "re");
  bool is_kept = file != NULL && fgets(text, sizeof text, file) != NULL && strtoll(text, NULL, 10) == LIMIT;
  return is_kept ? NULL : "a limit was lifted";
}

static void remove_all(void) {
  char path[128];
  shmctl(memory_id, IPC_RMID, NULL);
  semctl(semaphore_id, 0, IPC_RMID);
  msgctl(queue_id, IPC_RMID, NULL);
  mq_unlink(name);
  snprintf(path, sizeof path, "%s/file", directory);
  unlink(path);
  snprintf(path, sizeof path, "%s/socket", directory);
  unlink(path);
  rmdir(directory);
  snprintf(path, sizeof path, "/tmp" "%s", name);
  unlink(path);
  snprintf(path, sizeof path, "/dev/shm" "%s", name);
  unlink(path);
  leave_groups();
}

int be_victim(void) {
  char path[128];
  snprintf(name, sizeof name, "/" VICTIM_NAME, victim);
  snprintf(directory, sizeof directory, "/var/tmp/" VICTIM_NAME, victim);
  snprintf(path, sizeof path, "victim-%u", victim);
  prctl(PR_SET_NAME, path, 0, 0, 0);
  if (!make_ipc() || mkdir(directory, 0777) != 0) {
    printf("harmed before the attack: %s\n", strerror(errno));
    remove_all();
    return 1;
  }
  snprintf(path, sizeof path, "%s/file", directory);
  make_file(path);
  snprintf(path, sizeof path, "/tmp%s", name);
  make_file(path);
  snprintf(path, sizeof path, "/dev/shm%s", name);
  make_file(path);
  listen_on_sockets();
  enter_groups();
  printf("ready\n");
  fflush(stdout);
  getchar();
  const char *harm = find_harm();
  if (harm == NULL) printf("intact\n");
  else printf("harmed: %s\n", harm);
  fflush(stdout);
  remove_all();
  return harm == NULL ? 0 : 1;
}
