#ifndef VESTA_COUNTING_ALLOCATOR_H
#define VESTA_COUNTING_ALLOCATOR_H

/* The calls of the process so far that took memory; 0 on platforms whose allocator is not replaced. */
long vesta_allocations(void);

#endif
