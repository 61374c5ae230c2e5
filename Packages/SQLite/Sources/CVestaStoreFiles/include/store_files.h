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

#define STORE_PAGE_SIZE 8192
#define STORE_RESERVED_BYTES 8
#define STORE_VFS_NAME "vesta-store"
// The same without verifying what is read, to repair a file that another program wrote to.
#define STORE_REPAIR_VFS_NAME "vesta-store-repair"

struct sqlite3;

/// Makes the files known to SQLite under STORE_VFS_NAME and STORE_REPAIR_VFS_NAME; any thread, any number of times.
int store_files_register(void);

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

/// For tests: how many operations have failed since.
int store_files_faults(void);

#endif
