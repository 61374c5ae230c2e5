#ifndef VESTA_TRANSPORT_H
#define VESTA_TRANSPORT_H

#include <stdint.h>
#include <sys/types.h>

/* One readiness event: the number that was given with the descriptor, and what is ready. */
struct vesta_event {
  uint64_t token;
  uint32_t events;
};

enum {
  VESTA_READABLE = 1,
  VESTA_WRITABLE = 2,
  VESTA_FINISHED = 4, /* The peer sends nothing any more; reported when it is asked for. */
  VESTA_BROKEN = 8,   /* The connection is over, both ways; always reported. */
};

/* A new epoll descriptor; -1 on failure. */
int vesta_poll_create(void);
/* Begins, changes or ends the watching of a descriptor; 0 or -1. */
int vesta_poll_add(int poll, int descriptor, uint32_t events, uint64_t token);
int vesta_poll_change(int poll, int descriptor, uint32_t events, uint64_t token);
int vesta_poll_remove(int poll, int descriptor);
/* Waits for events; the number of them, 0 also after a signal. */
int vesta_poll_wait(int poll, struct vesta_event *events, int count, int milliseconds);

/* A new eventfd, and what adds to it and empties it. */
int vesta_wake_create(void);
void vesta_wake(int descriptor);
void vesta_wake_clear(int descriptor);

/* Accepts a connection: non-blocking, closed on exec; -1 or the negative of errno. */
int vesta_accept(int descriptor);
/* Sends bytes of a file to a socket; their number, or -1. */
int64_t vesta_send_file(int descriptor, int file, int64_t offset, uint64_t count);
/* A socket on which the system tells of changes of interfaces and addresses; -1 on failure. */
int vesta_network_changes(void);
/* Nanoseconds of a clock that does not jump. */
int64_t vesta_nanoseconds(void);

#endif
