/* The network, which containers share with the host: what more than using it they could do. */
#define _GNU_SOURCE
#include "attack.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void raw(void) { report_call(socket(AF_INET, SOCK_RAW, 1), "opened a raw socket"); }
static void packet(void) { report_call(socket(AF_PACKET, SOCK_RAW, 0x0300), "opened a packet socket"); }
static void machine(void) { report_call(socket(AF_VSOCK, SOCK_STREAM, 0), "opened a socket to the hypervisor"); }

static void interface(void) {
  struct ifreq request = {.ifr_name = "lo"};
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &request) != 0) blocked(errno);
  /* As it is: nothing changes. */
  report_call(ioctl(fd, SIOCSIFFLAGS, &request), "configured an interface");
}

static void route(void) {
  struct {
    struct nlmsghdr head;
    struct ifinfomsg link;
  } request = {{sizeof request, RTM_NEWLINK, NLM_F_REQUEST | NLM_F_ACK, 1, 0}, {.ifi_index = 1}};
  struct {
    struct nlmsghdr head;
    struct nlmsgerr error;
    char rest[256];
  } answer;
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (fd < 0 || send(fd, &request, sizeof request, 0) < 0 || recv(fd, &answer, sizeof answer, 0) < 0) blocked(errno);
  if (answer.error.error != 0) blocked(-answer.error.error);
  succeeded("configured a link");
}

static void broadcast(int protocol, const char *evidence) {
  struct sockaddr_nl to = {.nl_family = AF_NETLINK, .nl_groups = 1};
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
  if (fd < 0) blocked(errno);
  report_call(sendto(fd, "change@/sluice", 15, 0, (struct sockaddr *)&to, sizeof to), evidence);
}
static void device_events(void) { broadcast(NETLINK_KOBJECT_UEVENT, "sent a device event"); }

static void audit(void) {
  struct nlmsghdr request = {sizeof request, 1000 /* AUDIT_GET */, NLM_F_REQUEST | NLM_F_ACK, 1, 0};
  struct {
    struct nlmsghdr head;
    struct nlmsgerr error;
    char rest[256];
  } answer;
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_AUDIT);
  if (fd < 0 || send(fd, &request, sizeof request, 0) < 0 || recv(fd, &answer, sizeof answer, 0) < 0) blocked(errno);
  if (answer.head.nlmsg_type == NLMSG_ERROR && answer.error.error != 0) blocked(-answer.error.error);
  succeeded("spoke to the audit system");
}

static void abstract_socket(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, VICTIM_NAME, victim);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) blocked(errno);
  report_call(connect(fd, (struct sockaddr *)&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)),
              "connected to an abstract socket of the host");
}

/* A daemon's socket in a directory of the host, which a read-only mount does not close. */
static void path_socket(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "/var/tmp/" VICTIM_NAME "/socket", victim);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) blocked(errno);
  report_call(connect(fd, (struct sockaddr *)&address, sizeof address), "connected to a socket in a directory of the host");
}

const struct attack network_attacks[] = {
    {"network-raw", raw},
    {"network-packet", packet},
    {"network-vsock", machine},
    {"network-interface", interface},
    {"network-link", route},
    {"network-device-events", device_events},
    {"network-audit", audit},
    {"network-abstract-socket", abstract_socket},
    {"network-path-socket", path_socket},
    {NULL, NULL},
};
