/* What the launcher's files share: one container's request, and the doors between the files. */
#ifndef SLUICE_LAUNCHER_H
#define SLUICE_LAUNCHER_H

#include <sched.h>
#include <signal.h>
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
  bool is_read_only;
  bool late; /* its mount point lies in /tmp or in another volume, hence cannot be part of a template */
};

/* One container to start, as read from a frame; all pointers point into the frame. */
struct launch {
  const char *id;  /* unique among the containers of one launcher */
  const char *key; /* unique for ever */
  const char *directory;
  const char *log_path;
  long long log_limit; /* bytes; 0: none */
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
  bool is_translating; /* without namespaces (translation/) */
  bool forbids_nesting; /* no process beneath it can make a user namespace, whatever system call it takes */
  char boot_id[17];
  const char **masks; /* host paths that containers must find empty */
  size_t mask_count;
};

extern struct launcher launcher;

/* What a launcher sends after SIGTERM, so that a first process knows whose wish it is (command.c). Ignored by default. */
#define PROOF_SIGNAL SIGURG

/* What a first process does; `run` never returns. */
struct first {
  void (*run)(void *argument);
  void *argument;
};

/* container.c: runs as PID 1 of a new PID namespace, in the host's mount namespace; never returns. */
struct limit_use;
enum { EXIT_WAS_OUT_OF_MEMORY = 9 }; /* of a first process; all else that it has to tell is in the records */
__attribute__((noreturn)) void container_run(struct launch *launch, int template_fd, const struct limit_use *use);

/* template.c: a mount namespace with the read-only root and the mount points of `launch`; kept for the next one. */
int template_for(struct launch *launch, char *reason, size_t reason_size, bool *is_fault);

/* Lets go of all templates, which show what was mounted when they were made. */
void templates_drop(void);

/* mount-watch.c */
enum mounts_change {
  MOUNTS_SAME,
  MOUNTS_CHANGED, /* what templates show is out of date */
  MOUNTS_MISSED,  /* what this launcher sees is out of date, and remains so */
};
/* Before the launcher leaves the mount namespace that it was started in. */
void mounts_open(void);
/* In its own; returns a file to poll for POLLPRI, which says that it is time for a look. */
int mounts_enter(void);
enum mounts_change mounts_look(void);

/* limits.c */
struct slot;
struct limit_use {
  struct slot *slot; /* a cgroup, or NULL */
  bool memory, cores; /* which of the two it limits */
  bool has_processors;
  cpu_set_t processors; /* the only ones that the container may use */
  long long data_bytes; /* memory that each of its processes may use, 0 for no such limit */
};
void limits_open(const char *scope);
void limits_close(void);
const char *limits_describe_memory(void);
const char *limits_describe_cores(void);
void limits_acquire(struct limit_use *use, const struct launch *launch);
/* `is_spoilt`: its counters tell of the past and may not be read for another container. */
void limits_release(struct limit_use *use, bool is_spoilt);
/* Forks a first process within its limits, which runs `first`; returns its PID, or -1 with errno. */
pid_t limits_fork(const struct limit_use *use, const struct first *first, int *pidfd);
void limits_apply(const struct limit_use *use);
/* What `limits_out_of_memory` reads, or -1. */
int limits_file(const struct limit_use *use);
bool limits_out_of_memory(const struct limit_use *use);

/* hierarchy.c */
bool has_word(const char *text, const char *word);
bool gives_memory(int above);
/* The mount point of the cgroup hierarchy with `controller`, or of cgroup v2 for NULL. */
bool find_hierarchy(const char *controller, char *path, size_t size);
/* The directory of this process within that hierarchy. */
bool find_own(const char *controller, char *path, size_t size);
bool write_at(int dir, const char *name, const char *text);
bool read_at(int dir, const char *name, char *text, size_t size);
int open_directory(int dir, const char *name);
/* Opens it where it is there already. */
int make_directory(int dir, const char *name);

/* namespaces.c: once, at the start, in this order; each ends the launcher where it cannot. */
void enter_namespaces(void);
void do_without_namespaces(void);
void read_boot_id(void);
void drop_privileges(void);

/* confine.c: after that, only what the launcher itself needs is left. */
void confine(void);

/* keeper.c */
struct keeper;
struct keeper *keeper_create(bool (*enter)(void *), void *argument);
pid_t keeper_start(struct keeper *keeper, const struct first *first, int *pidfd);
void keeper_destroy(struct keeper *keeper);

/* kernel.c: system calls that the C library may not know yet. */
int sys_open_tree(int dir, const char *path, unsigned flags);
int sys_move_mount(int from, const char *from_path, int to, const char *to_path, unsigned flags);
int sys_mount_setattr(int dir, const char *path, unsigned flags, uint64_t set);
/* For a whole tree: the same, and nothing that is mounted on the host later comes to be mounted in it. */
int sys_mount_seal(int tree, uint64_t set);
int sys_open_beneath(int dir, const char *path, uint64_t flags);
int sys_fresh_tmpfs(const char *mode, const char *size);
int sys_pidfd_open(pid_t pid);
int sys_pidfd_queue(int pidfd, int signal, int value);
/* To the process's first thread, by its number: for a signal that is ignored by whichever process gets it by mistake. */
int sys_signal_thread(pid_t pid, int signal);
/* Closes all descriptors but these, in any order, and the standard ones; -1 stands for none. */
void sys_close_others(int *kept, size_t count);
/* A first process. `cgroup_fd` -1 for the caller's own; `is_sibling` makes it a child of the caller's parent. */
pid_t sys_clone_first(int *pidfd, int cgroup_fd, bool is_sibling);

#define TREE_CLONE 1u
#define TREE_RECURSIVE 0x8000u
#define PATH_EMPTY 0x1000u
#define MOVE_FROM_EMPTY 4u
#define ATTR_RDONLY 1u
#define ATTR_NOSUID 2u
#define ATTR_NODEV 4u

/* record.c */
/* Tells why this launcher cannot work, by errno, and ends it. */
__attribute__((noreturn)) void fail_launcher(const char *what);
/* Several processes share the socket. */
void send_event(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool read_process(int proc_fd, const char *pid, long *host_pid, unsigned long long *start_ticks);

#endif
