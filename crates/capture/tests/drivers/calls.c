// Calls that a recording must understand: `calls SCENARIO DIR`.
#include "ring.h"
#include <linux/openat2.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

static char page[4096] __attribute__((aligned(4096)));

static int run(struct ring *ring)
{
	int result[64];
	ring_run(ring, result);
	CHECK(result[0] >= 0);
	return result[0];
}

static struct io_uring_sqe *next(struct ring *ring, int opcode, int fd)
{
	struct io_uring_sqe *sqe = ring_next(ring);
	sqe->opcode = opcode;
	sqe->fd = fd;
	return sqe;
}

static void ring_path(struct ring *ring, int opcode, const char *path, unsigned mode, unsigned flags)
{
	struct io_uring_sqe *sqe = next(ring, opcode, AT_FDCWD);
	sqe->addr = (unsigned long)path;
	sqe->len = mode;
	sqe->open_flags = flags;
}

static void ring_range(struct ring *ring, int opcode, int fd, unsigned long offset, unsigned long length, unsigned flags)
{
	struct io_uring_sqe *sqe = next(ring, opcode, fd);
	sqe->off = offset;
	sqe->len = length;
	sqe->sync_range_flags = flags;
	run(ring);
}

static void ring_write(struct ring *ring, int fd, unsigned long offset, unsigned flags)
{
	struct io_uring_sqe *sqe = next(ring, IORING_OP_WRITE, fd);
	sqe->addr = (unsigned long)page;
	sqe->len = sizeof page;
	sqe->off = offset;
	sqe->rw_flags = flags;
	CHECK(run(ring) == sizeof page);
}

// Everything through io_uring.
static void requests(void)
{
	struct ring ring;
	struct open_how how = { .flags = O_RDWR | O_CREAT, .mode = 0600 };
	struct io_uring_sqe *sqe;
	int fd, other;
	ring_open(&ring, 8, 0);
	ring_path(&ring, IORING_OP_OPENAT, "made", 0600, O_RDWR | O_CREAT);
	fd = run(&ring);
	sqe = next(&ring, IORING_OP_FALLOCATE, fd);
	sqe->off = 4096, sqe->addr = 65536, sqe->len = 1; // FALLOC_FL_KEEP_SIZE
	run(&ring);
	ring_write(&ring, fd, 8192, 0);
	ring_write(&ring, fd, 0, RWF_DSYNC);
	ring_write(&ring, fd, 0, RWF_APPEND);
	ring_range(&ring, IORING_OP_SYNC_FILE_RANGE, fd, 4096, 8192, SYNC_FILE_RANGE_WRITE);
	ring_range(&ring, IORING_OP_FSYNC, fd, 0, 0, IORING_FSYNC_DATASYNC);
	ring_range(&ring, IORING_OP_FSYNC, fd, 0, 0, 0);
	ring_range(&ring, IORING_OP_FADVISE, fd, 4096, 12288, POSIX_FADV_RANDOM);
	next(&ring, IORING_OP_CLOSE, fd);
	run(&ring);
	sqe = next(&ring, IORING_OP_RENAMEAT, AT_FDCWD);
	sqe->addr = (unsigned long)"made", sqe->off = (unsigned long)"renamed", sqe->len = AT_FDCWD;
	run(&ring);
	ring_path(&ring, IORING_OP_MKDIRAT, "directory", 0700, 0);
	run(&ring);
	sqe = next(&ring, IORING_OP_OPENAT2, AT_FDCWD);
	sqe->addr = (unsigned long)"directory/second", sqe->off = (unsigned long)&how, sqe->len = sizeof how;
	other = run(&ring);
	ring_write(&ring, other, 0, 0);
	ring_path(&ring, IORING_OP_UNLINKAT, "renamed", 0, 0);
	run(&ring);
	ring_path(&ring, IORING_OP_UNLINKAT, "directory/second", 0, 0);
	run(&ring);
	close(other);
}

static void opens(void)
{
	struct open_how how = { .flags = O_RDWR | O_CREAT | O_EXCL, .mode = 0600 };
	int made = syscall(SYS_openat, AT_FDCWD, "made", O_CREAT | O_WRONLY | O_TRUNC, 0600), how_made;
#ifdef SYS_creat
	close(made);
	made = syscall(SYS_creat, "created", 0600);
#endif
	CHECK(made >= 0 && write(made, page, 100) == 100);
	how_made = syscall(SYS_openat2, AT_FDCWD, "by-how", &how, sizeof how);
	CHECK(how_made >= 0 && write(how_made, page, 200) == 200);
}

// Of proc and sysfs, which the kernel makes up, and one on storage.
static void kernel_files(void)
{
	int comm = open("/proc/self/comm", O_WRONLY), page_size = open("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", O_RDONLY);
	int tasks = open("/proc/self/task", O_RDONLY | O_DIRECTORY), made = open("made", O_RDWR | O_CREAT, 0600);
	CHECK(comm >= 0 && write(comm, "name", 4) == 4);
	CHECK(page_size < 0 || read(page_size, page, 17) > 0);
	CHECK(tasks >= 0 && syscall(SYS_getdents64, tasks, page, 4096) > 0);
	CHECK(made >= 0 && write(made, page, 100) == 100);
	close(comm), close(page_size), close(tasks), close(made);
}

// Two files, a descriptor of one that becomes the other's, and flags that change.
static void descriptors(void)
{
	int a = open("a", O_RDWR | O_CREAT, 0600), b = open("b", O_RDWR | O_CREAT, 0600), copy, high;
	CHECK(write(a, page, 100) == 100);
	copy = dup(a);
	CHECK(write(copy, page, 101) == 101);
	CHECK(dup2(b, copy) == copy && write(copy, page, 200) == 200);
	high = fcntl(a, F_DUPFD, 100);
	CHECK(high >= 100 && write(high, page, 102) == 102);
	CHECK(dup3(b, a, O_CLOEXEC) == a && write(a, page, 201) == 201);
	CHECK(!fcntl(high, F_SETFL, O_APPEND) && pwrite(high, page, 103, 0) == 103);
	CHECK(!fcntl(high, F_SETFL, 0) && pwrite(high, page, 104, 0) == 104);
	CHECK(copy_file_range(high, &(off_t){ 0 }, copy, &(off_t){ 0 }, 50, 0) == 50);
	close(copy), close(high), close(a), close(b);
}

// One address has one file, then memory, then another file.
static void mappings(void)
{
	int a = open("a", O_RDWR | O_CREAT, 0600), b = open("b", O_RDWR | O_CREAT, 0600);
	char *at, *moved;
	CHECK(!ftruncate(a, 65536) && !ftruncate(b, 65536));
	at = mmap(0, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, a, 0);
	CHECK(at != MAP_FAILED);
	CHECK(!msync(at + 8192, 4096, MS_SYNC));
	CHECK(mmap(at, 16384, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, b, 4096) == at);
	CHECK(!msync(at, 4096, MS_SYNC));
	CHECK(!msync(at + 16384, 4096, MS_SYNC));
	CHECK(mmap(at, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at);
	msync(at, 4096, MS_SYNC);
	CHECK(!munmap(at, 16384));
	moved = mremap(at + 16384, 49152, 16384, MREMAP_MAYMOVE);
	CHECK(moved != MAP_FAILED && !msync(moved + 4096, 4096, MS_SYNC));
	moved = mremap(moved, 16384, 16384, MREMAP_MAYMOVE | MREMAP_FIXED, at + (1 << 20));
	CHECK(moved == at + (1 << 20) && !msync(moved, 4096, MS_SYNC));
}

// Two processes in two directories use the same relative name.
static void directories(void)
{
	int one, two, fd;
	CHECK(!mkdir("one", 0700) && !mkdir("two", 0700));
	one = open("one", O_RDONLY | O_DIRECTORY), two = open("two", O_RDONLY | O_DIRECTORY);
	CHECK(one >= 0 && two >= 0);
	fd = openat(one, "same", O_RDWR | O_CREAT, 0600);
	CHECK(write(fd, page, 100) == 100);
	close(fd);
	if (!fork()) {
		CHECK(!chdir("two"));
		fd = open("same", O_RDWR | O_CREAT, 0600);
		CHECK(write(fd, page, 200) == 200);
		close(fd);
		_exit(0);
	}
	wait(0);
	CHECK(!unlinkat(one, "same", 0));
	CHECK(!rename("two/same", "one/renamed"));
	CHECK(!chdir("one") && !unlink("renamed"));
}

// Waits in the middle until another program has done its part.
static void pause_here(void)
{
	char byte;
	int there = open("there", O_WRONLY), back;
	CHECK(write(there, "x", 1) == 1);
	back = open("back", O_RDONLY);
	CHECK(read(back, &byte, 1) == 1);
	close(there), close(back);
}

static void reuse(void)
{
	int fd = open("file", O_RDWR | O_CREAT, 0600);
	CHECK(write(fd, page, 100) == 100);
	close(fd);
	pause_here();
	fd = open("file", O_RDWR);
	CHECK(fd >= 0 && pwrite(fd, page, 200, 0) == 200);
}

// Has a file open and one only mapped when the recording begins.
static void before(void)
{
	int open_one = open("open", O_RDWR), mapped = open("mapped", O_RDWR);
	char *map = mmap(0, 16384, PROT_READ | PROT_WRITE, MAP_SHARED, mapped, 4096);
	CHECK(map != MAP_FAILED);
	close(mapped);
	pause_here();
	CHECK(pwrite(open_one, page, 100, 0) == 100);
	CHECK(!msync(map + 4096, 4096, MS_SYNC));
}

// Starts a child, and ends before it does.
static void orphan(void)
{
	if (!fork()) {
		int fd = open("late", O_RDWR | O_CREAT, 0600);
		while (access("gone", F_OK))
			usleep(1000);
		CHECK(write(fd, page, 300) == 300);
		_exit(0);
	}
	pause_here();
}

// Starts a process in the control group that the link `group` leads to.
static void into_group(void)
{
	struct clone_args how = {
		.flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = open("group", O_RDONLY | O_DIRECTORY),
	};
	long child;
	pause_here();
	child = syscall(SYS_clone3, &how, sizeof how);
	CHECK(child >= 0);
	if (!child) {
		int fd = open("cloned", O_RDWR | O_CREAT, 0600);
		CHECK(write(fd, page, 400) == 400);
		_exit(0);
	}
	wait(0);
}

// Many small writes, whose recording cannot be compressed well. Without the pauses, a recorder on a
// busy machine would lose some.
static void many(void)
{
	int fd = open("small", O_RDWR | O_CREAT, 0600);
	for (unsigned long at = 0, seed = 88172645463325252; at < 300000; at++) {
		seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
		CHECK(pwrite(fd, page, 1 + seed % 50, seed / 64 % 4000) > 0);
		if (at % 200 == 0)
			usleep(1000);
	}
}

// Writes until it is told to stop.
static void endless(void)
{
	int fd = open("small", O_RDWR | O_CREAT, 0600);
	while (access("stop", F_OK))
		for (int at = 0; at < 1000; at++)
			CHECK(pwrite(fd, page, 10, at) == 10);
}

static int listening(int family, void *address, unsigned length)
{
	int fd = socket(family, SOCK_STREAM, 0);
	CHECK(fd >= 0);
	return bind(fd, address, length) || listen(fd, 1) ? -1 : fd;
}

static int connected(int family, void *address, unsigned length)
{
	int fd = socket(family, SOCK_STREAM, 0);
	CHECK(fd >= 0 && !connect(fd, address, length));
	return fd;
}

static void send_bytes(int fd, int way, size_t bytes)
{
	struct iovec part = { page, bytes };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t sent = way == 0 ? write(fd, page, bytes) : way == 1 ? send(fd, page, bytes, 0) : sendmsg(fd, &message, 0);
	CHECK(sent == (ssize_t)bytes);
}

static void receive_bytes(int fd, int way, size_t bytes)
{
	struct iovec part = { page, bytes };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t came = way == 0 ? read(fd, page, bytes) : way == 1 ? recv(fd, page, bytes, 0) : recvmsg(fd, &message, 0);
	CHECK(came == (ssize_t)bytes);
}

// A server, and a client of it: ten requests in each of three ways, through TCP and a named socket.
static void server(void)
{
	struct sockaddr_in inet = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_un named = { .sun_family = AF_UNIX, .sun_path = "socket" };
	int listeners[2] = { -1, listening(AF_UNIX, &named, sizeof named) }, ends[2], pair[2];
	// A port below those that the kernel hands out.
	for (int port = 20000 + getpid() % 5000; listeners[0] < 0; port++) {
		inet.sin_port = htons(port);
		listeners[0] = listening(AF_INET, &inet, sizeof inet);
	}
	if (!fork()) {
		ends[0] = connected(AF_INET, &inet, sizeof inet);
		ends[1] = connected(AF_UNIX, &named, sizeof named);
		for (int at = 0; at < 30; at++) {
			send_bytes(ends[at / 20], at / 10, 10);
			receive_bytes(ends[at / 20], at / 10, 20);
		}
		_exit(0);
	}
	for (int at = 0; at < 2; at++)
		CHECK((ends[at] = accept(listeners[at], 0, 0)) >= 0);
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	for (int at = 0; at < 30; at++) {
		receive_bytes(ends[at / 20], at / 10, 10);
		send_bytes(pair[0], 0, 5);
		receive_bytes(pair[1], 0, 5);
		send_bytes(ends[at / 20], at / 10, 20);
	}
	wait(0);
}

int main(int argc, char **argv)
{
	static const struct { const char *name; void (*run)(void); } scenarios[] = {
		{ "requests", requests }, { "opens", opens }, { "kernel-files", kernel_files }, { "descriptors", descriptors },
		{ "mappings", mappings }, { "directories", directories }, { "reuse", reuse },
		{ "before", before }, { "orphan", orphan }, { "into-group", into_group }, { "many", many }, { "endless", endless },
		{ "server", server },
	};
	CHECK(argc == 3 && !chdir(argv[2]));
	for (unsigned at = 0; at < sizeof scenarios / sizeof *scenarios; at++)
		if (!strcmp(argv[1], scenarios[at].name)) {
			scenarios[at].run();
			return 0;
		}
	return 2;
}
