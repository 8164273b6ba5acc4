#include "probe.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>

// glibc's own entry points; these definitions take the place of its public names in the whole process.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static atomic_uint_fast64_t count;
static atomic_int_fast64_t live;

static void *taken(void *pointer) {
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&live, (int64_t)malloc_usable_size(pointer), memory_order_relaxed);
    return pointer;
}

static void given(void *pointer) {
    atomic_fetch_sub_explicit(&live, (int64_t)malloc_usable_size(pointer), memory_order_relaxed);
}

uint64_t probe_allocations(void) { return atomic_load_explicit(&count, memory_order_relaxed); }

int64_t probe_live_octets(void) { return atomic_load_explicit(&live, memory_order_relaxed); }

void *malloc(size_t size) { return taken(__libc_malloc(size)); }

void *calloc(size_t number, size_t size) { return taken(__libc_calloc(number, size)); }

void *realloc(void *old, size_t size) {
    given(old);
    return taken(__libc_realloc(old, size));
}

void *memalign(size_t alignment, size_t size) { return taken(__libc_memalign(alignment, size)); }

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **result, size_t alignment, size_t size) {
    *result = memalign(alignment, size);
    return *result ? 0 : 12 /* ENOMEM */;
}

void free(void *pointer) {
    given(pointer);
    __libc_free(pointer);
}
