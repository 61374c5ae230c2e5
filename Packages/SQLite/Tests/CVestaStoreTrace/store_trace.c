#include "store_trace.h"

#include <sqlite3.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// The system's VFS opens a file into memory that SQLite gives; we replace its table of methods. What belongs to an open
// file is found by its address, as the system's part of the memory has no room for us.
typedef struct {
  sqlite3_file *file;
  const sqlite3_io_methods *system;
  sqlite3_io_methods methods;
  char *path;
} TracedFile;

enum { most_files = 256 };

static TracedFile *files[most_files];
static sqlite3_vfs *system_vfs;
static int (*system_open)(sqlite3_vfs *, const char *, sqlite3_file *, int, int *);
static int (*system_delete)(sqlite3_vfs *, const char *, int);
static char *root;
static int is_recording;
static store_trace_event *events;
static int count, capacity;

static sqlite3_mutex *mutex(void) { return sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP2); }

static void record(int kind, const char *path, sqlite3_int64 offset, const void *bytes, int length) {
  if (!is_recording) return;
  if (count == capacity) {
    capacity = capacity ? capacity * 2 : 1024;
    events = realloc(events, (size_t)capacity * sizeof *events);
    if (!events) abort();
  }
  unsigned char *copy = NULL;
  if (length > 0) {
    copy = malloc((size_t)length);
    if (!copy) abort();
    memcpy(copy, bytes, (size_t)length);
  }
  events[count++] = (store_trace_event){kind, length, offset, strdup(path), copy};
}

static int is_below_root(const char *path) { return root && path && strncmp(path, root, strlen(root)) == 0; }

static TracedFile *traced(sqlite3_file *file) {
  for (int index = 0; index < most_files; index++) {
    if (files[index] && files[index]->file == file) return files[index];
  }
  abort();
}

static int traced_write(sqlite3_file *file, const void *bytes, int length, sqlite3_int64 offset) {
  sqlite3_mutex_enter(mutex());
  TracedFile *mine = traced(file);
  int status = mine->system->xWrite(file, bytes, length, offset);
  if (status == SQLITE_OK) record(STORE_TRACE_WRITE, mine->path, offset, bytes, length);
  sqlite3_mutex_leave(mutex());
  return status;
}

static int traced_truncate(sqlite3_file *file, sqlite3_int64 size) {
  sqlite3_mutex_enter(mutex());
  TracedFile *mine = traced(file);
  int status = mine->system->xTruncate(file, size);
  if (status == SQLITE_OK) record(STORE_TRACE_TRUNCATE, mine->path, size, NULL, 0);
  sqlite3_mutex_leave(mutex());
  return status;
}

static int traced_sync(sqlite3_file *file, int flags) {
  sqlite3_mutex_enter(mutex());
  TracedFile *mine = traced(file);
  int status = mine->system->xSync(file, flags);
  if (status == SQLITE_OK) record(STORE_TRACE_SYNC, mine->path, 0, NULL, 0);
  sqlite3_mutex_leave(mutex());
  return status;
}

static int traced_close(sqlite3_file *file) {
  sqlite3_mutex_enter(mutex());
  const sqlite3_io_methods *system = NULL;
  for (int index = 0; index < most_files; index++) {
    if (!files[index] || files[index]->file != file) continue;
    system = files[index]->system;
    free(files[index]->path);
    free(files[index]);
    files[index] = NULL;
  }
  sqlite3_mutex_leave(mutex());
  if (!system) abort();
  file->pMethods = system;
  return system->xClose(file);
}

static int traced_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *flags_out) {
  const int kinds = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL;
  sqlite3_mutex_enter(mutex());
  int is_ours = is_recording && (flags & kinds) && is_below_root(path), exists = 0;
  if (is_ours) vfs->xAccess(vfs, path, SQLITE_ACCESS_EXISTS, &exists);
  int status = system_open(vfs, path, file, flags, flags_out);
  if (is_ours && status == SQLITE_OK) {
    TracedFile *mine = calloc(1, sizeof *mine);
    if (!mine) abort();
    *mine = (TracedFile){file, file->pMethods, *file->pMethods, strdup(path)};
    mine->methods.xWrite = traced_write;
    mine->methods.xTruncate = traced_truncate;
    mine->methods.xSync = traced_sync;
    mine->methods.xClose = traced_close;
    int index = 0;
    while (index < most_files && files[index]) index++;
    if (index == most_files) abort();
    files[index] = mine;
    file->pMethods = &mine->methods;
    if (!exists) record(STORE_TRACE_CREATE, path, 0, NULL, 0);
  }
  sqlite3_mutex_leave(mutex());
  return status;
}

static int traced_delete(sqlite3_vfs *vfs, const char *path, int syncs_directory) {
  sqlite3_mutex_enter(mutex());
  int status = system_delete(vfs, path, syncs_directory);
  if (status == SQLITE_OK && is_below_root(path)) record(STORE_TRACE_DELETE, path, syncs_directory, NULL, 0);
  sqlite3_mutex_leave(mutex());
  return status;
}

static void forget(void) {
  for (int index = 0; index < count; index++) {
    free((void *)events[index].path);
    free((void *)events[index].bytes);
  }
  count = 0;
}

int store_trace_begin(const char *directory) {
  int status = sqlite3_initialize();
  if (status != SQLITE_OK) return status;
  sqlite3_mutex_enter(mutex());
  forget();
  if (!system_vfs) {
    system_vfs = sqlite3_vfs_find(NULL);
    // The store's VFS calls this one through the object, but deletes through a copy of its entry.
    sqlite3_vfs *store_vfs = sqlite3_vfs_find("vesta-store");
    system_open = system_vfs->xOpen;
    system_delete = system_vfs->xDelete;
    system_vfs->xOpen = traced_open;
    system_vfs->xDelete = traced_delete;
    if (store_vfs) store_vfs->xDelete = traced_delete;
  }
  free(root);
  root = strdup(directory);
  is_recording = 1;
  sqlite3_mutex_leave(mutex());
  return SQLITE_OK;
}

void store_trace_mark(long long number) {
  sqlite3_mutex_enter(mutex());
  record(STORE_TRACE_MARK, "", number, NULL, 0);
  sqlite3_mutex_leave(mutex());
}

int store_trace_end(void) {
  sqlite3_mutex_enter(mutex());
  is_recording = 0;
  sqlite3_mutex_leave(mutex());
  return count;
}

store_trace_event store_trace_event_at(int index) { return events[index]; }
