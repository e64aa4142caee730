// What the recorder hands to the program that reads its ring buffer.
#pragma once

// One event, 96 bytes: RawEvent in src/raw.rs. Times are CLOCK_MONOTONIC in nanoseconds.
struct event {
	__u64 start, end;
	__u64 cpu;          // CPU time of the thread so far
	__u64 offset, length;
	__u64 inode;
	__s64 result;
	__u64 detail;       // by operation
	__u32 device;       // st_dev of the file; of a block device, the device itself
	__u32 thread, process;
	__s32 fd;
	__u8 op;            // as in the file format
	__u8 kind;          // KIND_*
	__u16 flags;        // FLAG_*, as in the file format
	__u32 name;         // keyed hash of a path's last component; 0: none
	__u32 generation;   // of the inode; 0: the file system has none
	__u32 run_delay;    // of the thread since its previous event, in nanoseconds
};

// How a path is told apart from others without its text. The directory is known by its inode if the
// path has no other component or the file is open, and otherwise by the text before the last slash.
struct path_hash { __u32 directory, prefix, last, all; };

// What the recorder asks of its own descriptors, so that both sides name files alike.
struct answer { __u64 inode; __u32 device, generation; __s32 fd; __u32 kind; };

// Values of the map of recorded processes.
enum { IS_RECORDED = 1, IS_RECORDER = 2 };

// The control group whose later members are recorded, too.
struct group { __u64 id; __u32 hierarchy, is_set; };

enum { KIND_NONE, KIND_REGULAR, KIND_BLOCK, KIND_DIRECTORY, KIND_OTHER };

enum {
	FLAG_APPEND = 1, FLAG_DIRECT = 1 << 1, FLAG_DATA_SYNC = 1 << 2, FLAG_SYNC = 1 << 3,
	FLAG_BLOCK_DEVICE = 1 << 4, FLAG_DIRECTORY = 1 << 5, FLAG_URING = 1 << 6, FLAG_AIO = 1 << 7,
	FLAG_LINK = 1 << 8, FLAG_DRAIN = 1 << 9, FLAG_SQ_POLL = 1 << 10, FLAG_AT_POSITION = 1 << 11,
	FLAG_WAKER_SLEPT = 1 << 12, FLAG_WOKEN_SLEPT = 1 << 13,
};

// The operations that the recorder itself tells apart; the table of calls names all others.
enum {
	OP_READ = 0, OP_WRITE = 1, OP_FSYNC = 2, OP_FDATASYNC = 3, OP_SYNC_RANGE = 4, OP_ALLOCATE = 6,
	OP_TRUNCATE = 7, OP_OPEN = 8, OP_CLOSE = 9, OP_RENAME = 10, OP_UNLINK = 11, OP_MKDIR = 12,
	OP_STAT = 13, OP_FAULT = 16, OP_DIRTY = 17, OP_ADVISE = 18, OP_COPY_RANGE = 20, OP_WAKE = 22,
	OP_SPAWN = 23, OP_EXIT = 24, OP_REQUEST = 25, OP_ANSWER = 26,
	// Only for the reader; not in the file format.
	OP_UNMAP = 128, OP_REMAP = 129, OP_EXEC = 130, OP_FILE = 131, OP_JOIN = 132,
};

// Kinds of calls, as in the file format.
enum { WAIT_WRITE = 2, WAIT_READ = 4, WAIT_SLEEP = 5 };

// How a call is recorded. The program fills the table of calls, so that the numbers of an
// architecture's system calls are known in one place only.
struct call {
	__u8 shape;         // SHAPE_*
	__u8 op;
	__u8 wait;          // in which kind of call a thread is, for wake-ups
	__u8 fd, offset, length, detail, flags; // number of the argument, or NO_ARG
};

enum {
	SHAPE_NONE,         // only noted for wake-ups; on a socket, for requests and answers
	SHAPE_FILE,         // a call on a descriptor
	SHAPE_OPEN,         // returns a descriptor
	SHAPE_PATH,         // a path, or two
	SHAPE_PLAIN,        // neither
	SHAPE_MAP,
	SHAPE_AIO_SUBMIT,
	SHAPE_AIO_EVENTS,
	SHAPE_CLOSE,
};

// AT_POINTER: the offset is where the argument in `flags` points, or the position if that is null.
// BY_CREAT: the detail is the flags that creat() implies. OF_HOW: it is where `flags` points.
// AT_CWD: the base of a relative path.
enum {
	NO_ARG = 0xff, AT_POSITION = 0xfe, FROM_RESULT = 0xfd, AT_POINTER = 0xfc, BY_CREAT = 0xfb, OF_HOW = 0xfa,
	AT_CWD = 0xf9,
};
