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

/// Advertising reports that a controller sends once scanning is enabled.
struct probe_feed {
    /// How many.
    uint32_t reports;
    /// Of how many advertisers, one after the other.
    uint32_t devices;
    /// Nanoseconds between two of them, less than a second; 0: as fast as the socket takes them.
    uint32_t pause;
};

/// A controller with the legacy commands, all of which succeed: answers commands on a socket, H4 in form,
/// until the other side closes it. Returns 0, or errno.
int probe_be_controller(int descriptor, struct probe_feed feed);

/// The same on a thread of its own, which owns the descriptor.
int probe_start_controller(int descriptor, struct probe_feed feed);

/// Nanoseconds of processor time that the calling thread has spent.
uint64_t probe_thread_time(void);

/// The baseline: enables scanning, then reads packets and counts reports until there are
/// `wanted`. Returns the processor time that this took, or 0 when the socket ended before.
uint64_t probe_count_reports(int descriptor, uint32_t wanted);

/// The same over a stream that blocks, as serial lines and Unix sockets are.
uint64_t probe_count_stream(int descriptor, uint32_t wanted);

#endif
