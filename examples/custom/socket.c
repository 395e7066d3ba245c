/* Custom mechanism as a program: the socket that ipcperf passes to both peers.
 *
 *     cc -O2 -o socket examples/custom/socket.c
 *     ipcperf run -m unix-stream,exec:./socket -b 64,64KiB -w stream,round-trip
 *
 * The protocol is described in docs/custom-mechanisms.md. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { CONTROL = 3, OTHER = 4 };

static size_t buffer_bytes, reply_bytes;
static int is_sender, is_answered, is_echo, verify;
static unsigned char *message;

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void fail(const char *words, uint64_t number) {
    dprintf(CONTROL, "%s %" PRIu64 "\n", words, number);
    exit(1);
}

/* Word `index` of a message whose first word is `first`. */
static uint64_t word(uint64_t first, uint64_t index) {
    if (index == 0) return first;
    uint64_t mixed = (first ^ index * 0x9E3779B97F4A7C15u) * 0xBF58476D1CE4E5B9u;
    return (mixed ^ mixed >> 29) * 0x94D049BB133111EBu;
}

/* Fills the message, little-endian. `first` is its number, inverted in a reply that is not an echo. */
static void stamp(uint64_t first, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) message[i] = (unsigned char)(word(first, i / 8) >> i % 8 * 8);
}

static void check(uint64_t first, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        if (message[i] != (unsigned char)(word(first, i / 8) >> i % 8 * 8)) fail("corrupt at byte", i);
}

static void send_message(uint64_t number, uint64_t first, size_t bytes) {
    if (verify) stamp(first, bytes);
    for (size_t done = 0; done < bytes;) {
        ssize_t sent = write(OTHER, message + done, bytes - done);
        if (sent <= 0) fail("error write failed at message", number);
        done += (size_t)sent;
    }
}

static void receive_message(uint64_t number, uint64_t first, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        ssize_t got = read(OTHER, message + done, bytes - done);
        if (got <= 0) fail("error read failed at message", number);
        done += (size_t)got;
    }
    if (verify) check(first, bytes);
}

/* Marks the loop for instruments: called just before and just after the loop. */
static void mark(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
}

static void phase(uint64_t messages, size_t last_bytes) {
    mark();
    uint64_t begin = now_ns();
    for (uint64_t number = 0; number < messages; number++) {
        size_t bytes = number + 1 == messages ? last_bytes : buffer_bytes;
        uint64_t answer = is_echo ? number : ~number;
        if (is_sender) send_message(number, number, bytes);
        else receive_message(number, number, bytes);
        if (is_answered && is_sender) receive_message(number, answer, reply_bytes);
        else if (is_answered) send_message(number, answer, reply_bytes);
    }
    uint64_t end = now_ns();
    mark();
    dprintf(CONTROL, "done begin_ns=%" PRIu64 " end_ns=%" PRIu64 " messages=%" PRIu64 "\n", begin, end, messages);
}

int main(void) {
    char line[4096], value[4096];
    FILE *control = fdopen(dup(CONTROL), "r");
    uint64_t messages;
    size_t last;
    while (control && fgets(line, sizeof line, control)) {
        if (sscanf(line, "role %s", value) == 1) is_sender = strcmp(value, "sender") == 0;
        if (sscanf(line, "reply %s", value) == 1) is_answered = strcmp(value, "none") != 0, is_echo = strcmp(value, "echo") == 0;
        if (sscanf(line, "verify %s", value) == 1) verify = strcmp(value, "yes") == 0;
        sscanf(line, "buffer_bytes %zu", &buffer_bytes);
        sscanf(line, "reply_bytes %zu", &reply_bytes);
        if (strncmp(line, "option ", 7) == 0) return dprintf(CONTROL, "refuse no options are supported\n"), 1;
        if (strcmp(line, "prepare\n") == 0) {
            message = calloc(1, buffer_bytes > reply_bytes ? buffer_bytes : reply_bytes);
            dprintf(CONTROL, message ? "ready verifies marks\n" : "refuse no memory for a message\n");
        }
        if (sscanf(line, "go %" SCNu64 " %zu", &messages, &last) == 2) phase(messages, last);
        if (strcmp(line, "end\n") == 0) break;
    }
    return 0;
}
