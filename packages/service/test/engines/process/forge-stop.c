/* Run in a container: tells its first process in every way there is that a stop is wanted. Ends when all were read. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int queue(int call, int signal, int code) {
  siginfo_t info;
  memset(&info, 0, sizeof info);
  info.si_signo = signal;
  info.si_code = code;
  return call == SYS_rt_sigqueueinfo ? (int)syscall(call, 1, signal, &info) : (int)syscall(call, 1, 1, signal, &info);
}

static int are_read(void) {
  char line[256];
  unsigned long long shared = 1, own = 1;
  FILE *status = fopen("/proc/1/status", "r");
  if (status == NULL) abort();
  while (fgets(line, sizeof line, status) != NULL) {
    sscanf(line, "SigPnd: %llx", &own);
    sscanf(line, "ShdPnd: %llx", &shared);
  }
  fclose(status);
  const unsigned long long ours = 1ULL << (SIGTERM - 1) | 1ULL << (SIGURG - 1);
  return ((shared | own) & ours) == 0;
}

static void forge(void) {
  const int codes[] = {SI_USER, SI_QUEUE, SI_TKILL, SI_TIMER, SI_KERNEL};
  const int signals[] = {SIGTERM, SIGURG};
  for (int s = 0; s < 2; s++) {
    for (int c = 0; c < 5; c++) {
      queue(SYS_rt_sigqueueinfo, signals[s], codes[c]);
      while (!are_read()) usleep(1000);
      queue(SYS_rt_tgsigqueueinfo, signals[s], codes[c]);
      while (!are_read()) usleep(1000);
    }
    kill(1, signals[s]);
    while (!are_read()) usleep(1000);
    syscall(SYS_tgkill, 1, 1, signals[s]);
    while (!are_read()) usleep(1000);
  }
}

int main(void) {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGRTMIN);
  sigprocmask(SIG_BLOCK, &blocked, NULL);
  forge();
  /* Without memory for signals the kernel forgets who sent one. */
  while (sigqueue(getpid(), SIGRTMIN, (union sigval){0}) == 0) {
  }
  forge();
  return 7;
}
