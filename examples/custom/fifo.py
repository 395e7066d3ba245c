#!/usr/bin/env python3
"""Custom mechanism as a Python program: a FIFO in the folder that ipcperf provides.

    ipcperf run -m fifo,exec:examples/custom/fifo.py -b 64KiB

Streams only. The protocol is described in docs/custom-mechanisms.md. SPDX-License-Identifier: MIT OR Apache-2.0
"""

import os
import sys
import time

CONTROL = open(3, "r", encoding="ascii", closefd=False)
MASK = (1 << 64) - 1


def say(words):
    os.write(3, (words + "\n").encode())


def stamped(number, size):
    """Returns message `number`, of `size` bytes."""
    words = [number]
    for index in range(1, (size + 7) // 8):
        mixed = (number ^ index * 0x9E3779B97F4A7C15 & MASK) * 0xBF58476D1CE4E5B9 & MASK
        words.append((mixed ^ mixed >> 29) * 0x94D049BB133111EB & MASK)
    return b"".join(word.to_bytes(8, "little") for word in words)[:size]


def prepare(case):
    """Opens the FIFO. The open call of each peer waits until the other peer opens the FIFO, too."""
    path = os.path.join(case["folder"], "fifo")
    try:
        os.mkfifo(path)
    except FileExistsError:
        pass
    sends = case["role"] == "sender"
    return os.open(path, os.O_WRONLY if sends else os.O_RDONLY)


def send(fifo, message):
    rest = memoryview(message)
    while rest:
        rest = rest[os.write(fifo, rest) :]


def receive(fifo, size):
    pieces = []
    while size:
        piece = os.read(fifo, size)
        if not piece:
            say("error the sender is gone")
            sys.exit(1)
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def phase(case, fifo, messages, last):
    size, verify = int(case["buffer_bytes"]), case["verify"] == "yes"
    plain = bytes(size)
    begin = time.monotonic_ns()
    for number in range(messages):
        bytes_now = last if number + 1 == messages else size
        if case["role"] == "sender":
            send(fifo, stamped(number, bytes_now) if verify else memoryview(plain)[:bytes_now])
        else:
            message = receive(fifo, bytes_now)
            if verify and message != stamped(number, bytes_now):
                say(f"corrupt message {number}")
                sys.exit(1)
    end = time.monotonic_ns()
    say(f"done begin_ns={begin} end_ns={end} messages={messages}")


def main():
    case, fifo = {}, None
    for line in CONTROL:
        word, _, rest = line.rstrip("\n").partition(" ")
        if word == "prepare":
            if case["workload"] != "stream":
                say("refuse this program supports streams only")
                return
            fifo = prepare(case)
            say("ready verifies")
        elif word == "go":
            phase(case, fifo, *map(int, rest.split()))
        elif word == "end":
            return
        else:
            case[word] = rest


main()
