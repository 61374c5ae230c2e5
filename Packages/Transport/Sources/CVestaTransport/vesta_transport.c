#define _GNU_SOURCE
#include "vesta_transport.h"

#if defined(__linux__)

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static uint32_t wanted(uint32_t events) {
  uint32_t mask = 0;
  if (events & VESTA_READABLE) mask |= EPOLLIN;
  if (events & VESTA_WRITABLE) mask |= EPOLLOUT;
  if (events & VESTA_FINISHED) mask |= EPOLLRDHUP;
  return mask;
}

static int control(int poll, int operation, int descriptor, uint32_t events, uint64_t token) {
  struct epoll_event event = {.events = wanted(events), .data = {.u64 = token}};
  return epoll_ctl(poll, operation, descriptor, &event);
}

int vesta_poll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

int vesta_poll_add(int poll, int descriptor, uint32_t events, uint64_t token) {
  return control(poll, EPOLL_CTL_ADD, descriptor, events, token);
}

int vesta_poll_change(int poll, int descriptor, uint32_t events, uint64_t token) {
  return control(poll, EPOLL_CTL_MOD, descriptor, events, token);
}

int vesta_poll_remove(int poll, int descriptor) { return control(poll, EPOLL_CTL_DEL, descriptor, 0, 0); }

int vesta_poll_wait(int poll, struct vesta_event *events, int count, int milliseconds) {
  struct epoll_event found[256];
  if (count > 256) count = 256;
  int ready = epoll_wait(poll, found, count, milliseconds);
  for (int i = 0; i < ready; i++) {
    uint32_t mask = 0;
    if (found[i].events & EPOLLIN) mask |= VESTA_READABLE;
    if (found[i].events & EPOLLOUT) mask |= VESTA_WRITABLE;
    if (found[i].events & EPOLLRDHUP) mask |= VESTA_FINISHED;
    if (found[i].events & (EPOLLHUP | EPOLLERR)) mask |= VESTA_BROKEN;
    events[i].token = found[i].data.u64;
    events[i].events = mask;
  }
  return ready < 0 ? 0 : ready;
}

int vesta_wake_create(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void vesta_wake(int descriptor) {
  uint64_t one = 1;
  ssize_t written = write(descriptor, &one, sizeof one);
  (void)written;
}

void vesta_wake_clear(int descriptor) {
  uint64_t count;
  ssize_t got = read(descriptor, &count, sizeof count);
  (void)got;
}

int vesta_accept(int descriptor) {
  int accepted = accept4(descriptor, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC);
  return accepted < 0 ? -errno : accepted;
}

int64_t vesta_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t vesta_send_file(int descriptor, int file, int64_t offset, uint64_t count) {
  off_t place = offset;
  /* Unlike send it has no way to ask for no SIGPIPE: the signal waits, and is taken away. */
  sigset_t pipe, before;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  int64_t sent = sendfile(descriptor, file, &place, count);
  int error = errno;
  if (sent < 0 && error == EPIPE && !sigismember(&before, SIGPIPE)) {
    struct timespec now = {0, 0};
    sigtimedwait(&pipe, NULL, &now);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = error;
  return sent;
}

int vesta_network_changes(void) {
  int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (descriptor < 0) return -1;
  struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR};
  if (bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
  close(descriptor);
  return -1;
}

#endif
