// What the Bluetooth sockets and the event loop need of Linux and Swift's Glibc does not import.
// Constants, structs and ioctl numbers only: nothing of libbluetooth is linked or called.
#ifndef CLINUX_SHIM_H
#define CLINUX_SHIM_H

#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <bluetooth/l2cap.h>

// _IOW macros are not importable.
static const unsigned long CLINUX_HCIDEVUP = HCIDEVUP;
static const unsigned long CLINUX_HCIDEVDOWN = HCIDEVDOWN;

// Enumerators that Swift imports as types of their own.
static const uint32_t CLINUX_EPOLLIN = EPOLLIN;
static const uint32_t CLINUX_EPOLLOUT = EPOLLOUT;
static const uint32_t CLINUX_EPOLLERR = EPOLLERR;
static const uint32_t CLINUX_EPOLLHUP = EPOLLHUP;
static const int CLINUX_EPOLL_CLOEXEC = EPOLL_CLOEXEC;
static const int CLINUX_EFD_CLOEXEC = EFD_CLOEXEC;
static const int CLINUX_EFD_NONBLOCK = EFD_NONBLOCK;
static const int CLINUX_SOCK_SEQPACKET = SOCK_SEQPACKET;
static const int CLINUX_SOCK_STREAM = SOCK_STREAM;
static const int CLINUX_SOCK_RAW = SOCK_RAW;
static const int CLINUX_SOCK_CLOEXEC = SOCK_CLOEXEC;
static const int CLINUX_SOCK_NONBLOCK = SOCK_NONBLOCK;

// glibc hides these behind _GNU_SOURCE, which comes too late for a module.
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
int pipe2(int descriptors[2], int flags);
int accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags);
int pthread_setname_np(pthread_t thread, const char *name);
struct clinux_ucred {
    pid_t pid;
    uid_t uid;
    gid_t gid;
};

#endif
