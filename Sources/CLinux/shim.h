// Linux declarations that the Bluetooth sockets and the event loop need and Swift's Glibc does not import.
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
#include <sys/xattr.h>

#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <bluetooth/l2cap.h>

#include <linux/capability.h>
#include <linux/sock_diag.h>

// glibc has these functions, but declares them in no header.
int capget(cap_user_header_t header, cap_user_data_t data);
int capset(cap_user_header_t header, const cap_user_data_t data);

// _IOW macros are not importable.
static const unsigned long CLINUX_HCIDEVUP = HCIDEVUP;
static const unsigned long CLINUX_HCIDEVDOWN = HCIDEVDOWN;
static const unsigned long CLINUX_HCIGETDEVINFO = HCIGETDEVINFO;

// The settings of a serial line with its speeds as numbers, so that any speed can be set. <asm/termbits.h>
// declares this struct, but cannot be included together with <termios.h>.
struct clinux_termios2 {
    uint32_t c_iflag;
    uint32_t c_oflag;
    uint32_t c_cflag;
    uint32_t c_lflag;
    uint8_t c_line;
    uint8_t c_cc[19];
    uint32_t c_ispeed;
    uint32_t c_ospeed;
};
static const unsigned long CLINUX_TCGETS2 = _IOR('T', 0x2A, struct clinux_termios2);
static const unsigned long CLINUX_TCSETS2 = _IOW('T', 0x2B, struct clinux_termios2);
static const unsigned long CLINUX_FIONREAD = FIONREAD;
static const int CLINUX_F_GETPIPE_SZ = 1032;  // <fcntl.h> declares it for GNU only.
static const int CLINUX_O_PATH = 010000000, CLINUX_AT_EACCESS = 0x200;  // And these, too.
static const short CLINUX_POLLRDHUP = 0x2000;  // And so does <poll.h>.
static const unsigned long CLINUX_TCFLSH = 0x540B;
static const unsigned long CLINUX_TIOCEXCL = 0x540C;
static const uint32_t CLINUX_BOTHER = 0010000;
static const uint32_t CLINUX_CRTSCTS = 020000000000;

// Constants for enumerators, which Swift imports with types of their own.
static const uint32_t CLINUX_EPOLLIN = EPOLLIN;
static const uint32_t CLINUX_EPOLLOUT = EPOLLOUT;
static const uint32_t CLINUX_EPOLLERR = EPOLLERR;
static const uint32_t CLINUX_EPOLLHUP = EPOLLHUP;
static const uint32_t CLINUX_EPOLLET = EPOLLET;
static const int CLINUX_EPOLL_CLOEXEC = EPOLL_CLOEXEC;
static const int CLINUX_EFD_CLOEXEC = EFD_CLOEXEC;
static const int CLINUX_EFD_NONBLOCK = EFD_NONBLOCK;
static const int CLINUX_SK_MEMINFO_WMEM_ALLOC = SK_MEMINFO_WMEM_ALLOC;
static const int CLINUX_SK_MEMINFO_DROPS = SK_MEMINFO_DROPS;
static const int CLINUX_SK_MEMINFO_VARS = SK_MEMINFO_VARS;
static const int CLINUX_SOCK_SEQPACKET = SOCK_SEQPACKET;
static const int CLINUX_SOCK_STREAM = SOCK_STREAM;
static const int CLINUX_SOCK_RAW = SOCK_RAW;
static const int CLINUX_SOCK_CLOEXEC = SOCK_CLOEXEC;
static const int CLINUX_SOCK_NONBLOCK = SOCK_NONBLOCK;

// glibc declares these only with _GNU_SOURCE, which cannot be defined early enough for a module.
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
int pipe2(int descriptors[2], int flags);
struct clinux_mmsghdr {
    struct msghdr msg_hdr;
    unsigned int msg_len;
};
int clinux_recvmmsg(int descriptor, struct clinux_mmsghdr *messages, unsigned int count, int flags, void *timeout)
    __asm__("recvmmsg");
int syncfs(int descriptor);
int accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags);
int pthread_setname_np(pthread_t thread, const char *name);
struct clinux_ucred {
    pid_t pid;
    uid_t uid;
    gid_t gid;
};

#endif
