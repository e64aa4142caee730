#!/usr/bin/env python3
"""Runs a program, and all that it starts, without io_uring, as container runtimes do by default.

usage: without_io_uring.py CMD...    (as root)
"""
import ctypes
import os
import struct
import sys

PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
# io_uring_setup, io_uring_enter and io_uring_register are 425 to 427 on all architectures.
FILTER = [
    (0x20, 0, 0, 0),  # load the number of the system call
    (0x35, 0, 2, 425),  # below 425: allow
    (0x25, 1, 0, 427),  # above 427: allow
    (0x06, 0, 0, 0x00050001),  # refuse with EPERM
    (0x06, 0, 0, 0x7FFF0000),  # allow
]

code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in FILTER))
program = ctypes.create_string_buffer(struct.pack("HP", len(FILTER), ctypes.addressof(code)))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0) != 0:
    sys.exit(f"seccomp: {os.strerror(ctypes.get_errno())}")
os.execvp(sys.argv[1], sys.argv[1:])
