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
  store_stamp *stamp;
  // Of the log alone: the frames that have not been written yet, which lie one after the other in the file.
  unsigned char *frames;
  sqlite3_int64 frames_at;
  int frames_length;
  int ends_commit;
  sqlite3_int64 read_at;
  // Whether the last write failed and some of what was to be written is not in the file.
  int is_cut;
  // The end of the last write, and an end that the file had.
  sqlite3_int64 written_to;
  sqlite3_int64 known_end;
  // Whether the log was found shorter than what had been written to it.
  int is_short;
  // The database that the log is written back to, of the writer's log alone.
  sqlite3_file *database;
  // Asked for room on a full disk.
  store_lender lend;
  void *lender;
} StoreFile;

// Frames of the log are written together, so many at the most: the VFS of SQLite writes less than 128 KiB at once.
#define FRAME_HEADER 24
#define FRAMES_LIMIT (15 * (FRAME_HEADER + STORE_PAGE_SIZE))

// The room that is made behind a log at once: a quarter of its length, between these bounds.
#define ROOM_STEP (64 * 1024)
#define ROOM_LIMIT (256 * 1024)

struct store_stamp {
  // Twice the version of the last commit that is visible; one more while another one becomes visible.
  _Atomic uint64_t value;
  // Held while a commit becomes visible.
  sqlite3_mutex *mutex;
  // Of the writer alone: whether a commit is expected, and whether the mutex is held for it.
  int is_expected;
  int is_held;
};

store_stamp *store_stamp_make(uint64_t version) {
  store_stamp *stamp = sqlite3_initialize() == SQLITE_OK ? sqlite3_malloc64(sizeof *stamp) : NULL;
  if (!stamp) return NULL;
  memset(stamp, 0, sizeof *stamp);
  atomic_init(&stamp->value, version * 2);
  stamp->mutex = sqlite3_mutex_alloc(SQLITE_MUTEX_FAST);
  return stamp;
}

void store_stamp_free(store_stamp *stamp) {
  sqlite3_mutex_free(stamp->mutex);
  sqlite3_free(stamp);
}

uint64_t store_stamp_read(store_stamp *stamp) {
  // What was read before is not moved behind this, nor what comes after in front of it.
  atomic_thread_fence(memory_order_seq_cst);
  uint64_t value = atomic_load(&stamp->value);
  atomic_thread_fence(memory_order_seq_cst);
  return value;
}

void store_stamp_enter(store_stamp *stamp) { sqlite3_mutex_enter(stamp->mutex); }

void store_stamp_leave(store_stamp *stamp) { sqlite3_mutex_leave(stamp->mutex); }

static void stamp_begin(store_stamp *stamp) {
  if (!stamp->is_expected || stamp->is_held) return;
  sqlite3_mutex_enter(stamp->mutex);
  stamp->is_held = 1;
  atomic_fetch_or(&stamp->value, 1);
}

void store_stamp_expect(store_stamp *stamp, int at_sync) {
  stamp->is_expected = 1;
  if (!at_sync) stamp_begin(stamp);
}

void store_stamp_settle(store_stamp *stamp, uint64_t version) {
  stamp->is_expected = 0;
  atomic_store(&stamp->value, version * 2);
  if (!stamp->is_held) return;
  stamp->is_held = 0;
  sqlite3_mutex_leave(stamp->mutex);
}

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

// SQLite takes some failures to read, such as one while it reads the tables' names, for damage.
static _Thread_local int read_failures;

int store_files_read_failures(void) { return read_failures; }

static int read_bytes(sqlite3_file *file, void *bytes, int length, sqlite3_int64 offset) {
  int performs, status = fault_of(STORE_FAULT_READ, &performs);
  if (status == SQLITE_OK) status = store_file(file)->system->xRead(file, bytes, length, offset);
  if (status != SQLITE_OK && status != SQLITE_IOERR_SHORT_READ) read_failures++;
  return status;
}

static int store_read(sqlite3_file *file, void *bytes, int length, sqlite3_int64 offset) {
  int status = read_bytes(file, bytes, length, offset);
  if (status != SQLITE_OK || !store_file(file)->verifies || !is_page(length, offset)) return status;
  uint64_t sum = checksum(bytes, (uint64_t)offset);
  int same = memcmp(&sum, (char *)bytes + STORE_PAGE_SIZE - STORE_RESERVED_BYTES, STORE_RESERVED_BYTES) == 0;
  return same ? SQLITE_OK : SQLITE_IOERR_DATA;
}

// The room that tests have left on the disk; below zero for all there is.
static _Atomic int64_t room_left = -1;

void store_files_limit_room(int64_t bytes) { atomic_store(&room_left, bytes); }

int64_t store_files_room(void) { return atomic_load(&room_left); }

int store_files_take_room(int64_t bytes) {
  int64_t room = atomic_load(&room_left);
  do {
    if (room < 0 || bytes <= 0) return 1;
    if (room < bytes) return 0;
  } while (!atomic_compare_exchange_weak(&room_left, &room, room - bytes));
  return 1;
}

static void give_room(int64_t bytes) {
  if (bytes > 0 && atomic_load(&room_left) >= 0) atomic_fetch_add(&room_left, bytes);
}

static int has_room(sqlite3_file *file, int length, sqlite3_int64 offset) {
  sqlite3_int64 size;
  if (atomic_load(&room_left) < 0 || store_file(file)->system->xFileSize(file, &size) != SQLITE_OK) return 1;
  return store_files_take_room(offset + length - size);
}

static int write_once(sqlite3_file *file, const void *bytes, int length, sqlite3_int64 offset) {
  if (!has_room(file, length, offset)) {
    errno = ENOSPC;
    return SQLITE_FULL;
  }
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

// Whether there is room now for what had none.
static int lends(sqlite3_file *file, int length) {
  StoreFile *mine = store_file(file);
  int reason = errno;
  int given = mine->lend ? mine->lend(mine->lender, length) : 0;
  give_room(given);
  errno = reason;
  return given > 0;
}

// SQLite takes ENOSPC alone for a full disk; a used-up quota and a limit on the size of files are no different to us.
static int write_bytes(sqlite3_file *file, const void *bytes, int length, sqlite3_int64 offset) {
  int status;
  do status = write_once(file, bytes, length, offset);
  while (status == SQLITE_FULL && lends(file, length));
  return status;
}

// Whether some of what was to be written is certainly not in the file.
static int is_missing(sqlite3_file *file, const unsigned char *bytes, int length, sqlite3_int64 offset) {
  unsigned char piece[4096];
  int performs;
  if (fault_of(STORE_FAULT_READ, &performs)) return 0;
  for (int at = 0; at < length; at += (int)sizeof piece) {
    int count = length - at < (int)sizeof piece ? length - at : (int)sizeof piece;
    int status = store_file(file)->system->xRead(file, piece, count, offset + at);
    if (status == SQLITE_IOERR_SHORT_READ) return 1;
    if (status != SQLITE_OK) return 0;
    if (memcmp(piece, bytes + at, (size_t)count) != 0) return 1;
  }
  return 0;
}

// Cuts a file; the room behind a log goes with it.
static int cut_file(sqlite3_file *file, sqlite3_int64 size) {
  StoreFile *mine = store_file(file);
  mine->known_end = 0;
  if (mine->written_to > size) mine->written_to = size;
  sqlite3_int64 before;
  if (atomic_load(&room_left) >= 0 && mine->system->xFileSize(file, &before) == SQLITE_OK) give_room(before - size);
  return mine->system->xTruncate(file, size);
}

// Whether another program has made the log shorter than it was written; what follows would be behind a hole.
//
// Reads the last byte, and does not ask for the size: after such a question Linux (6.13) gives the next write a time of
// its own, and a file system without a journal writes the inode with each sync then.
static int is_short(sqlite3_file *file, sqlite3_int64 length) {
  StoreFile *mine = store_file(file);
  char last;
  if (length > 0 && mine->system->xRead(file, &last, 1, length - 1) == SQLITE_IOERR_SHORT_READ) mine->is_short = 1;
  return mine->is_short;
}

static int write_log(sqlite3_file *file, const void *bytes, int length, sqlite3_int64 offset) {
  StoreFile *mine = store_file(file);
  if (offset > 0 && is_short(file, offset)) {
    mine->is_cut = 1;
    return SQLITE_IOERR_WRITE;
  }
  int status = write_bytes(file, bytes, length, offset);
  int reason = errno;
  mine->is_cut = status != SQLITE_OK && is_missing(file, bytes, length, offset);
  // Half of a header would be taken for damage after a crash. A log that gets a header holds nothing that is needed: it
  // is new, or all of it was written back.
  if (mine->is_cut && offset == 0) cut_file(file, 0);
  if (status == SQLITE_OK) mine->written_to = offset + length;
  errno = reason;
  return status;
}

// Writes what has been gathered of the log.
static int write_frames(sqlite3_file *file) {
  StoreFile *mine = store_file(file);
  int length = mine->frames_length;
  mine->frames_length = 0;
  mine->ends_commit = 0;
  return length == 0 ? SQLITE_OK : write_log(file, mine->frames, length, mine->frames_at);
}

static uint32_t big_endian(const unsigned char *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

// Makes the database file as long as it has to be when a commit is written back, before the commit is. The log can then
// start over on a full disk, too: otherwise what frees room there would soon have no log to be written to.
static int extend_database(sqlite3_file *log, sqlite3_int64 length) {
  sqlite3_file *file = store_file(log)->database;
  if (!file) return SQLITE_OK;
  StoreFile *mine = store_file(file);
  if (length <= mine->known_end) return SQLITE_OK;
  int status = mine->system->xFileSize(file, &mine->known_end);
  static unsigned char zeros[ROOM_STEP];
  while (status == SQLITE_OK && mine->known_end < length) {
    sqlite3_int64 rest = length - mine->known_end;
    int count = rest < (sqlite3_int64)sizeof zeros ? (int)rest : (int)sizeof zeros;
    status = write_bytes(file, zeros, count, mine->known_end);
    if (status == SQLITE_OK) mine->known_end += count;
  }
  if (status != SQLITE_OK) {
    // Of the frame that makes the commit whole nothing has been written.
    store_file(log)->is_cut = 1;
    mine->known_end = 0;
  }
  return status;
}

// SQLite writes a frame in two pieces, its header and its page, and a commit has several frames. They are gathered, and
// written together with the last frame of the commit, which its header marks: so before the commit is synced or visible.
// Whatever else is done with the log comes after what has been gathered.
static int log_write(sqlite3_file *file, const void *bytes, int length, sqlite3_int64 offset) {
  StoreFile *mine = store_file(file);
  int follows = mine->frames_length > 0 && offset == mine->frames_at + mine->frames_length;
  if (!follows || mine->frames_length + length > FRAMES_LIMIT) {
    int status = write_frames(file);
    if (status != SQLITE_OK) return status;
  }
  // A header at a place that has just been read is new for a page that stays: SQLite does so where a page came twice in a
  // transaction. No page follows it, so it is not gathered.
  int is_header = length == FRAME_HEADER && offset != mine->read_at;
  int is_rest = length == STORE_PAGE_SIZE && mine->frames_length > 0;
  if (!mine->frames && is_header) mine->frames = sqlite3_malloc(FRAMES_LIMIT);
  if (!mine->frames || !(is_header || is_rest)) {
    int status = write_frames(file);
    return status != SQLITE_OK ? status : write_log(file, bytes, length, offset);
  }
  if (mine->frames_length == 0) mine->frames_at = offset;
  memcpy(mine->frames + mine->frames_length, bytes, (size_t)length);
  mine->frames_length += length;
  if (is_header) {
    uint32_t pages = big_endian((const unsigned char *)bytes + 4);
    mine->ends_commit = pages != 0;
    int status = pages ? extend_database(file, (sqlite3_int64)pages * STORE_PAGE_SIZE) : SQLITE_OK;
    if (status != SQLITE_OK) {
      mine->frames_length = 0;
      mine->ends_commit = 0;
      return status;
    }
  }
  return !is_header && mine->ends_commit ? write_frames(file) : SQLITE_OK;
}

static int log_read(sqlite3_file *file, void *bytes, int length, sqlite3_int64 offset) {
  int status = write_frames(file);
  store_file(file)->read_at = offset;
  return status != SQLITE_OK ? status : read_bytes(file, bytes, length, offset);
}

static int log_size(sqlite3_file *file, sqlite3_int64 *size) {
  int status = write_frames(file);
  return status != SQLITE_OK ? status : store_file(file)->system->xFileSize(file, size);
}

static int log_close(sqlite3_file *file) {
  StoreFile *mine = store_file(file);
  // What is left belongs to no commit.
  sqlite3_free(mine->frames);
  mine->frames = NULL;
  mine->frames_length = 0;
  return mine->system->xClose(file);
}

static int store_write(sqlite3_file *file, const void *bytes, int length, sqlite3_int64 offset) {
  if (!store_file(file)->is_database || !is_page(length, offset)) return write_bytes(file, bytes, length, offset);
  unsigned char page[STORE_PAGE_SIZE];
  uint64_t sum = checksum(bytes, (uint64_t)offset);
  memcpy(page, bytes, STORE_PAGE_SIZE - STORE_RESERVED_BYTES);
  memcpy(page + STORE_PAGE_SIZE - STORE_RESERVED_BYTES, &sum, STORE_RESERVED_BYTES);
  return write_bytes(file, page, STORE_PAGE_SIZE, offset);
}

// Where a commit has made the log longer, more room is made behind it, for the commits to come. A sync of a file that is
// longer than at the sync before, or has new blocks, takes three times as long: its length and its blocks are in the
// journal of the file system. Zeros are no frames, so what reads the log stops where they begin.
//
// Without it the commits take longer, and that is all: a failure is nobody's.
static void make_room(sqlite3_file *file) {
  StoreFile *mine = store_file(file);
  if (mine->written_to <= mine->known_end) return;
  int performs;
  if (fault_of(STORE_FAULT_ROOM, &performs)) return;
  if (mine->system->xFileSize(file, &mine->known_end) != SQLITE_OK || mine->known_end > mine->written_to) return;
  static unsigned char zeros[ROOM_STEP];
  sqlite3_int64 room = mine->known_end / 4;
  if (room > ROOM_LIMIT) room = ROOM_LIMIT;
  do {
    if (!has_room(file, sizeof zeros, mine->known_end)) return;
    if (mine->system->xWrite(file, zeros, sizeof zeros, mine->known_end) != SQLITE_OK) return;
    mine->known_end += sizeof zeros;
  } while (mine->known_end < mine->written_to + room);
}

static int store_sync(sqlite3_file *file, int flags) {
  StoreFile *mine = store_file(file);
  int written = write_frames(file);
  if (written != SQLITE_OK) return written;
  // Of a commit that this sync makes durable; others are held from their beginning.
  if (mine->stamp && mine->stamp->is_expected && !mine->stamp->is_held) make_room(file);
  if (mine->sync_delay > 0) system_vfs->xSleep(system_vfs, mine->sync_delay);
  if (mine->failing_syncs > 0) {
    mine->failing_syncs--;
    return SQLITE_IOERR_FSYNC;
  }
  int performs, fault = fault_of(STORE_FAULT_SYNC, &performs);
  if (fault && !performs) return fault;
  int status = mine->system->xSync(file, flags);
  // SQLite makes the commit visible next.
  if (mine->stamp) stamp_begin(mine->stamp);
  return fault ? fault : status;
}

static int store_truncate(sqlite3_file *file, sqlite3_int64 size) {
  int performs, fault = fault_of(STORE_FAULT_TRUNCATE, &performs);
  if (fault && !performs) return fault;
  int written = write_frames(file);
  if (written != SQLITE_OK) return written;
  int status = cut_file(file, size);
  return fault ? fault : status;
}

// The index of the log; where it cannot grow, a commit fails whose frames are in the log already.
static int store_map_index(sqlite3_file *file, int page, int size, int extends, void volatile **start) {
  int status;
  do {
    int performs, fault = extends ? fault_of(STORE_FAULT_INDEX, &performs) : SQLITE_OK;
    if (fault) return fault;
    status = store_file(file)->system->xShmMap(file, page, size, extends, start);
  } while (status == SQLITE_IOERR_SHMSIZE && lends(file, size));
  return status;
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
  if (flags & SQLITE_OPEN_WAL) {
    mine->methods.xWrite = log_write;
    mine->methods.xRead = log_read;
    mine->methods.xFileSize = log_size;
    mine->methods.xClose = log_close;
  }
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

static sqlite3_file *system_file(struct sqlite3 *connection, int operation) {
  sqlite3_file *file = NULL;
  if (sqlite3_file_control(connection, "main", operation, &file) != SQLITE_OK) return NULL;
  return file && file->pMethods && file->pMethods->xSync == store_sync ? file : NULL;
}

static StoreFile *opened_file(struct sqlite3 *connection, int operation) {
  sqlite3_file *file = system_file(connection, operation);
  return file ? store_file(file) : NULL;
}

int store_files_watch(struct sqlite3 *connection, store_stamp *stamp) {
  StoreFile *log = opened_file(connection, SQLITE_FCNTL_JOURNAL_POINTER);
  if (!log) return SQLITE_MISUSE;
  log->stamp = stamp;
  log->database = system_file(connection, SQLITE_FCNTL_FILE_POINTER);
  if (log->database) {
    log->lend = store_file(log->database)->lend;
    log->lender = store_file(log->database)->lender;
  }
  return SQLITE_OK;
}

int store_files_borrow(struct sqlite3 *connection, store_lender lend, void *lender) {
  StoreFile *database = opened_file(connection, SQLITE_FCNTL_FILE_POINTER);
  if (!database) return SQLITE_MISUSE;
  database->lend = lend;
  database->lender = lender;
  return SQLITE_OK;
}

// `sqlite3_db_config` takes a variable number of arguments, which Swift cannot call.
int store_files_keep_log(struct sqlite3 *connection) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)NULL);
}

int store_files_log_is_short(struct sqlite3 *connection) {
  sqlite3_file *log = system_file(connection, SQLITE_FCNTL_JOURNAL_POINTER);
  return log && is_short(log, store_file(log)->written_to);
}

int store_files_log_is_cut(struct sqlite3 *connection) {
  StoreFile *log = opened_file(connection, SQLITE_FCNTL_JOURNAL_POINTER);
  return log && log->is_cut;
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
