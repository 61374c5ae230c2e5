#include "store_files.h"

#include <errno.h>
#include <stdatomic.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// A file is opened by the system's VFS into the memory that SQLite gives us; our part lies behind its part. The method
// table is a copy of the system's with a few entries replaced, so every other call goes straight to the system.
typedef struct {
  const sqlite3_io_methods *system;
  sqlite3_io_methods methods;
  int is_database;
  int verifies;
  int sync_delay;
  int failing_syncs;
} StoreFile;

static sqlite3_vfs store_vfs;
static sqlite3_vfs repair_vfs;
static sqlite3_vfs *system_vfs;

static size_t store_file_offset(void) { return ((size_t)system_vfs->szOsFile + 15) & ~(size_t)15; }

static StoreFile *store_file(sqlite3_file *file) { return (StoreFile *)((char *)file + store_file_offset()); }

static uint64_t rotate(uint64_t value, int bits) { return value << bits | value >> (64 - bits); }

// Four independent lanes, so that the multiplications overlap: about as fast as memory can be read. It guards against
// faults, not against forgery. Little-endian and big-endian machines differ, as SQLite's own log checksums may.
static uint64_t checksum(const unsigned char *page, uint64_t number) {
  const uint64_t prime = 0x9E3779B185EBCA87u;
  uint64_t lanes[4] = {number, number ^ prime, ~number, number + prime};
  int end = STORE_PAGE_SIZE - STORE_RESERVED_BYTES;
  for (int at = 0; at + 32 <= end; at += 32) {
    uint64_t words[4];
    memcpy(words, page + at, 32);
    for (int lane = 0; lane < 4; lane++) lanes[lane] = rotate((lanes[lane] ^ words[lane]) * prime, 31);
  }
  for (int at = end & ~31; at < end; at += 8) {
    uint64_t word;
    memcpy(&word, page + at, 8);
    lanes[0] = rotate((lanes[0] ^ word) * prime, 31);
  }
  uint64_t sum = prime;
  for (int lane = 0; lane < 4; lane++) sum = rotate((sum ^ lanes[lane]) * prime, 29) ^ lanes[lane] >> 32;
  return sum;
}

static int is_page(int length, sqlite3_int64 offset) {
  return length == STORE_PAGE_SIZE && offset % STORE_PAGE_SIZE == 0;
}

// The fault that tests have asked for; one for the process, as SQLite opens files from many places.
static store_fault fault_plan;
static atomic_int fault_countdown;
static atomic_int faults_left;
static atomic_int faults_met;

// The status to fail with, or SQLITE_OK; `performs` says whether the operation is to be done all the same.
static int fault_of(int operation, int *performs) {
  *performs = 0;
  if (atomic_load(&faults_left) <= 0 || !(fault_plan.operations & operation)) return SQLITE_OK;
  if (atomic_fetch_sub(&fault_countdown, 1) > 0) return SQLITE_OK;
  if (atomic_fetch_sub(&faults_left, 1) <= 0) return SQLITE_OK;
  atomic_fetch_add(&faults_met, 1);
  *performs = fault_plan.performs;
  errno = fault_plan.no_space ? ENOSPC : EIO;
  if (operation == STORE_FAULT_READ) return SQLITE_IOERR_READ;
  if (operation == STORE_FAULT_SYNC) return SQLITE_IOERR_FSYNC;
  if (operation == STORE_FAULT_TRUNCATE) return SQLITE_IOERR_TRUNCATE;
  if (operation == STORE_FAULT_INDEX) return fault_plan.no_space ? SQLITE_IOERR_SHMSIZE : SQLITE_IOERR_SHMMAP;
  if (operation == STORE_FAULT_OPEN) return SQLITE_CANTOPEN;
  return fault_plan.no_space ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

void store_files_inject(store_fault fault) {
  atomic_store(&faults_left, 0);
  fault_plan = fault;
  atomic_store(&fault_countdown, fault.after);
  atomic_store(&faults_met, 0);
  atomic_store(&faults_left, fault.times);
}

int store_files_faults(void) { return atomic_load(&faults_met); }

static int store_read(sqlite3_file *file, void *bytes, int length, sqlite3_int64 offset) {
  int performs, fault = fault_of(STORE_FAULT_READ, &performs);
  if (fault) return fault;
  int status = store_file(file)->system->xRead(file, bytes, length, offset);
  if (status != SQLITE_OK || !store_file(file)->verifies || !is_page(length, offset)) return status;
  uint64_t sum = checksum(bytes, (uint64_t)offset);
  int same = memcmp(&sum, (char *)bytes + STORE_PAGE_SIZE - STORE_RESERVED_BYTES, STORE_RESERVED_BYTES) == 0;
  return same ? SQLITE_OK : SQLITE_IOERR_DATA;
}

// SQLite takes ENOSPC alone for a full disk; a used-up quota and a limit on the size of files are no different to us.
static int write_bytes(sqlite3_file *file, const void *bytes, int length, sqlite3_int64 offset) {
  int performs, fault = fault_of(STORE_FAULT_WRITE, &performs);
  if (fault && !performs) {
    // Half of it may have reached the file, as with a short write.
    if (fault_plan.halves) store_file(file)->system->xWrite(file, bytes, length / 2, offset);
    return fault;
  }
  int status = store_file(file)->system->xWrite(file, bytes, length, offset);
  if (fault) return fault;
  return status == SQLITE_IOERR_WRITE && (errno == EFBIG || errno == EDQUOT) ? SQLITE_FULL : status;
}

static int store_write(sqlite3_file *file, const void *bytes, int length, sqlite3_int64 offset) {
  if (!store_file(file)->is_database || !is_page(length, offset)) return write_bytes(file, bytes, length, offset);
  unsigned char page[STORE_PAGE_SIZE];
  uint64_t sum = checksum(bytes, (uint64_t)offset);
  memcpy(page, bytes, STORE_PAGE_SIZE - STORE_RESERVED_BYTES);
  memcpy(page + STORE_PAGE_SIZE - STORE_RESERVED_BYTES, &sum, STORE_RESERVED_BYTES);
  return write_bytes(file, page, STORE_PAGE_SIZE, offset);
}

static int store_sync(sqlite3_file *file, int flags) {
  StoreFile *mine = store_file(file);
  if (mine->sync_delay > 0) system_vfs->xSleep(system_vfs, mine->sync_delay);
  if (mine->failing_syncs > 0) {
    mine->failing_syncs--;
    return SQLITE_IOERR_FSYNC;
  }
  int performs, fault = fault_of(STORE_FAULT_SYNC, &performs);
  if (fault && !performs) return fault;
  int status = mine->system->xSync(file, flags);
  return fault ? fault : status;
}

static int store_truncate(sqlite3_file *file, sqlite3_int64 size) {
  int performs, fault = fault_of(STORE_FAULT_TRUNCATE, &performs);
  if (fault && !performs) return fault;
  int status = store_file(file)->system->xTruncate(file, size);
  return fault ? fault : status;
}

// The index of the log; where it cannot grow, a commit fails whose frames are in the log already.
static int store_map_index(sqlite3_file *file, int page, int size, int extends, void volatile **start) {
  int performs, fault = extends ? fault_of(STORE_FAULT_INDEX, &performs) : SQLITE_OK;
  if (fault) return fault;
  return store_file(file)->system->xShmMap(file, page, size, extends, start);
}

// No memory mapping: it would go past the checksums, and a fault of the disk would be a signal instead of an error.
static int store_fetch(sqlite3_file *file, sqlite3_int64 offset, int length, void **bytes) {
  (void)file, (void)offset, (void)length;
  *bytes = NULL;
  return SQLITE_OK;
}

static int store_unfetch(sqlite3_file *file, sqlite3_int64 offset, void *bytes) {
  (void)file, (void)offset, (void)bytes;
  return SQLITE_OK;
}

static int store_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *flags_out) {
  int performs, fault = fault_of(STORE_FAULT_OPEN, &performs);
  if (fault) {
    file->pMethods = NULL;
    return fault;
  }
  int status = system_vfs->xOpen(system_vfs, name, file, flags, flags_out);
  if (status != SQLITE_OK || !(flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL))) return status;
  StoreFile *mine = store_file(file);
  memset(mine, 0, sizeof *mine);
  mine->system = file->pMethods;
  mine->verifies = vfs != &repair_vfs;
  mine->methods = *file->pMethods;
  mine->methods.xSync = store_sync;
  mine->methods.xWrite = store_write;
  mine->methods.xTruncate = store_truncate;
  if (mine->methods.iVersion >= 2 && mine->methods.xShmMap) mine->methods.xShmMap = store_map_index;
  if (flags & SQLITE_OPEN_MAIN_DB) {
    mine->is_database = 1;
    mine->methods.xRead = store_read;
    if (mine->methods.iVersion >= 3) {
      mine->methods.xFetch = store_fetch;
      mine->methods.xUnfetch = store_unfetch;
    }
  }
  file->pMethods = &mine->methods;
  return SQLITE_OK;
}

// Registering the same object again is harmless to SQLite, but filling it in is not; so it is done under its lock.
int store_files_register(void) {
  int status = sqlite3_initialize();
  if (status != SQLITE_OK) return status;
  sqlite3_mutex *mutex = sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1);
  sqlite3_mutex_enter(mutex);
  if (!system_vfs) {
    sqlite3_vfs *found = sqlite3_vfs_find(NULL);
    if (found) {
      store_vfs = *found;
      store_vfs.pNext = NULL;
      store_vfs.zName = STORE_VFS_NAME;
      store_vfs.xOpen = store_open;
      system_vfs = found;
      store_vfs.szOsFile = (int)(store_file_offset() + sizeof(StoreFile));
    }
    status = found ? sqlite3_vfs_register(&store_vfs, 0) : SQLITE_ERROR;
    if (status == SQLITE_OK) {
      repair_vfs = store_vfs;
      repair_vfs.pNext = NULL;
      repair_vfs.zName = STORE_REPAIR_VFS_NAME;
      status = sqlite3_vfs_register(&repair_vfs, 0);
    }
  }
  sqlite3_mutex_leave(mutex);
  return status;
}

static StoreFile *opened_file(struct sqlite3 *connection, int operation) {
  sqlite3_file *file = NULL;
  if (sqlite3_file_control(connection, "main", operation, &file) != SQLITE_OK) return NULL;
  if (!file || !file->pMethods || file->pMethods->xSync != store_sync) return NULL;
  return store_file(file);
}

int store_files_delay_sync(struct sqlite3 *connection, int microseconds) {
  StoreFile *database = opened_file(connection, SQLITE_FCNTL_FILE_POINTER);
  StoreFile *log = opened_file(connection, SQLITE_FCNTL_JOURNAL_POINTER);
  if (!database || !log) return SQLITE_MISUSE;
  database->sync_delay = microseconds;
  log->sync_delay = microseconds;
  return SQLITE_OK;
}

int store_files_fail_syncs(struct sqlite3 *connection, int count) {
  StoreFile *log = opened_file(connection, SQLITE_FCNTL_JOURNAL_POINTER);
  if (!log) return SQLITE_MISUSE;
  log->failing_syncs = count;
  return SQLITE_OK;
}
