/* What the senders of streams share: how long the next message is, and who receives it. */

#ifndef STREAM_H
#define STREAM_H

#include "party.h"

/* The last message is what remains. */
static inline size_t next_bytes(const struct task *task, uint64_t left)
{
    return left < task->buffer_bytes ? (size_t)left : task->buffer_bytes;
}

/* Defined here: one file of each program includes this. */
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
