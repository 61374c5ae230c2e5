#ifndef VESTA_STORE_FILES_H
#define VESTA_STORE_FILES_H

// The files of a store as SQLite sees them: the system's own, with a checksum in every page of the database file.
//
// SQLite leaves STORE_RESERVED_BYTES at the end of each page alone. A checksum of the page and of its place goes there
// when the page is written to the database file, and is verified when it is read back: a flipped bit or a page in the
// wrong place is an error, where SQLite would hand out wrong bytes. The write-ahead log has checksums of its own.
// Other programs can read such a file as a SQLite database with mode=ro, while the store is open or was closed well. They
// must not write to it: after a crash, or without mode=ro, even a SELECT can write the log back without our checksums, and
// the store then finds its file damaged until it is repaired.

#include <stdint.h>

#define STORE_PAGE_SIZE 8192
#define STORE_RESERVED_BYTES 8
#define STORE_VFS_NAME "vesta-store"
// The same without verifying what is read, to repair a file that another program wrote to.
#define STORE_REPAIR_VFS_NAME "vesta-store-repair"

struct sqlite3;

/// Makes the files known to SQLite under STORE_VFS_NAME and STORE_REPAIR_VFS_NAME; any thread, any number of times.
int store_files_register(void);

/// The version of the last commit that is visible, for the readers of the process; the writer changes it.
///
/// A commit becomes visible between the sync of the log and the end of COMMIT. Meanwhile the value is odd, and a mutex is
/// held. So a reader knows its version without a row that each commit would have to write: if the value is the same, and
/// even, before its snapshot begins and after, half of it is the version. Otherwise it begins once more, under the mutex.
typedef struct store_stamp store_stamp;

/// Makes a stamp with the version of the last commit; NULL when there is no memory.
store_stamp *store_stamp_make(uint64_t version);

/// Frees a stamp that no connection uses any more.
void store_stamp_free(store_stamp *stamp);

/// Makes the syncs of a connection's log begin the commits that its writer expects.
int store_files_watch(struct sqlite3 *connection, store_stamp *stamp);

/// Asked for room when there is none for so many bytes; returns how many there are now, to try again, or zero.
typedef int (*store_lender)(void *lender, int length);

/// Makes a writer's connection ask for room on a full disk; before `store_files_watch`.
int store_files_borrow(struct sqlite3 *connection, store_lender lend, void *lender);

/// Whether another program has made the log of a connection shorter than what the connection wrote: commits in it are
/// lost, and it must not be written back.
int store_files_log_is_short(struct sqlite3 *connection);

/// How many reads of this thread have failed: a failure that SQLite takes for damage.
int store_files_read_failures(void);

/// Leaves the log as it is when a connection is closed.
int store_files_keep_log(struct sqlite3 *connection);

/// Whether the last write to a connection's log failed and some of it is certainly not in the file: the commit that was
/// to be written is not whole.
int store_files_log_is_cut(struct sqlite3 *connection);

/// Twice the version of the last commit; one more while another one becomes visible.
uint64_t store_stamp_read(store_stamp *stamp);

/// Waits while a commit becomes visible, and lets none become so until `store_stamp_leave`.
void store_stamp_enter(store_stamp *stamp);
void store_stamp_leave(store_stamp *stamp);

/// The writer is about to COMMIT: the commit may become visible after the next sync of the log, or at once.
void store_stamp_expect(store_stamp *stamp, int at_sync);

/// The writer's COMMIT has returned; the version is that of the last commit that is visible now.
void store_stamp_settle(store_stamp *stamp, uint64_t version);

/// For tests: makes every sync through this connection take so much longer.
int store_files_delay_sync(struct sqlite3 *connection, int microseconds);

/// For tests: makes so many syncs of the write-ahead log through this connection fail.
int store_files_fail_syncs(struct sqlite3 *connection, int count);

/// For tests: the operations on files that can be made to fail.
enum {
  STORE_FAULT_READ = 1,
  STORE_FAULT_WRITE = 2,
  STORE_FAULT_SYNC = 4,
  STORE_FAULT_TRUNCATE = 8,
  STORE_FAULT_INDEX = 16,
  STORE_FAULT_OPEN = 32,
  // The making of room behind a log.
  STORE_FAULT_ROOM = 64,
};

/// For tests: which operations fail, and how.
typedef struct store_fault {
  /// The operations, or-ed.
  int operations;
  /// How many of them succeed first.
  int after;
  /// How many fail then; zero for none.
  int times;
  /// Whether the operation is done and reported as failed all the same.
  int performs;
  /// Whether half of a failing write is done.
  int halves;
  /// Whether the reason is a full disk, and not an error of the device.
  int no_space;
} store_fault;

/// For tests: makes operations on the files of all stores of the process fail; replaces what was asked for before.
void store_files_inject(store_fault fault);

/// For tests: lets the files of all stores of the process grow by so many bytes and no more; below zero for no limit. What
/// files give back can be used again, but for files that are removed.
void store_files_limit_room(int64_t bytes);

/// For tests: how much of that is left.
int64_t store_files_room(void);

/// Takes some of the room that tests have left; whether there was enough.
int store_files_take_room(int64_t bytes);

/// For tests: how many operations have failed since.
int store_files_faults(void);

#endif
