/* Declarations shared by the launcher's files: a container's request, and their functions. */
#ifndef SLUICE_LAUNCHER_H
#define SLUICE_LAUNCHER_H

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A volume or a part of it, and its mount point. */
struct mount_request {
  const char *root;
  const char *sub_path;
  bool is_file;
  const char *target;
  bool is_read_only;
  bool late; /* its mount point is inside /tmp or another volume, so it cannot be part of a template */
};

/* One container to start, as read from a frame; all pointers point into the frame. */
struct launch {
  const char *id;  /* unique within one launcher */
  const char *key; /* unique for all time */
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

/* Properties of this launcher that apply to all its containers. */
struct launcher {
  int event_fd;   /* to the service; each write is one or more whole lines */
  int proc_fd;    /* /proc of the host's view, O_PATH */
  int host_ns_fd; /* mount namespace of the host's paths */
  bool is_root;
  bool is_translating; /* without namespaces (translation/) */
  bool forbids_nesting; /* descendants cannot create user namespaces by any system call */
  char boot_id[17];
  const char **masks; /* host paths that appear empty in containers */
  size_t mask_count;
};

extern struct launcher launcher;

/* Sent after SIGTERM, to prove to a first process that the stop comes from the launcher (command.c). Ignored by default. */
#define PROOF_SIGNAL SIGURG

/* The function that a first process runs; `run` never returns. */
struct first {
  void (*run)(void *argument);
  void *argument;
};

/* container.c: runs as PID 1 of a new PID namespace, in the host's mount namespace; never returns. */
struct limit_use;
enum { EXIT_WAS_OUT_OF_MEMORY = 9 }; /* exit code of a first process; everything else is in the records */
__attribute__((noreturn)) void container_run(struct launch *launch, int template_fd, const struct limit_use *use);

/* Why a container cannot be started; a fault is no consequence of its request. */
struct failure {
  char reason[512];
  bool is_fault;
};

/*
 * template.c: a mount namespace with the read-only root and the mount points of `launch`; kept for the next one. Returns -1
 * after a failure, and if it is still being built after five seconds.
 */
int template_for(struct launch *launch, struct failure *failure);

/* template-builder.c: whether an earlier build has not been awaited to its end. */
bool builder_is_busy(void);

/* Releases all templates, because they contain old mounts. */
void templates_drop(void);

/* mount-watch.c */
enum mounts_change {
  MOUNTS_SAME,
  MOUNTS_CHANGED, /* templates are out of date */
  MOUNTS_MISSED,  /* this launcher's mounts are out of date and cannot be updated */
};
/* Call before the launcher leaves its initial mount namespace. */
void mounts_open(void);
/* Call in the launcher's own namespace. Returns a descriptor that reports changes of mounts as POLLPRI. */
int mounts_enter(void);
enum mounts_change mounts_look(void);

/* limits.c */
struct slot;
struct limit_use {
  struct slot *slot; /* a cgroup, or NULL */
  bool memory, cores; /* which of the two it limits */
  bool has_processors;
  cpu_set_t processors; /* the only processors that the container may use */
  long long data_bytes; /* memory limit of each of its processes, 0 for none */
};
void limits_open(const char *scope);
void limits_close(void);
const char *limits_describe_memory(void);
const char *limits_describe_cores(void);
void limits_acquire(struct limit_use *use, const struct launch *launch);
/* `is_spoilt`: its counters are not zero, so it cannot be reused for another container. */
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
/* Opens an existing directory. */
int make_directory(int dir, const char *name);
/* Marks a directory as this process's by a lock on a file in it; the descriptor of the file, or -1. */
int lock_directory(int above, const char *name, const char *file);
/* Whether another process that lives has locked it, in whichever PID namespace. */
bool is_locked(int above, const char *name, const char *file);

/* namespaces.c: called once at the start, in this order; each ends the launcher if it fails. */
void enter_namespaces(void);
void do_without_namespaces(void);
void read_boot_id(void);
void drop_privileges(void);

/* confine.c: drops everything that the launcher itself does not need. */
void confine(void);

/* keeper.c */
struct keeper;
struct keeper *keeper_create(bool (*enter)(void *), void *argument);
/* False if something has killed it: its cgroup can no longer be used. */
bool keeper_lives(const struct keeper *keeper);
/* -1 with errno as fork, or ESRCH if the keeper was killed; then there is no process. */
pid_t keeper_start(struct keeper *keeper, const struct first *first, int *pidfd);
void keeper_destroy(struct keeper *keeper);

/* kernel.c: system calls that may be missing in the C library. */
int sys_open_tree(int dir, const char *path, unsigned flags);
int sys_move_mount(int from, const char *from_path, int to, const char *to_path, unsigned flags);
int sys_mount_setattr(int dir, const char *path, unsigned flags, uint64_t set);
/* The same for a whole tree, and excludes later mounts of the host from it. */
int sys_mount_seal(int tree, uint64_t set);
int sys_open_beneath(int dir, const char *path, uint64_t flags);
int sys_fresh_tmpfs(const char *mode, const char *size);
int sys_pidfd_open(pid_t pid);
int sys_pidfd_queue(int pidfd, int signal, int value);
/*
 * Sends a signal to a process's first thread by its PID. The PID may have been reused, so only for signals that are ignored
 * by default.
 */
int sys_signal_thread(pid_t pid, int signal);
/* Closes all descriptors except these (unordered) and the standard ones; -1 is ignored. */
void sys_close_others(int *kept, size_t count);
/*
 * Forks a first process. `cgroup_fd` -1 means the caller's cgroup; with `is_sibling` it becomes a child of the caller's
 * parent.
 */
pid_t sys_clone_first(int *pidfd, int cgroup_fd, bool is_sibling);

#define TREE_CLONE 1u
#define TREE_RECURSIVE 0x8000u
#define PATH_EMPTY 0x1000u
#define MOVE_FROM_EMPTY 4u
#define ATTR_RDONLY 1u
#define ATTR_NOSUID 2u
#define ATTR_NODEV 4u

/* record.c */
/* Reports why this launcher cannot work, with the text of errno, and ends it. */
__attribute__((noreturn)) void fail_launcher(const char *what);
/* Several processes share the socket. */
void send_event(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool read_process(int proc_fd, const char *pid, long *host_pid, unsigned long long *start_ticks);

#endif
