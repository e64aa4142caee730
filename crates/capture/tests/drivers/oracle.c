// Does a given number of I/Os in each way that Linux has, and writes to DIR/log what it did: number
// of the thread, operation, file, offset, length, flags.
#include "ring.h"
#include <linux/aio_abi.h>
#include <pthread.h>

#define PAGE 4096
#define DEPTH 32
#define DIRECT_ALIGNED __attribute__((aligned(PAGE)))

enum { READ = 0, WRITE = 1, FSYNC = 2, FDATASYNC = 3, SYNC_RANGE = 4, MSYNC = 5, FAULT = 16, DIRTY = 17 };
enum { DATA_SYNC = 4 };

struct done { unsigned char op; unsigned flags; unsigned long offset, length; };
struct worker {
	pthread_t thread;
	int number, file;
	unsigned long count, seed, logged;
	void (*run)(struct worker *);
	struct done *log;
};

static const char *directory;

static unsigned long random_of(struct worker *worker)
{
	worker->seed ^= worker->seed << 13;
	worker->seed ^= worker->seed >> 7;
	worker->seed ^= worker->seed << 17;
	return worker->seed;
}

static unsigned long pages_of(int file) { return 4096 + file; }

static int open_file(int file, int flags)
{
	char path[4096];
	int fd;
	snprintf(path, sizeof path, "%s/f%d", directory, file);
	fd = open(path, flags);
	CHECK(fd >= 0);
	return fd;
}

static void note(struct worker *worker, int op, unsigned long offset, unsigned long length, unsigned flags)
{
	worker->log[worker->logged++] = (struct done){ op, flags, offset, length };
}

// An offset and a length within the file.
static void place(struct worker *worker, unsigned long unit, unsigned long *offset, unsigned long *length)
{
	*length = unit * (1 + random_of(worker) % 8);
	*offset = random_of(worker) % ((pages_of(worker->file) * PAGE - *length) / unit) * unit;
}

// Tells the reader of the recording which thread this is.
static void introduce(struct worker *worker)
{
	char bytes[64];
	int fd = open_file(worker->file, O_RDONLY);
	CHECK(pread(fd, bytes, 40 + worker->number, 0) == 40 + worker->number);
	note(worker, READ, 0, 40 + worker->number, 0);
	close(fd);
}

static void psync(struct worker *worker)
{
	static __thread char buffer[8 * PAGE];
	int fd = open_file(worker->file, O_RDWR);
	for (unsigned long at = 0; at < worker->count; at++) {
		unsigned long offset, length, op = at % 1000 == 999 ? 8 + random_of(worker) % 3 : random_of(worker) % 8;
		struct iovec vector[2];
		place(worker, 512, &offset, &length);
		vector[0] = (struct iovec){ buffer, length / 2 };
		vector[1] = (struct iovec){ buffer, length - length / 2 };
		switch (op) {
		case 0: case 1: CHECK(pread(fd, buffer, length, offset) == (long)length); break;
		case 2: CHECK(pwrite(fd, buffer, length, offset) == (long)length); break;
		case 3: lseek(fd, offset, SEEK_SET); CHECK(read(fd, buffer, length) == (long)length); break;
		case 4: lseek(fd, offset, SEEK_SET); CHECK(write(fd, buffer, length) == (long)length); break;
		case 5: CHECK(preadv(fd, vector, 2, offset) == (long)length); break;
		case 6: CHECK(pwritev(fd, vector, 2, offset) == (long)length); break;
		case 7: CHECK(preadv2(fd, vector, 2, offset, 0) == (long)length); break;
		case 8: CHECK(!fsync(fd)); break;
		case 9: CHECK(!fdatasync(fd)); break;
		case 10: CHECK(!sync_file_range(fd, offset, length, SYNC_FILE_RANGE_WRITE)); break;
		}
		if (op == 8 || op == 9)
			note(worker, op == 8 ? FSYNC : FDATASYNC, 0, 0, 0);
		else
			note(worker, op == 10 ? SYNC_RANGE : op == 2 || op == 4 || op == 6 ? WRITE : READ, offset, length, 0);
	}
	close(fd);
}

static void libaio(struct worker *worker)
{
	static char buffers[DEPTH][8 * PAGE] DIRECT_ALIGNED;
	aio_context_t context = 0;
	int fd = open_file(worker->file, O_RDWR | O_DIRECT);
	CHECK(!syscall(SYS_io_setup, DEPTH, &context));
	for (unsigned long at = 0; at < worker->count;) {
		struct iocb blocks[DEPTH] = { 0 }, *list[DEPTH];
		struct io_event events[DEPTH];
		int batch = 0;
		for (; batch < DEPTH && at < worker->count; batch++, at++) {
			unsigned long offset, length;
			int is_write = random_of(worker) % 2;
			place(worker, PAGE, &offset, &length);
			blocks[batch] = (struct iocb){
				.aio_fildes = fd, .aio_lio_opcode = is_write ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD,
				.aio_buf = (unsigned long)buffers[batch], .aio_nbytes = length, .aio_offset = offset,
			};
			list[batch] = &blocks[batch];
			note(worker, is_write ? WRITE : READ, offset, length, 0);
		}
		CHECK(syscall(SYS_io_submit, context, batch, list) == batch);
		CHECK(syscall(SYS_io_getevents, context, batch, batch, events, 0) == batch);
		for (int one = 0; one < batch; one++)
			CHECK(events[one].res > 0);
	}
	syscall(SYS_io_destroy, context);
	close(fd);
}

static void request(struct worker *worker, struct ring *ring, int fd, int is_fixed, char *buffer, int op)
{
	struct io_uring_sqe *sqe = ring_next(ring);
	unsigned long offset, length;
	place(worker, 512, &offset, &length);
	sqe->fd = is_fixed ? 0 : fd;
	sqe->flags = is_fixed ? IOSQE_FIXED_FILE : 0;
	sqe->addr = (unsigned long)buffer;
	sqe->len = length;
	sqe->off = offset;
	switch (op) {
	case READ: sqe->opcode = is_fixed ? IORING_OP_READ_FIXED : IORING_OP_READ; break;
	case WRITE:
		sqe->opcode = is_fixed ? IORING_OP_WRITE_FIXED : IORING_OP_WRITE;
		break;
	case SYNC_RANGE:
		sqe->opcode = IORING_OP_SYNC_FILE_RANGE;
		sqe->addr = 0;
		sqe->sync_range_flags = SYNC_FILE_RANGE_WRITE;
		break;
	default:
		sqe->opcode = IORING_OP_FSYNC;
		sqe->addr = sqe->len = sqe->off = offset = length = 0;
		sqe->fsync_flags = op == FDATASYNC ? IORING_FSYNC_DATASYNC : 0;
	}
	note(worker, op, offset, length, 0);
}

static void run_ring(struct worker *worker, unsigned flags, int is_fixed, int is_linked)
{
	char (*buffers)[8 * PAGE] = aligned_alloc(PAGE, DEPTH * 8 * PAGE);
	int fd = open_file(worker->file, O_RDWR), results[DEPTH];
	struct ring ring;
	memset(buffers, 1, DEPTH * 8 * PAGE);
	ring_open(&ring, DEPTH, flags);
	if (is_fixed) {
		struct iovec all = { buffers, DEPTH * 8 * PAGE };
		CHECK(!syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_FILES, &fd, 1));
		CHECK(!syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_BUFFERS, &all, 1));
	}
	for (unsigned long at = 0; at < worker->count;) {
		unsigned batch = 0;
		for (; batch < (is_linked ? 4 : DEPTH) && at < worker->count; batch++, at++) {
			static const int syncs[] = { FSYNC, FDATASYNC, SYNC_RANGE };
			int op = at % 997 == 996 ? syncs[random_of(worker) % 3] : random_of(worker) % 2 ? WRITE : READ;
			request(worker, &ring, fd, is_fixed, buffers[batch], op);
		}
		if (is_linked)
			for (unsigned one = 0; one + 1 < batch; one++)
				ring.sqes[(atomic_load(ring.sq_tail) + one) & ring.sq_mask].flags |= IOSQE_IO_LINK;
		ring_run(&ring, results);
		for (unsigned one = 0; one < batch; one++)
			CHECK(results[one] >= 0);
	}
	close(ring.fd);
	close(fd);
	free(buffers);
}

static void ring_plain(struct worker *worker) { run_ring(worker, 0, 0, 0); }
static void ring_polled(struct worker *worker) { run_ring(worker, IORING_SETUP_SQPOLL, 1, 0); }
static void ring_linked(struct worker *worker) { run_ring(worker, 0, 0, 1); }

static void touch(struct worker *worker, int is_store)
{
	int fd = open_file(worker->file, O_RDWR);
	unsigned long pages = pages_of(worker->file), at = 0;
	unsigned *order = malloc(pages * sizeof *order);
	unsigned char *resident = malloc(pages);
	while (at < worker->count) {
		volatile char *map;
		CHECK(!fdatasync(fd));
		note(worker, FDATASYNC, 0, 0, 0);
		CHECK(!posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
		map = mmap(0, pages * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		CHECK(map != MAP_FAILED && !madvise((void *)map, pages * PAGE, MADV_RANDOM));
		for (unsigned long page = 0; page < pages; page++)
			order[page] = page;
		for (unsigned long page = pages - 1; page > 0; page--) {
			unsigned long other = random_of(worker) % (page + 1);
			unsigned swapped = order[page];
			order[page] = order[other];
			order[other] = swapped;
		}
		CHECK(!mincore((void *)map, pages * PAGE, resident));
		for (unsigned long index = 0; index < pages && at < worker->count; index++, at++) {
			unsigned long page = order[index];
			if (is_store)
				map[page * PAGE] = 7;
			else
				(void)map[page * PAGE];
			if (!(resident[page] & 1))
				note(worker, FAULT, page * PAGE, PAGE, 0);
			if (is_store)
				note(worker, DIRTY, page * PAGE, PAGE, 0);
		}
		if (is_store) {
			CHECK(!msync((void *)map, pages * PAGE, MS_SYNC));
			note(worker, MSYNC, 0, pages * PAGE, 0);
		}
		munmap((void *)map, pages * PAGE);
	}
	free(order);
	free(resident);
	close(fd);
}

static void faults(struct worker *worker) { touch(worker, 0); }
static void stores(struct worker *worker) { touch(worker, 1); }

static void *start(void *argument)
{
	struct worker *worker = argument;
	introduce(worker);
	worker->run(worker);
	return 0;
}

int main(int argc, char **argv)
{
	static struct { void (*run)(struct worker *); int percent; } ways[] = {
		{ psync, 20 }, { psync, 20 }, { libaio, 9 }, { ring_plain, 20 }, { ring_polled, 15 },
		{ ring_linked, 10 }, { faults, 3 }, { stores, 3 },
	};
	enum { WAYS = sizeof ways / sizeof *ways };
	static struct worker workers[WAYS];
	char path[4096];
	FILE *log;
	CHECK(argc == 3);
	directory = argv[1];
	for (int way = 0; way < WAYS; way++) {
		struct worker *worker = &workers[way];
		*worker = (struct worker){ .number = way, .file = way, .run = ways[way].run, .seed = 88172645463325252 + way };
		worker->count = strtoul(argv[2], 0, 10) * ways[way].percent / 100;
		worker->log = malloc((3 * worker->count + 1000) * sizeof *worker->log);
		CHECK(!pthread_create(&worker->thread, 0, start, worker));
	}
	for (int way = 0; way < WAYS; way++)
		pthread_join(workers[way].thread, 0);
	snprintf(path, sizeof path, "%s/log", directory);
	log = fopen(path, "w");
	CHECK(log);
	for (int way = 0; way < WAYS; way++)
		for (unsigned long at = 0; at < workers[way].logged; at++) {
			struct done *done = &workers[way].log[at];
			fprintf(log, "%d %d %d %lu %lu %u\n", way, done->op, workers[way].file, done->offset, done->length, done->flags);
		}
	CHECK(!fclose(log));
	return 0;
}
