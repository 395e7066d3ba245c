/* Plain stream loop whose sender lends its pages to the pipe, as pipe-borrow does. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/uio.h>

#include "stream.h"

/* Number of buffers: one for the message in the pipe (a pipe of 64 KiB refers to one message of that size or
 * more), one for the message that is being read, and one for the message that is lent next. */
#define TURNS 3

static void lend_whole(int fd, char *bytes, size_t left)
{
    while (left > 0) {
        struct iovec rest = { bytes, left };
        ssize_t sent = vmsplice(fd, &rest, 1, 0);
        if (sent < 0 && errno != EINTR)
            give_up("vmsplice");
        if (sent > 0) {
            bytes += sent;
            left -= (size_t)sent;
        }
    }
}

void play_sender(struct task *task)
{
    char *buffers = touched(TURNS * task->buffer_bytes, 0x5a);
    uint64_t left = task->total_bytes;
    unsigned turn = 0;
    task->shared->begin_ns = now_ns();
    while (left > 0) {
        size_t bytes = next_bytes(task, left);
        lend_whole(task->write_fd, buffers + turn * task->buffer_bytes, bytes);
        turn = (turn + 1) % TURNS;
        left -= bytes;
    }
}
