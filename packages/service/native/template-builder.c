/*
 * Builds templates in a process of its own. It looks up host paths, and a file system that has stopped answering never
 * returns from that: the launcher gives up waiting, and can still end and adopt containers. There is at most one such
 * process; as long as it waits, no other template is built.
 */
#define _GNU_SOURCE
#include "template.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

static struct built *built;
static pid_t builder;
static int answer_fd = -1;

/* File systems of this machine, which always answer. */
static bool is_local(const char *path) {
  static const unsigned long local[] = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC, TMPFS_MAGIC, OVERLAYFS_SUPER_MAGIC,
                                        RAMFS_MAGIC, F2FS_SUPER_MAGIC, 0x2fc12fc1 /* ZFS */, 0xca451a4e /* bcachefs */};
  struct statfs status;
  if (statfs(path, &status) != 0) return true;
  for (size_t i = 0; i < sizeof local / sizeof local[0]; i++) {
    if (((unsigned long)status.f_type & 0xffffffff) == local[i]) return true;
  }
  return false;
}

enum mask_state mask_state_of(const char *path) {
  struct stat status;
  if (stat(path, &status) != 0) return MASK_MISSING;
  return is_local(path) ? MASK_LOCAL : MASK_REMOTE;
}

/* Whether it could succeed at another time, or with another request. */
static bool is_want(int error) {
  return error == ENOSPC || error == ENOMEM || error == EMFILE || error == ENFILE || error == EAGAIN || error == EPERM;
}

static bool add_target(struct building *building, const char *target) {
  char resolved[PATH_MAX];
  errno = ENAMETOOLONG;
  if (!building_resolve(target, resolved)) return building_fail(building, "could not resolve", target);
  char *kept = strdup(resolved);
  if (kept == NULL) _exit(74);
  building->targets[building->target_count++] = kept;
  return true;
}

/* With the descriptor if there is one. */
static void send_answer(int socket, int ns_fd) {
  union {
    struct cmsghdr header;
    char space[CMSG_SPACE(sizeof(int))];
  } control = {.space = {0}};
  char byte = 0;
  struct iovec data = {&byte, 1};
  struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
  if (ns_fd >= 0) {
    message.msg_control = &control;
    message.msg_controllen = sizeof control.space;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    *header = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
    memcpy(CMSG_DATA(header), &ns_fd, sizeof ns_fd);
  }
  sendmsg(socket, &message, MSG_NOSIGNAL);
}

/* The descriptor of the namespace; -1 if the process failed or has ended without an answer. */
static int receive_answer(int socket) {
  char byte, control[CMSG_SPACE(sizeof(int))];
  struct iovec data = {&byte, 1};
  struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  while (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) < 0) {
    if (errno != EINTR) return -1;
  }
  int ns_fd = -1;
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (header != NULL && header->cmsg_type == SCM_RIGHTS) memcpy(&ns_fd, CMSG_DATA(header), sizeof ns_fd);
  return ns_fd;
}

__attribute__((noreturn)) static void build(struct launch *launch, int socket) {
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  static struct building building;
  building = (struct building){.root_fd = -1, .launch = launch, .built = built};
  building.targets = calloc(launch->mount_count + 1, sizeof *building.targets);
  if (building.targets == NULL) _exit(74);
  for (size_t i = 0; i < launcher.mask_count; i++) built->masks[i] = (char)mask_state_of(launcher.masks[i]);
  bool good = true;
  for (size_t i = 0; good && i < launch->mount_count; i++) {
    if (!launch->mounts[i].late) good = add_target(&building, launch->mounts[i].target);
  }
  good = good && building_make(&building);
  int ns_fd = good ? openat(launcher.proc_fd, "self/ns/mnt", O_RDONLY | O_CLOEXEC) : -1;
  built->is_fault = is_want(built->error);
  send_answer(socket, ns_fd);
  _exit(0);
}

bool builder_is_busy(void) { return builder != 0; }

bool builder_start(struct launch *launch) {
  if (built == NULL) {
    built = mmap(NULL, sizeof *built + launcher.mask_count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (built == MAP_FAILED) _exit(74);
  }
  /* Only what the process does not always write: pages that were never used stay free. */
  built->error = 0;
  built->covered_count = 0;
  strcpy(built->reason, "could not build the root: the process that did it ended");
  built->is_fault = true;
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) return false;
  builder = fork();
  if (builder == 0) build(launch, sockets[1]);
  int error = errno;
  close(sockets[1]);
  if (builder > 0) {
    answer_fd = sockets[0];
    return true;
  }
  close(sockets[0]);
  builder = 0;
  errno = error;
  return false;
}

const struct built *builder_await(int wait_ms, int *ns_fd) {
  struct pollfd ready = {.fd = answer_fd, .events = POLLIN};
  int found;
  while ((found = poll(&ready, 1, wait_ms)) < 0 && errno == EINTR) {
  }
  if (found == 0) return NULL;
  *ns_fd = receive_answer(answer_fd);
  close(answer_fd);
  answer_fd = -1;
  waitpid(builder, NULL, 0);
  builder = 0;
  return built;
}
