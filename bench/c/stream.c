/* The plain loop of a stream: one party writes, the other reads, until the total has arrived. */

#include "party.h"

void play_sender(struct task *task)
{
    uint64_t left = task->total_bytes;
    task->shared->begin_ns = now_ns();
    while (left > 0) {
        size_t bytes = left < task->buffer_bytes ? (size_t)left : task->buffer_bytes;
        write_whole(task->write_fd, task->outgoing, bytes);
        left -= bytes;
    }
}

void play_receiver(struct task *task)
{
    uint64_t left = task->total_bytes;
    while (left > 0) {
        size_t bytes = left < task->buffer_bytes ? (size_t)left : task->buffer_bytes;
        read_whole(task->read_fd, task->incoming, bytes);
        left -= bytes;
    }
    task->shared->end_ns = now_ns();
}
