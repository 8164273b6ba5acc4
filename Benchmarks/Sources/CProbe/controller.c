#include "probe.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct controller {
    int descriptor;
    struct probe_feed feed;
};

/// Octets behind the status in what a command returns; the commands that are missing return only that.
static uint8_t returned(uint16_t opcode) {
    switch (opcode) {
    case 0x1001: return 8;  // Read Local Version Information
    case 0x1002: return 64; // Read Local Supported Commands
    case 0x1003: return 8;  // Read Local Supported Features
    case 0x1005: return 7;  // Read Buffer Size
    case 0x1009: return 6;  // Read BD_ADDR
    case 0x2002: return 3;  // LE Read Buffer Size
    case 0x2003: return 8;  // LE Read Local Supported Features
    case 0x200f: return 1;  // LE Read Filter Accept List Size
    case 0x201c: return 8;  // LE Read Supported States
    default: return 0;
    }
}

static int answer(int descriptor, uint16_t opcode) {
    uint8_t event[7 + 64] = {0x04, 0x0e, 0, 1, (uint8_t)opcode, (uint8_t)(opcode >> 8), 0};
    uint8_t length = returned(opcode);
    event[2] = (uint8_t)(4 + length);
    // Octets that are no zeros: an address, and buffers to send to.
    for (int index = 0; length <= 8 && index < length; index++) event[7 + index] = (uint8_t)(0x10 + index);
    if (opcode == 0x2003) memset(event + 7, 0, 8);
    return write(descriptor, event, 7u + length) < 0 ? -1 : 0;
}

/// LE Advertising Report: ADV_NONCONN_IND of a beacon with a name, a service and a company's data.
static const uint8_t report[] = {
    0x04, 0x3e, 0x2b, 0x02, 0x01, 0x03, 0x01, 0, 0, 0, 0, 0, 0xc0, 0x1f,
    0x02, 0x01, 0x06, 0x05, 0x03, 0x09, 0x18, 0x0f, 0x18,
    0x0c, 0x09, 'T', 'h', 'e', 'r', 'm', 'o', 'm', 'e', 't', 'e', 'r',
    0x08, 0xff, 0xff, 0xff, 0x01, 0x02, 0x03, 0x04, 0x05, 0xc8};

static int feed(int descriptor, const struct probe_feed *feed) {
    uint8_t packet[sizeof report];
    memcpy(packet, report, sizeof packet);
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (uint32_t number = 0; number < feed->reports; number++) {
        uint32_t device = number % feed->devices;
        memcpy(packet + 7, &device, sizeof device);
        if (write(descriptor, packet, sizeof packet) < 0) return -1;
        if (feed->pause == 0) continue;
        next.tv_nsec += feed->pause;
        if (next.tv_nsec >= 1000000000) {
            next.tv_nsec -= 1000000000;
            next.tv_sec++;
        }
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    }
    return 0;
}

int probe_be_controller(int descriptor, struct probe_feed wanted) {
    uint8_t command[4 + 255];
    // A stream may bring a command in pieces.
    size_t have = 0;
    while (1) {
        ssize_t count = read(descriptor, command + have, sizeof command - have);
        if (count <= 0) return count == 0 ? 0 : errno;
        have += (size_t)count;
        while (have >= 4 && have >= 4u + command[3]) {
            uint16_t opcode = (uint16_t)(command[1] | command[2] << 8);
            int scans = opcode == 0x200c && command[4] == 1;
            size_t length = 4u + command[3];
            memmove(command, command + length, have - length);
            have -= length;
            if (answer(descriptor, opcode) < 0 || (scans && feed(descriptor, &wanted) < 0)) return errno;
        }
    }
}

static void *run(void *argument) {
    struct controller *controller = argument;
    probe_be_controller(controller->descriptor, controller->feed);
    close(controller->descriptor);
    free(controller);
    return NULL;
}

int probe_start_controller(int descriptor, struct probe_feed feed) {
    struct controller *controller = malloc(sizeof *controller);
    if (!controller) return ENOMEM;
    *controller = (struct controller){descriptor, feed};
    pthread_t thread;
    int code = pthread_create(&thread, NULL, run, controller);
    if (code == 0) pthread_detach(thread);
    return code;
}

uint64_t probe_thread_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

uint64_t probe_count_reports(int descriptor, uint32_t wanted) {
    static const uint8_t scan[] = {0x01, 0x0c, 0x20, 0x02, 0x01, 0x00};
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
    uint64_t start = probe_thread_time();
    if (write(descriptor, scan, sizeof scan) < 0) wanted = 0;
    uint32_t reports = 0;
    uint8_t packet[260];
    while (reports < wanted && epoll_wait(epoll, &event, 1, -1) == 1) {
        // As the host does: what is there is read before the next wait.
        for (int turn = 0; turn < 32; turn++) {
            ssize_t count = recv(descriptor, packet, sizeof packet, MSG_DONTWAIT);
            if (count < 0) break;
            if (count > 4 && packet[1] == 0x3e && packet[3] == 0x02) reports += packet[4];
        }
    }
    close(epoll);
    return reports < wanted ? 0 : probe_thread_time() - start;
}

uint64_t probe_count_stream(int descriptor, uint32_t wanted) {
    static const uint8_t scan[] = {0x01, 0x0c, 0x20, 0x02, 0x01, 0x00};
    uint64_t start = probe_thread_time();
    if (write(descriptor, scan, sizeof scan) < 0) return 0;
    static uint8_t buffer[1 << 16];
    size_t have = 0;
    for (uint32_t reports = 0; reports < wanted;) {
        ssize_t count = read(descriptor, buffer + have, sizeof buffer - have);
        if (count <= 0) return 0;
        have += (size_t)count;
        size_t at = 0;
        for (; have - at >= 3 && have - at >= 3u + buffer[at + 2]; at += 3u + buffer[at + 2]) {
            if (buffer[at + 1] == 0x3e && buffer[at + 3] == 0x02) reports += buffer[at + 4];
        }
        memmove(buffer, buffer + at, have -= at);
    }
    return probe_thread_time() - start;
}
