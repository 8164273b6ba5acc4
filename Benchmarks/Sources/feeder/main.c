// A controller behind a Unix socket that sends advertising reports once its host scans: for whole programs.
#include "probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int count, char **words) {
    if (count != 5) {
        fprintf(stderr, "feeder PATH REPORTS DEVICES NANOSECONDS-BETWEEN-TWO\n");
        return 1;
    }
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, words[1], sizeof address.sun_path - 1);
    struct probe_feed feed = {
        (uint32_t)strtoul(words[2], NULL, 10), (uint32_t)strtoul(words[3], NULL, 10),
        (uint32_t)strtoul(words[4], NULL, 10)};
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) < 0
        || listen(listener, 1) < 0) {
        perror(words[1]);
        return 1;
    }
    int host = accept(listener, NULL, NULL);
    unlink(words[1]);
    return host < 0 ? 1 : probe_be_controller(host, feed);
}
