/* Main program around a plain loop, with the same steps as a worker of ipcperf: one process opens the
 * mechanism, forks two peers and waits for them. Each peer closes the other peer's end, pins itself to its
 * CPU, maps and touches its buffers, and waits at a barrier; then the loop runs. Prints the time from just
 * before the first write to just after the last byte was read, in ns. SOCKET_BUFFER_BYTES of 0 selects the
 * system's default. With `untouched`, buffers are not touched before the loop, as in ipc-static of 2015.
 *
 *     PROGRAM pipe|unix-stream BUFFER_BYTES TOTAL_BYTES CPU [SOCKET_BUFFER_BYTES [untouched]]
 */

#define _GNU_SOURCE
#include "peer.h"

#include <inttypes.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum role { SENDER, RECEIVER };

/* Descriptors that a peer reads from and writes to; for a socket they are the same. */
struct end {
    int read_fd;
    int write_fd;
};

static void open_pipes(struct end ends[2])
{
    int there[2], back[2];
    if (pipe(there) != 0 || pipe(back) != 0)
        give_up("pipe");
    ends[SENDER] = (struct end){back[0], there[1]};
    ends[RECEIVER] = (struct end){there[0], back[1]};
}

/* Opens sockets with the requested buffer size; 0 selects the default. */
static void open_sockets(struct end ends[2], int buffer_bytes)
{
    int pair[2];
    socklen_t size = sizeof buffer_bytes;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        give_up("socketpair");
    if (buffer_bytes > 0 &&
        (setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &buffer_bytes, size) != 0 ||
         setsockopt(pair[1], SOL_SOCKET, SO_RCVBUF, &buffer_bytes, size) != 0))
        give_up("setsockopt");
    ends[SENDER] = (struct end){pair[0], pair[0]};
    ends[RECEIVER] = (struct end){pair[1], pair[1]};
}

static void close_end(struct end end)
{
    close(end.read_fd);
    if (end.write_fd != end.read_fd)
        close(end.write_fd);
}

static void pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        give_up("sched_setaffinity");
}

static void *map(size_t bytes, int sharing)
{
    void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        give_up("mmap");
    return start;
}

char *touched(size_t bytes, int fill)
{
    return memset(map(bytes, MAP_PRIVATE), fill, bytes);
}

/* Barrier: returns once both peers have arrived. */
static void meet(struct shared *shared)
{
    uint32_t meeting = __atomic_load_n(&shared->meeting, __ATOMIC_ACQUIRE);
    if (__atomic_fetch_add(&shared->arrived, 1, __ATOMIC_ACQ_REL) == 1) {
        __atomic_store_n(&shared->arrived, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&shared->meeting, meeting + 1, __ATOMIC_RELEASE);
        syscall(SYS_futex, &shared->meeting, FUTEX_WAKE, 1, NULL, NULL, 0);
        return;
    }
    while (__atomic_load_n(&shared->meeting, __ATOMIC_ACQUIRE) == meeting)
        syscall(SYS_futex, &shared->meeting, FUTEX_WAIT, meeting, NULL, NULL, 0);
}

static void play(enum role role, struct end end, int cpu, struct task task)
{
    pin(cpu);
    task.read_fd = end.read_fd;
    task.write_fd = end.write_fd;
    task.outgoing = task.is_untouched ? map(task.buffer_bytes, MAP_PRIVATE) : touched(task.buffer_bytes, 0x5a);
    task.incoming = task.is_untouched ? map(task.buffer_bytes, MAP_PRIVATE) : touched(task.buffer_bytes, 0xa5);
    meet(task.shared);
    if (role == SENDER)
        play_sender(&task);
    else
        play_receiver(&task);
    meet(task.shared);
}

/* Forks a peer. The kernel kills it if this process dies. */
static pid_t fork_party(enum role role, struct end ends[2], int cpu, struct task task)
{
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid < 0)
        give_up("fork");
    if (pid > 0)
        return pid;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(1);
    close_end(ends[role == SENDER ? RECEIVER : SENDER]);
    play(role, ends[role], cpu, task);
    _exit(0);
}

/* Waits for a peer. If the peer failed, exits, which also kills the other peer. */
static void reap_one(void)
{
    int status;
    if (wait(&status) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "a peer failed\n");
        exit(1);
    }
}

int main(int count, char **words)
{
    struct end ends[2];
    if (count < 5 || count > 7 || (count == 7 && strcmp(words[6], "untouched") != 0)) {
        fprintf(stderr,
                "usage: %s pipe|unix-stream BUFFER_BYTES TOTAL_BYTES CPU [SOCKET_BUFFER_BYTES [untouched]]\n",
                words[0]);
        return 2;
    }
    struct task task = {
        .buffer_bytes = strtoull(words[2], NULL, 10),
        .total_bytes = strtoull(words[3], NULL, 10),
        .is_untouched = count == 7,
        .shared = map(sizeof(struct shared), MAP_SHARED),
    };
    if (strcmp(words[1], "pipe") == 0)
        open_pipes(ends);
    else
        open_sockets(ends, count >= 6 ? atoi(words[5]) : 0);
    fork_party(SENDER, ends, atoi(words[4]), task);
    fork_party(RECEIVER, ends, atoi(words[4]), task);
    close_end(ends[SENDER]);
    close_end(ends[RECEIVER]);
    reap_one();
    reap_one();
    printf("%" PRIu64 "\n", task.shared->end_ns - task.shared->begin_ns);
    return 0;
}
