/* What the launcher's files share: one container's request, and the doors between the files. */
#ifndef SLUICE_LAUNCHER_H
#define SLUICE_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A volume or a part of it, and where it goes. */
struct mount_request {
  const char *root;
  const char *sub_path;
  bool is_file;
  const char *target;
  bool late; /* its mount point lies in /tmp or in another volume, hence cannot be part of a template */
};

/* One container to start, as read from a frame; all pointers point into the frame. */
struct launch {
  const char *id;  /* unique among the containers of one launcher */
  const char *key; /* unique for ever */
  const char *directory;
  const char *log_path;
  const char *working_directory;
  long milli_cores;
  long long memory_bytes;
  size_t mount_count;
  struct mount_request *mounts;
  char **argv;
  char **envp;
};

/* Facts about this launcher that hold for all its containers. */
struct launcher {
  int event_fd;   /* to the service; each write is one or more whole lines */
  int proc_fd;    /* /proc of the host's view, O_PATH */
  int host_ns_fd; /* mount namespace in which host paths mean what they mean outside */
  bool is_root;
  char boot_id[17];
  const char **masks; /* host paths that containers must find empty */
  size_t mask_count;
};

extern struct launcher launcher;

/* container.c: runs as PID 1 of a new PID namespace, in the host's mount namespace; never returns. */
struct limit_slot;
__attribute__((noreturn)) void container_run(struct launch *launch, int template_fd, struct limit_slot *slot);

/* template.c: a mount namespace with the read-only root and the mount points of `launch`; kept for the next one. */
int template_for(struct launch *launch, char *reason, size_t reason_size);

/* limits.c */
struct limit_slot {
  int memory_fd; /* O_PATH directory of the memory cgroup, or -1 */
  int cpu_fd;
  int unified_fd;
  long long memory_bytes; /* for RLIMIT_DATA where there is no cgroup, else 0 */
  long milli_cores;       /* for the affinity where there is no cgroup, else 0 */
  unsigned long long cpus;
  char name[96];
};
void limits_open(const char *scope);
const char *limits_describe_memory(void);
const char *limits_describe_cores(void);
void limits_acquire(struct limit_slot *slot, const struct launch *launch);
void limits_release(struct limit_slot *slot);
int limits_unified_fd(const struct limit_slot *slot);
void limits_enter(struct limit_slot *slot);
bool limits_out_of_memory(const struct limit_slot *slot);

/* kernel.c: system calls that the C library may not know yet. */
int sys_open_tree(int dir, const char *path, unsigned flags);
int sys_move_mount(int from, const char *from_path, int to, const char *to_path, unsigned flags);
int sys_mount_setattr(int dir, const char *path, unsigned flags, uint64_t set);
int sys_open_beneath(int dir, const char *path, uint64_t flags);
int sys_fresh_tmpfs(const char *mode, const char *size);
int sys_pidfd_open(pid_t pid);
int sys_pidfd_queue(int pidfd, int signal, int value);
pid_t sys_clone_pid_namespace(int *pidfd, int cgroup_fd);

#define TREE_CLONE 1u
#define TREE_RECURSIVE 0x8000u
#define PATH_EMPTY 0x1000u
#define MOVE_FROM_EMPTY 4u
#define ATTR_RDONLY 1u
#define ATTR_NOSUID 2u
#define ATTR_NODEV 4u

/* record.c */
void now_ms(char *text, size_t size);
long long clock_ms(void);
void send_event(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool read_process(int proc_fd, const char *pid, long *host_pid, unsigned long long *start_ticks);

#endif
