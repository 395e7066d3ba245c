/* Parameters of a loop, and the transfers that all loops use. */

#ifndef PEER_H
#define PEER_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Memory shared by both peers, initially all zero. */
struct shared {
    uint32_t arrived;
    uint32_t meeting;
    uint64_t begin_ns;
    uint64_t end_ns;
};

struct task {
    int read_fd;
    int write_fd;
    char *outgoing;
    char *incoming;
    size_t buffer_bytes;
    uint64_t total_bytes;
    int is_untouched;
    struct shared *shared;
};

/* The timed loops, which each program defines. */
void play_sender(struct task *task);
void play_receiver(struct task *task);

/* Returns private memory with every byte set to `fill`, so that every page is present. */
char *touched(size_t bytes, int fill);

static inline uint64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Ends a peer with _exit, because exit would flush output that was buffered before the fork. */
static inline void give_up(const char *what)
{
    perror(what);
    _exit(1);
}

static inline void write_whole(int fd, const char *bytes, size_t left)
{
    while (left > 0) {
        ssize_t sent = write(fd, bytes, left);
        if (sent < 0 && errno != EINTR)
            give_up("write");
        if (sent > 0) {
            bytes += sent;
            left -= (size_t)sent;
        }
    }
}

static inline void read_whole(int fd, char *bytes, size_t left)
{
    while (left > 0) {
        ssize_t got = read(fd, bytes, left);
        if (got == 0 || (got < 0 && errno != EINTR))
            give_up("read");
        if (got > 0) {
            bytes += got;
            left -= (size_t)got;
        }
    }
}

#endif
