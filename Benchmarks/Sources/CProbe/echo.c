#include "probe.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

struct echo {
    int descriptor;
    uint32_t length;
    uint8_t answer[672];
};

static void *run(void *argument) {
    struct echo *echo = argument;
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    epoll_ctl(epoll, EPOLL_CTL_ADD, echo->descriptor, &event);
    uint8_t buffer[672];
    while (epoll_wait(epoll, &event, 1, -1) == 1) {
        if (read(echo->descriptor, buffer, sizeof buffer) <= 0) break;
        if (write(echo->descriptor, echo->answer, echo->length) < 0) break;
    }
    close(epoll);
    close(echo->descriptor);
    free(echo);
    return NULL;
}

int probe_start_echo(int descriptor, const void *answer, uint32_t length) {
    struct echo *echo = calloc(1, sizeof *echo);
    if (!echo || length > sizeof echo->answer) {
        free(echo);
        return EINVAL;
    }
    echo->descriptor = descriptor;
    echo->length = length;
    memcpy(echo->answer, answer, length);
    pthread_t thread;
    int code = pthread_create(&thread, NULL, run, echo);
    if (code == 0) pthread_detach(thread);
    return code;
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

uint64_t probe_ping(int descriptor, const void *request, uint32_t length, uint32_t expected, uint32_t turns) {
    uint8_t buffer[672];
    uint64_t start = now();
    for (uint32_t turn = 0; turn < turns; turn++) {
        if (write(descriptor, request, length) != (ssize_t)length) return 0;
        if (read(descriptor, buffer, sizeof buffer) != (ssize_t)expected) return 0;
    }
    return now() - start;
}
