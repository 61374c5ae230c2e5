#ifndef VESTA_STORE_TRACE_H
#define VESTA_STORE_TRACE_H

// What SQLite writes to the files of a store, call by call, so that a test can work out what a loss of power would
// leave. It sits below the store's own files, between them and the system's.

/// The kinds of events.
enum {
  STORE_TRACE_CREATE = 1,
  STORE_TRACE_WRITE = 2,
  STORE_TRACE_TRUNCATE = 3,
  STORE_TRACE_SYNC = 4,
  STORE_TRACE_DELETE = 5,
  STORE_TRACE_MARK = 6,
};

/// An event. The pointers are valid until the next store_trace_begin.
typedef struct store_trace_event {
  int kind;
  int length;
  /// Where a write begins, the size that a file is cut to, or the number of a mark.
  long long offset;
  const char *path;
  const unsigned char *bytes;
} store_trace_event;

/// Forgets earlier events and records those of all files below a directory; one recording at a time in a process.
int store_trace_begin(const char *directory);

/// Records an event of the test's own.
void store_trace_mark(long long number);

/// Stops recording, and returns the number of events.
int store_trace_end(void);

/// An event, after store_trace_end.
store_trace_event store_trace_event_at(int index);

#endif
