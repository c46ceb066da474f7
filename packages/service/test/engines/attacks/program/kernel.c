/* The kernel itself: modules, programs in it, its log, its clock, its keys. Arguments are such that a success harms nothing. */
#define _GNU_SOURCE
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <linux/reboot.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SESSION_KEYRING = -3, USER_KEYRING = -4, USER_SESSION_KEYRING = -5, DESCRIBE = 6, JOIN_SESSION = 1 };

static void load_module(void) { report_call(syscall(SYS_init_module, "", 0, ""), "loaded a module"); }
static void load_module_file(void) {
  int fd = open("/tmp/module", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  /* A rejection of the empty file itself would mean that modules are taken. */
  long result = syscall(SYS_finit_module, fd, "", 0);
  if (result < 0 && errno != ENOEXEC && errno != EINVAL) blocked(errno);
  succeeded("the kernel looked at a module");
}
static void unload_module(void) {
  long result = syscall(SYS_delete_module, "no-such-module", O_NONBLOCK);
  if (result < 0 && errno != ENOENT) blocked(errno);
  succeeded("may unload modules");
}
static void load_kernel(void) { report_call(syscall(SYS_kexec_load, 0, 0, NULL, 0), "loaded a kernel"); }
static void program(void) {
  union bpf_attr attributes;
  memset(&attributes, 0, sizeof attributes);
  attributes.map_type = BPF_MAP_TYPE_ARRAY;
  attributes.key_size = attributes.value_size = 4;
  attributes.max_entries = 1;
  report_call(syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof attributes), "made a bpf map");
}
static void performance(void) {
  struct perf_event_attr attributes = {.type = PERF_TYPE_SOFTWARE, .size = sizeof attributes, .config = PERF_COUNT_SW_TASK_CLOCK, .exclude_kernel = 1};
  report_call(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0), "opened a performance event");
}
static void page_faults(void) { report_call(syscall(SYS_userfaultfd, O_CLOEXEC | 1 /* of user mode only */), "opened a userfaultfd"); }
static void ring(void) {
  char parameters[120] = "";
  report_call(syscall(425, 4, parameters), "made an io_uring");
}
static void restart(void) { report_call(syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_CAD_OFF, NULL), "changed Ctrl-Alt-Del"); }
static void swap_on(void) {
  long result = syscall(SYS_swapon, "/no/such/file", 0);
  if (result < 0 && errno != ENOENT) blocked(errno);
  succeeded("may add swap");
}
static void swap_off(void) {
  long result = syscall(SYS_swapoff, "/no/such/file");
  if (result < 0 && errno != ENOENT) blocked(errno);
  succeeded("may remove swap");
}
static void set_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  report_call(clock_settime(CLOCK_REALTIME, &now), "set the clock");
}
static void set_name(void) {
  char name[65] = "";
  if (gethostname(name, sizeof name - 1) != 0) blocked(errno);
  report_call(sethostname(name, strlen(name)), "set the host's name");
}
static void accounting(void) {
  long result = syscall(SYS_acct, "/no/such/file");
  if (result < 0 && errno != ENOENT) blocked(errno);
  succeeded("may account processes");
}
static void hang_up(void) { report_call(syscall(SYS_vhangup), "hung up the terminal"); }
static void read_log(void) {
  static char text[4096];
  report_call(syscall(SYS_syslog, 3, text, sizeof text), "read the kernel's log");
}
static void clear_log(void) { report_call(syscall(SYS_syslog, 7, NULL, 0), "changed the console's log level"); }
static void ports(void) {
#if defined(__x86_64__)
  report_call(syscall(SYS_ioperm, 0x80, 1, 1), "may use I/O ports");
#else
  blocked(ENOSYS);
#endif
}
static void watch_files(void) {
  const unsigned content = 4, mount = 0x10;
  int fd = (int)syscall(SYS_fanotify_init, content, O_RDONLY);
  if (fd < 0) blocked(errno);
  report_call(syscall(SYS_fanotify_mark, fd, 1 | mount, 0x20ull, AT_FDCWD, "/usr"), "watches the file system");
}
static void quota(void) { report_call(syscall(SYS_quotactl, 0x800003 << 8, "/dev/root", 0, NULL), "may set quotas"); }
static void session_keys(void) {
  char text[256];
  report_call(syscall(SYS_keyctl, DESCRIBE, SESSION_KEYRING, text, sizeof text), "saw a session keyring");
}
static void user_keys(void) { report_call(syscall(SYS_add_key, "user", "sluice-attack", "x", 1, USER_KEYRING), "added a key to the user's keyring"); }
static void user_session_keys(void) {
  report_call(syscall(SYS_request_key, "user", "sluice-attack", NULL, USER_SESSION_KEYRING), "found a key");
}

const struct attack kernel_attacks[] = {
    {"kernel-module", load_module},
    {"kernel-module-file", load_module_file},
    {"kernel-module-unload", unload_module},
    {"kernel-kexec", load_kernel},
    {"kernel-bpf", program},
    {"kernel-perf", performance},
    {"kernel-userfaultfd", page_faults},
    {"kernel-io-uring", ring},
    {"kernel-reboot", restart},
    {"kernel-swapon", swap_on},
    {"kernel-swapoff", swap_off},
    {"kernel-clock", set_clock},
    {"kernel-hostname", set_name},
    {"kernel-accounting", accounting},
    {"kernel-vhangup", hang_up},
    {"kernel-log-read", read_log},
    {"kernel-log-level", clear_log},
    {"kernel-ioports", ports},
    {"kernel-fanotify", watch_files},
    {"kernel-quota", quota},
    {"kernel-keys-session", session_keys},
    {"kernel-keys-user", user_keys},
    {"kernel-keys-request", user_session_keys},
    {NULL, NULL},
};
