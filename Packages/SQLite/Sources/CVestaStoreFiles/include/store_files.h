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

#endif
