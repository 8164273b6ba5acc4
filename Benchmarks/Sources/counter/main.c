// The baseline for whole programs: enables scanning on the controller behind a Unix socket, and counts its
// reports.
#include "probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

int main(int count, char **words) {
    if (count != 3) {
        fprintf(stderr, "counter PATH REPORTS\n");
        return 1;
    }
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, words[1], sizeof address.sun_path - 1);
    int controller = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (controller < 0 || connect(controller, (struct sockaddr *)&address, sizeof address) < 0) {
        perror(words[1]);
        return 1;
    }
    return probe_count_stream(controller, (uint32_t)strtoul(words[2], NULL, 10)) > 0 ? 0 : 1;
}
