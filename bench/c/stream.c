/* Plain stream loop: one peer writes and the other reads until the total has arrived. */

#include "stream.h"

void play_sender(struct task *task)
{
    uint64_t left = task->total_bytes;
    task->shared->begin_ns = now_ns();
    while (left > 0) {
        size_t bytes = next_bytes(task, left);
        write_whole(task->write_fd, task->outgoing, bytes);
        left -= bytes;
    }
}
