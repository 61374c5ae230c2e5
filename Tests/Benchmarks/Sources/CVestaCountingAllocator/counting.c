/* The allocator of a program that links this: glibc's, with a count of the calls that take memory.
 *
 * In C, because Swift reserves these names for its runtime. */
#include "counting.h"

/* Defines __GLIBC__ where the library is glibc. */
#include <errno.h>

#ifdef __GLIBC__
#include <stdatomic.h>
#include <stddef.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t step, size_t size);

static atomic_long calls;

long vesta_allocations(void) { return atomic_load(&calls); }

void *malloc(size_t size) {
  atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
  return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
  atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
  return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t step, size_t size) {
  atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
  return __libc_memalign(step, size);
}

int posix_memalign(void **memory, size_t step, size_t size) {
  atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
  void *found = __libc_memalign(step, size);
  if (found) *memory = found;
  return found ? 0 : ENOMEM;
}
#else
long vesta_allocations(void) { return 0; }
#endif
