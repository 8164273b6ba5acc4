#ifndef PROBE_H
#define PROBE_H

#include <stdint.h>

/// Calls of malloc, calloc, realloc and their aligned relatives so far, of all threads.
uint64_t probe_allocations(void);

/// Octets that are allocated now, of all threads.
int64_t probe_live_octets(void);

/// The baseline: a thread that waits in epoll for packets of at most 672 octets on `descriptor` and answers
/// each with `answer`. It ends with the other side of the socket. Returns 0, or errno.
int probe_start_echo(int descriptor, const void *answer, uint32_t length);

/// One client's turns: sends `request` and waits for an answer, `turns` times. Returns nanoseconds of the
/// monotonic clock, or 0 when an answer is not `expected` octets long.
uint64_t probe_ping(int descriptor, const void *request, uint32_t length, uint32_t expected, uint32_t turns);

#endif
