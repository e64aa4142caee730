// io_uring without a library, for one request or one batch at a time.
#pragma once
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define CHECK(condition)                                                       \
	do {                                                                   \
		if (!(condition)) {                                            \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, \
				#condition, strerror(errno));                  \
			exit(1);                                               \
		}                                                              \
	} while (0)

struct ring {
	int fd;
	unsigned flags, entries;
	_Atomic unsigned *sq_head, *sq_tail, *sq_flags, *cq_head, *cq_tail;
	unsigned sq_mask, cq_mask, filled;
	unsigned *array;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
};

static inline void ring_open(struct ring *ring, unsigned entries, unsigned flags)
{
	struct io_uring_params params = { .flags = flags, .sq_thread_idle = 1000 };
	size_t bytes;
	char *map;
	ring->fd = syscall(SYS_io_uring_setup, entries, &params);
	CHECK(ring->fd >= 0);
	ring->flags = flags;
	ring->entries = params.sq_entries;
	ring->filled = 0;
	bytes = params.sq_off.array + params.sq_entries * sizeof(unsigned);
	if (bytes < params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe))
		bytes = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
	map = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, IORING_OFF_SQ_RING);
	CHECK(map != MAP_FAILED);
	ring->sqes = mmap(0, params.sq_entries * sizeof *ring->sqes, PROT_READ | PROT_WRITE,
			  MAP_SHARED, ring->fd, IORING_OFF_SQES);
	CHECK(ring->sqes != MAP_FAILED);
	ring->sq_head = (void *)(map + params.sq_off.head);
	ring->sq_tail = (void *)(map + params.sq_off.tail);
	ring->sq_flags = (void *)(map + params.sq_off.flags);
	ring->sq_mask = *(unsigned *)(map + params.sq_off.ring_mask);
	ring->array = (void *)(map + params.sq_off.array);
	ring->cq_head = (void *)(map + params.cq_off.head);
	ring->cq_tail = (void *)(map + params.cq_off.tail);
	ring->cq_mask = *(unsigned *)(map + params.cq_off.ring_mask);
	ring->cqes = (void *)(map + params.cq_off.cqes);
}

// The next request of the batch.
static inline struct io_uring_sqe *ring_next(struct ring *ring)
{
	unsigned index = (atomic_load(ring->sq_tail) + ring->filled) & ring->sq_mask;
	struct io_uring_sqe *sqe = &ring->sqes[index];
	memset(sqe, 0, sizeof *sqe);
	ring->array[index] = index;
	sqe->user_data = ring->filled++;
	return sqe;
}

// Submits the batch and waits for all of it. `results` are in the order of the requests.
static inline void ring_run(struct ring *ring, int *results)
{
	unsigned left = ring->filled, submit = ring->filled;
	atomic_fetch_add(ring->sq_tail, ring->filled);
	while (left) {
		unsigned flags = IORING_ENTER_GETEVENTS, head = atomic_load(ring->cq_head);
		if (ring->flags & IORING_SETUP_SQPOLL && atomic_load(ring->sq_flags) & IORING_SQ_NEED_WAKEUP)
			flags |= IORING_ENTER_SQ_WAKEUP;
		if (head == atomic_load(ring->cq_tail)) {
			int entered = syscall(SYS_io_uring_enter, ring->fd, submit, 1, flags, 0, 0);
			CHECK(entered >= 0 || errno == EINTR);
			if (entered > 0)
				submit -= (unsigned)entered < submit ? (unsigned)entered : submit;
			continue;
		}
		results[ring->cqes[head & ring->cq_mask].user_data] = ring->cqes[head & ring->cq_mask].res;
		atomic_store(ring->cq_head, head + 1);
		left--;
	}
	ring->filled = 0;
}
