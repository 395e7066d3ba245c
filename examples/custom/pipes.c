/* Custom mechanism as a library: two pipes, one in each direction.
 *
 *     cc -O2 -fPIC -shared -I include -o pipes.so examples/custom/pipes.c
 *     ipcperf run -m pipe,lib:./pipes.so -b 64,64KiB -w stream,round-trip
 *
 * Option: --set lib.capacity=BYTES. SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ipcperf.h"

struct end {
    int in, out;
};

static int set_capacity(const int pipe[2], uint64_t bytes) {
    return fcntl(pipe[1], F_SETPIPE_SZ, (int)bytes) < 0 ? -errno : 0;
}

/* Stores the requested capacity of the pipes: from the option, otherwise from the setup; 0 keeps the default. */
static int wanted(const struct ipcperf_setup *setup, uint64_t *bytes, char *error, size_t room) {
    *bytes = setup->kernel_buffer_bytes;
    for (uint32_t i = 0; i < setup->option_count; i++) {
        if (strcmp(setup->options[i].name, "capacity") != 0) {
            snprintf(error, room, "unknown option `%s`; the only option is capacity", setup->options[i].name);
            return -EINVAL;
        }
        *bytes = strtoull(setup->options[i].value, NULL, 10);
    }
    return 0;
}

static int open_ends(const struct ipcperf_setup *setup, void *ends[2], uint64_t *granted, char *error, size_t room) {
    int there[2], back[2], flags = O_CLOEXEC | (setup->nonblocking ? O_NONBLOCK : 0);
    uint64_t bytes;
    int status = wanted(setup, &bytes, error, room);
    if (status < 0) return status;
    if (pipe2(there, flags) < 0 || pipe2(back, flags) < 0) return -errno;
    if (bytes > 0 && ((status = set_capacity(there, bytes)) < 0 || (status = set_capacity(back, bytes)) < 0)) {
        snprintf(error, room, "a pipe cannot hold %llu bytes", (unsigned long long)bytes);
        return status;
    }
    struct end *sender = malloc(sizeof *sender), *receiver = malloc(sizeof *receiver);
    if (!sender || !receiver) return -ENOMEM;
    *sender = (struct end){.in = back[0], .out = there[1]};
    *receiver = (struct end){.in = there[0], .out = back[1]};
    ends[0] = sender;
    ends[1] = receiver;
    *granted = (uint64_t)fcntl(there[1], F_GETPIPE_SZ);
    return 0;
}

static ssize_t send_bytes(void *end, const void *bytes, size_t count) {
    ssize_t sent = write(((struct end *)end)->out, bytes, count);
    return sent < 0 ? -errno : sent;
}

static ssize_t recv_bytes(void *end, void *bytes, size_t count) {
    ssize_t got = read(((struct end *)end)->in, bytes, count);
    return got < 0 ? -errno : got;
}

/* Only closes descriptors, so ipcperf can also call it instead of disown. */
static void close_end(void *end) {
    close(((struct end *)end)->in);
    close(((struct end *)end)->out);
    free(end);
}

const struct ipcperf_mechanism *ipcperf_mechanism(void) {
    static const struct ipcperf_mechanism table = {
        .abi = IPCPERF_ABI,
        .flags = IPCPERF_TWO_THREADS | IPCPERF_ONE_THREAD,
        .about = "two pipes, an example of a library",
        .open = open_ends,
        .send = send_bytes,
        .recv = recv_bytes,
        .close = close_end,
    };
    return &table;
}
