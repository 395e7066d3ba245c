/* Plain round-trip loop: each message is answered by one of the same size. Reads the clock only at the start
 * and the end of the run. */

#include "peer.h"

void play_sender(struct task *task)
{
    uint64_t trips = task->total_bytes / task->buffer_bytes;
    task->shared->begin_ns = now_ns();
    for (uint64_t trip = 0; trip < trips; trip++) {
        write_whole(task->write_fd, task->outgoing, task->buffer_bytes);
        read_whole(task->read_fd, task->incoming, task->buffer_bytes);
    }
    task->shared->end_ns = now_ns();
}

void play_receiver(struct task *task)
{
    uint64_t trips = task->total_bytes / task->buffer_bytes;
    for (uint64_t trip = 0; trip < trips; trip++) {
        read_whole(task->read_fd, task->incoming, task->buffer_bytes);
        write_whole(task->write_fd, task->outgoing, task->buffer_bytes);
    }
}
