/* Common part of stream senders: the size of the next message, and the receiver. */

#ifndef STREAM_H
#define STREAM_H

#include "peer.h"

/* Returns the size of the next message; the last one may be shorter. */
static inline size_t next_bytes(const struct task *task, uint64_t left)
{
    return left < task->buffer_bytes ? (size_t)left : task->buffer_bytes;
}

/* Defined in this header, because only one file of each program includes it. */
void play_receiver(struct task *task)
{
    uint64_t left = task->total_bytes;
    while (left > 0) {
        size_t bytes = next_bytes(task, left);
        read_whole(task->read_fd, task->incoming, bytes);
        left -= bytes;
    }
    task->shared->end_ns = now_ns();
}

#endif
