// Records the I/O of a tree of processes. BTF tracepoints only: kprobes, fentry and LSM programs are
// barred on some machines. No contents and no names leave the kernel.
#define __VMLINUX_H__ // for libbpf's macros: kernel.h stands in for it
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "event.h"

char LICENSE[] SEC("license") = "GPL";

// Set before loading.
const volatile __u64 wake_reader_at = 1 << 20; // bytes in the ring that are worth waking the reader
const volatile __u32 name_key = 1;
const volatile __u64 namespace_device = 0, namespace_inode = 0; // of the recorder's processes, if not the first
const volatile __u8 with_wakes = 1;

__u64 lost;

struct thread_state {
	__u64 start;
	__u64 args[6];
	__u64 fault_start, fault_inode, fault_page;
	__u32 fault_device;
	__u32 call;         // number plus one; 0: in no system call
	__u32 is_faulting;
	__u32 wait;         // kind of call
};

struct request { __u64 start, offset; __u32 length, thread, process; __u16 flags; __u8 op, is_vector; __s32 fd; };
struct aio_key { __u32 process, pad; __u64 iocb; };
struct aio { __u64 start, offset, length, inode; __u32 device, thread; __u16 flags; __u8 op, kind; __s32 fd; __u32 is_vector; };

#define MAP(map_type, entries, key_type, value_type, name)                                         \
	struct {                                                                                   \
		__uint(type, map_type);                                                            \
		__uint(max_entries, entries);                                                      \
		__type(key, key_type);                                                             \
		__type(value, value_type);                                                         \
	} name SEC(".maps")

struct { __uint(type, BPF_MAP_TYPE_RINGBUF); __uint(max_entries, 8 << 20); } ring SEC(".maps");
MAP(BPF_MAP_TYPE_ARRAY, 512, __u32, struct call, calls);
MAP(BPF_MAP_TYPE_HASH, 16384, __u32, __u8, recorded);          // processes
MAP(BPF_MAP_TYPE_HASH, 1024, __u32, __u8, asked);              // processes, by the numbers of their namespace
MAP(BPF_MAP_TYPE_HASH, 32768, __u32, struct thread_state, threads);
MAP(BPF_MAP_TYPE_HASH, 65536, __u64, struct request, requests);
MAP(BPF_MAP_TYPE_HASH, 65536, struct aio_key, struct aio, aios);

static __always_inline __u64 ring_flags(void)
{
	return bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) >= wake_reader_at ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

static __always_inline void count_lost(__u64 events)
{
	__sync_fetch_and_add(&lost, events);
}

static __always_inline int is_recorded(__u32 process)
{
	return bpf_map_lookup_elem(&recorded, &process) != 0;
}

// Whether this process is recorded; in a namespace, also learns of it by the number it has there.
static __always_inline int current_is_recorded(void)
{
	__u32 process = bpf_get_current_pid_tgid() >> 32;
	struct bpf_pidns_info inside = {};
	__u8 one = 1;
	if (is_recorded(process))
		return 1;
	if (!namespace_inode || bpf_get_ns_current_pid_tgid(namespace_device, namespace_inode, &inside, sizeof inside))
		return 0;
	if (!bpf_map_lookup_elem(&asked, &inside.tgid))
		return 0;
	if (bpf_map_update_elem(&recorded, &process, &one, BPF_ANY))
		count_lost(1);
	return 1;
}

static __always_inline struct thread_state *state_of(__u32 thread)
{
	return bpf_map_lookup_elem(&threads, &thread);
}

static __always_inline struct thread_state *own_state(void)
{
	__u32 thread = bpf_get_current_pid_tgid();
	struct thread_state *state = state_of(thread);
	struct thread_state fresh = {};
	if (state)
		return state;
	if (bpf_map_update_elem(&threads, &thread, &fresh, BPF_NOEXIST))
		count_lost(1);
	return state_of(thread);
}

static __always_inline struct event *new_event(__u8 op, __u64 start)
{
	struct event *event = bpf_ringbuf_reserve(&ring, sizeof *event, 0);
	__u64 id = bpf_get_current_pid_tgid();
	struct task_struct *task = (void *)bpf_get_current_task();
	if (!event) {
		count_lost(1);
		return 0;
	}
	__builtin_memset(event, 0, sizeof *event);
	event->op = op;
	event->start = start;
	event->end = bpf_ktime_get_ns();
	event->cpu = BPF_CORE_READ(task, se.sum_exec_runtime);
	event->thread = id;
	event->process = id >> 32;
	event->fd = -1;
	return event;
}

static __always_inline struct file *file_of(int fd)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **slots, *file = 0;
	if (fd < 0 || (__u32)fd >= BPF_CORE_READ(table, max_fds))
		return 0;
	slots = BPF_CORE_READ(table, fd);
	bpf_probe_read_kernel(&file, sizeof file, slots + fd);
	return file;
}

struct identity { __u64 inode; __u32 device; __u16 flags; __u8 kind; };

// O_APPEND and O_SYNC are the same on x86 and arm64; O_DIRECT is not.
#if defined(__TARGET_ARCH_x86)
#define O_DIRECT 040000
#else
#define O_DIRECT 0200000
#endif

static __always_inline struct identity identity_of(struct file *file)
{
	struct identity it = {};
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	__u16 mode = BPF_CORE_READ(inode, i_mode);
	__u32 flags = BPF_CORE_READ(file, f_flags);
	it.inode = BPF_CORE_READ(inode, i_ino);
	it.device = BPF_CORE_READ(inode, i_sb, s_dev);
	switch (mode & 0170000) {
	case 0100000: it.kind = KIND_REGULAR; break;
	case 0060000: it.kind = KIND_BLOCK; it.flags |= FLAG_BLOCK_DEVICE; it.device = BPF_CORE_READ(inode, i_rdev); break;
	case 0040000: it.kind = KIND_DIRECTORY; it.flags |= FLAG_DIRECTORY; break;
	default: it.kind = KIND_OTHER;
	}
	if (flags & 02000) it.flags |= FLAG_APPEND;
	if (flags & O_DIRECT) it.flags |= FLAG_DIRECT;
	if ((flags & 04010000) == 04010000) it.flags |= FLAG_SYNC;
	else if (flags & 010000) it.flags |= FLAG_DATA_SYNC;
	return it;
}

static __always_inline void name_file(struct event *event, struct identity it)
{
	event->inode = it.inode;
	event->device = it.device;
	event->kind = it.kind;
	event->flags |= it.flags;
}

// A keyed hash of a path, with which the reader joins an open with the unlink of the same path.
static __always_inline __u32 hash_of(__u64 path)
{
	char text[128];
	__u32 hash = name_key;
	long length = bpf_probe_read_user_str(text, sizeof text, (void *)path);
	// A path that does not fit would resemble others.
	if (length <= 0 || length == sizeof text)
		return 0;
	for (int at = 0; at < (int)sizeof text; at++) {
		if (at >= length - 1)
			break;
		hash = (hash ^ (__u8)text[at]) * 0x01000193;
	}
	return hash ? hash : 1;
}

static __always_inline __u64 argument(struct thread_state *state, __u8 which)
{
	switch (which) {
	case 0: return state->args[0];
	case 1: return state->args[1];
	case 2: return state->args[2];
	case 3: return state->args[3];
	case 4: return state->args[4];
	case 5: return state->args[5];
	}
	return 0;
}

static __always_inline void aio_submitted(struct thread_state *state)
{
	struct aio_key key = { .process = bpf_get_current_pid_tgid() >> 32 };
	__u64 count = state->args[1], list = state->args[2];
	if (count > 128)
		count_lost(count - 128);
	for (int at = 0; at < 128 && at < count; at++) {
		__u64 address;
		struct iocb iocb;
		struct aio aio = { .start = state->start, .thread = bpf_get_current_pid_tgid() };
		struct file *file;
		if (bpf_probe_read_user(&address, sizeof address, (void *)(list + 8 * at)) ||
		    bpf_probe_read_user(&iocb, sizeof iocb, (void *)address))
			break;
		switch (iocb.aio_lio_opcode) {
		case 0: aio.op = OP_READ; break;
		case 1: aio.op = OP_WRITE; break;
		case 7: aio.op = OP_READ; aio.is_vector = 1; break;
		case 8: aio.op = OP_WRITE; aio.is_vector = 1; break;
		case 2: aio.op = OP_FSYNC; break;
		case 3: aio.op = OP_FDATASYNC; break;
		default: continue;
		}
		file = file_of(iocb.aio_fildes);
		if (!file)
			continue;
		struct identity it = identity_of(file);
		aio.offset = iocb.aio_offset;
		aio.length = iocb.aio_nbytes;
		aio.fd = iocb.aio_fildes;
		aio.inode = it.inode;
		aio.device = it.device;
		aio.kind = it.kind;
		aio.flags = it.flags | FLAG_AIO;
		if (iocb.aio_rw_flags & 2) aio.flags |= FLAG_DATA_SYNC;
		if (iocb.aio_rw_flags & 4) aio.flags |= FLAG_SYNC;
		key.iocb = address;
		if (bpf_map_update_elem(&aios, &key, &aio, BPF_ANY))
			count_lost(1);
	}
}

static __always_inline void aio_completed(struct thread_state *state, long result)
{
	struct aio_key key = { .process = bpf_get_current_pid_tgid() >> 32 };
	__u64 list = state->args[3];
	for (int at = 0; at < 128 && at < result; at++) {
		struct io_event completed;
		struct aio *aio;
		struct event *event;
		if (bpf_probe_read_user(&completed, sizeof completed, (void *)(list + at * sizeof completed)))
			break;
		key.iocb = completed.obj;
		aio = bpf_map_lookup_elem(&aios, &key);
		if (!aio)
			continue;
		event = new_event(aio->op, aio->start);
		if (event) {
			event->offset = aio->offset;
			// Of vectors, only their number is known before.
			event->length = !aio->is_vector ? aio->length : completed.res > 0 ? completed.res : 0;
			event->inode = aio->inode;
			event->device = aio->device;
			event->kind = aio->kind;
			event->flags = aio->flags;
			event->thread = aio->thread;
			event->fd = aio->fd;
			event->result = completed.res;
			bpf_ringbuf_submit(event, ring_flags());
		}
		bpf_map_delete_elem(&aios, &key);
	}
}

// The calls of a 32-bit program have other numbers.
static __always_inline int is_32_bit(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
#if defined(__TARGET_ARCH_x86)
	return BPF_CORE_READ(task, thread_info.status) & 2; // TS_COMPAT
#else
	return BPF_CORE_READ(task, thread_info.flags) >> 22 & 1; // TIF_32BIT
#endif
}

SEC("tp_btf/sys_enter") int BPF_PROG(enter, struct pt_regs *regs, long number)
{
	__u32 index = number;
	struct call *call;
	struct thread_state *state;
	if (!current_is_recorded() || is_32_bit())
		return 0;
	call = bpf_map_lookup_elem(&calls, &index);
	if (!call || (call->shape == SHAPE_NONE && !with_wakes))
		return 0;
	state = own_state();
	if (!state)
		return 0;
	__u64 args[6] = ARGS(regs);
	__builtin_memcpy(state->args, args, sizeof args);
	state->call = index + 1;
	state->is_faulting = 0;
	state->wait = call->wait;
	state->start = bpf_ktime_get_ns();
	if (call->shape == SHAPE_AIO_SUBMIT)
		aio_submitted(state);
	return 0;
}

// Where the I/O that has just ended was, if it began at the position or went to the end.
static __always_inline __u64 offset_before(struct file *file, struct event *event, long result, __u64 offset)
{
	if (event->op == OP_WRITE && event->flags & FLAG_APPEND && result > 0)
		return BPF_CORE_READ(file, f_inode, i_size) - result;
	if (offset != (__u64)-1)
		return offset;
	event->flags |= FLAG_AT_POSITION;
	offset = BPF_CORE_READ(file, f_pos);
	return result > 0 ? offset - result : offset;
}

static __always_inline void ended(struct thread_state *state, struct call *call, long result)
{
	struct identity it = {};
	struct file *file = 0;
	struct event *event;
	int fd = -1;
	if (call->shape == SHAPE_OPEN)
		fd = result;
	else if (call->fd != NO_ARG)
		fd = argument(state, call->fd);
	if (call->shape == SHAPE_MAP && fd < 0)
		return; // anonymous memory
	// A descriptor that close() returned is free again, and may be another file's by now.
	if (fd >= 0 && !(call->shape == SHAPE_PLAIN)) {
		file = file_of(fd);
		if (!file)
			return;
		it = identity_of(file);
		if (it.kind == KIND_OTHER)
			return; // a socket, a pipe, a terminal
	} else if (call->shape == SHAPE_FILE || call->shape == SHAPE_MAP) {
		return;
	}
	event = new_event(call->op, state->start);
	if (!event)
		return;
	event->fd = fd;
	event->result = result;
	if (file)
		name_file(event, it);
	event->length = call->length == FROM_RESULT ? (result > 0 ? result : 0) : argument(state, call->length);
	if (call->flags != NO_ARG && call->offset != AT_POINTER) {
		__u64 flags = argument(state, call->flags);
		if (flags & 2) event->flags |= FLAG_DATA_SYNC;
		if (flags & 4) event->flags |= FLAG_SYNC;
		if (flags & 16) event->flags |= FLAG_APPEND;
	}
	switch (call->shape) {
	case SHAPE_OPEN:
		event->name = hash_of(argument(state, call->offset));
		event->detail = argument(state, call->detail);
		if (file)
			event->offset = BPF_CORE_READ(file, f_inode, i_size);
		break;
	case SHAPE_PATH:
		event->name = hash_of(argument(state, call->offset));
		if (call->detail != NO_ARG)
			event->detail = hash_of(argument(state, call->detail));
		break;
	default:
		event->detail = argument(state, call->detail);
		if (call->shape == SHAPE_MAP)
			event->detail |= state->args[3] << 8; // flags, above the protection
		if (!file) {
			event->offset = argument(state, call->offset);
		} else if (call->offset == AT_POINTER) {
			__u64 offset = -1, pointer = argument(state, call->flags);
			if (pointer && !bpf_probe_read_user(&offset, sizeof offset, (void *)pointer) && result > 0)
				offset -= result;
			event->offset = offset_before(file, event, result, offset);
		} else {
			__u64 offset = call->offset == AT_POSITION ? (__u64)-1 : argument(state, call->offset);
			event->offset = offset_before(file, event, result, offset);
		}
	}
	bpf_ringbuf_submit(event, ring_flags());
}

SEC("tp_btf/sys_exit") int BPF_PROG(leave, struct pt_regs *regs, long result)
{
	struct thread_state *state;
	struct call *call;
	__u32 index;
	if (!current_is_recorded())
		return 0;
	state = state_of(bpf_get_current_pid_tgid());
	if (!state || !state->call)
		return 0;
	index = state->call - 1;
	state->call = 0;
	call = bpf_map_lookup_elem(&calls, &index);
	if (!call)
		return 0;
	switch (call->shape) {
	case SHAPE_NONE: case SHAPE_AIO_SUBMIT: break;
	case SHAPE_AIO_EVENTS: aio_completed(state, result); break;
	default: ended(state, call, result);
	}
	return 0;
}

static __always_inline int submitted(struct io_kiocb *io)
{
	struct request request = {};
	__u64 key = (__u64)io;
	__u64 id = bpf_get_current_pid_tgid();
	__u64 flags;
	struct io_rw *rw = (void *)io; // the command lies at the start of the request
	// A request whose completion was skipped may have left its place to this one.
	bpf_map_delete_elem(&requests, &key);
	if (!current_is_recorded())
		return 0;
	switch (BPF_CORE_READ(io, opcode)) {
	case 1: request.op = OP_READ; request.is_vector = 1; break;
	case 2: request.op = OP_WRITE; request.is_vector = 1; break;
	case 4: case 22: request.op = OP_READ; break;
	case 5: case 23: request.op = OP_WRITE; break;
	case 3: request.op = OP_FSYNC; break;
	case 8: request.op = OP_SYNC_RANGE; break;
	case 17: request.op = OP_ALLOCATE; break;
	default: return 0;
	}
	request.start = bpf_ktime_get_ns();
	request.thread = id;
	request.process = id >> 32;
	request.flags = FLAG_URING;
	flags = BPF_CORE_READ(io, flags);
	if (flags & 0x0c) request.flags |= FLAG_LINK;
	if (flags & 0x02) request.flags |= FLAG_DRAIN;
	request.fd = bpf_core_field_exists(io->cqe) ? BPF_CORE_READ(io, cqe.fd) : -1;
	if (request.op <= OP_WRITE) {
		request.offset = BPF_CORE_READ(rw, kiocb.ki_pos);
		request.length = BPF_CORE_READ(rw, len);
	}
	if (bpf_map_update_elem(&requests, &key, &request, BPF_ANY))
		count_lost(1);
	return 0;
}

// This tracepoint had three shapes; the loader takes the one that the kernel has.
SEC("tp_btf/io_uring_submit_req") int BPF_PROG(uring_submit_req, struct io_kiocb *io) { return submitted(io); }
SEC("tp_btf/io_uring_submit_sqe") int BPF_PROG(uring_submit_sqe, struct io_kiocb *io) { return submitted(io); }
SEC("tp_btf/io_uring_submit_sqe") int BPF_PROG(uring_submit_ring, void *of_ring, struct io_kiocb *io) { return submitted(io); }

SEC("tp_btf/io_uring_complete") int BPF_PROG(uring_complete, void *of_ring, void *of_request)
{
	__u64 key = (__u64)of_request;
	struct request *request = bpf_map_lookup_elem(&requests, &key);
	struct io_kiocb *io = of_request;
	struct event *event;
	struct file *file;
	if (!request)
		return 0;
	event = new_event(request->op, request->start);
	if (event) {
		event->offset = request->offset;
		event->flags = request->flags;
		event->thread = request->thread;
		event->process = request->process;
		event->fd = request->fd;
		event->result = bpf_core_field_exists(io->cqe) ? BPF_CORE_READ(io, cqe.res)
			: (__s32)BPF_CORE_READ((struct io_kiocb___old *)io, result);
		event->length = !request->is_vector ? request->length : event->result > 0 ? event->result : 0;
		file = BPF_CORE_READ(io, file);
		if (file) {
			name_file(event, identity_of(file));
			event->offset = offset_before(file, event, event->result, request->offset);
		}
		bpf_ringbuf_submit(event, ring_flags());
	}
	bpf_map_delete_elem(&requests, &key);
	return 0;
}

static __always_inline struct thread_state *faulting(void)
{
	struct thread_state *state;
	if (!current_is_recorded())
		return 0;
	state = own_state();
	if (!state)
		return 0;
	// A fault that waited for its page is tried again.
	if (!state->is_faulting)
		state->fault_start = bpf_ktime_get_ns();
	state->is_faulting = 1;
	return state;
}

SEC("tp_btf/mm_filemap_fault") int BPF_PROG(file_fault, struct address_space *mapping, unsigned long page)
{
	struct thread_state *state = faulting();
	if (!state)
		return 0;
	state->fault_page = page;
	state->fault_inode = BPF_CORE_READ(mapping, host, i_ino);
	state->fault_device = BPF_CORE_READ(mapping, host, i_sb, s_dev);
	return 0;
}

// Begins each fault. For kernels without the tracepoint above, the reader finds the file from the address.
SEC("tp_btf/page_fault_user") int BPF_PROG(address_fault, unsigned long address)
{
	struct thread_state *state = faulting();
	if (!state)
		return 0;
	state->fault_start = bpf_ktime_get_ns();
	state->fault_page = address >> 12;
	state->fault_inode = 0;
	state->fault_device = 0;
	return 0;
}

// The kernel's event of a major fault comes when the fault is over.
SEC("perf_event") int major_fault(struct bpf_perf_event_data *context)
{
	struct thread_state *state;
	struct event *event;
	if (!current_is_recorded())
		return 0;
	state = state_of(bpf_get_current_pid_tgid());
	if (!state || !state->is_faulting)
		return 0;
	state->is_faulting = 0;
	event = new_event(OP_FAULT, state->fault_start);
	if (!event)
		return 0;
	event->inode = state->fault_inode;
	event->device = state->fault_device;
	event->kind = state->fault_inode ? KIND_REGULAR : KIND_NONE;
	event->offset = state->fault_page << 12;
	event->length = event->result = 4096;
	event->detail = context->addr;
	bpf_ringbuf_submit(event, ring_flags());
	return 0;
}

// Threads of io_uring and of the kernel make no system calls.
static __always_inline int is_kernels_own(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	return (BPF_CORE_READ(task, flags) & (0x10 | 0x4000 | 0x200000)) != 0; // PF_IO_WORKER, PF_USER_WORKER, PF_KTHREAD
}

// A page that became dirty outside of a system call: a store through a mapping.
SEC("tp_btf/writeback_dirty_folio") int BPF_PROG(dirtied, struct folio *folio, struct address_space *mapping)
{
	struct thread_state *state;
	struct event *event;
	if (!mapping || !current_is_recorded() || is_kernels_own())
		return 0;
	state = own_state();
	if (!state || state->call)
		return 0;
	event = new_event(OP_DIRTY, bpf_ktime_get_ns());
	if (!event)
		return 0;
	event->inode = BPF_CORE_READ(mapping, host, i_ino);
	event->device = BPF_CORE_READ(mapping, host, i_sb, s_dev);
	event->kind = KIND_REGULAR;
	event->offset = BPF_CORE_READ(folio, index) << 12;
	event->length = event->result = 4096;
	bpf_ringbuf_submit(event, ring_flags());
	return 0;
}

SEC("tp_btf/sched_process_fork") int BPF_PROG(forked, struct task_struct *parent, struct task_struct *child)
{
	__u32 of_parent = BPF_CORE_READ(parent, tgid), of_child = BPF_CORE_READ(child, tgid);
	__u8 one = 1;
	struct event *event;
	if (!is_recorded(of_parent))
		return 0;
	if (of_parent != of_child && bpf_map_update_elem(&recorded, &of_child, &one, BPF_ANY))
		count_lost(1);
	event = new_event(OP_SPAWN, bpf_ktime_get_ns());
	if (event) {
		event->detail = BPF_CORE_READ(child, pid);
		event->length = of_child;
		bpf_ringbuf_submit(event, ring_flags());
	}
	return 0;
}

SEC("tp_btf/sched_process_exit") int BPF_PROG(exited, struct task_struct *task)
{
	__u32 thread = BPF_CORE_READ(task, pid), process = BPF_CORE_READ(task, tgid);
	struct event *event;
	if (!is_recorded(process))
		return 0;
	event = new_event(OP_EXIT, bpf_ktime_get_ns());
	if (event)
		bpf_ringbuf_submit(event, ring_flags());
	bpf_map_delete_elem(&threads, &thread);
	// Its number may soon be another program's.
	if (BPF_CORE_READ(task, signal, live.counter) == 0)
		bpf_map_delete_elem(&recorded, &process);
	return 0;
}

// Who lets whom go on: by these edges a replay keeps the order between threads.
SEC("tp_btf/sched_waking") int BPF_PROG(waking, struct task_struct *woken)
{
	struct thread_state *own, *other;
	struct event *event;
	__u32 thread = BPF_CORE_READ(woken, pid);
	if (!current_is_recorded() || !is_recorded(BPF_CORE_READ(woken, tgid)))
		return 0;
	own = state_of(bpf_get_current_pid_tgid());
	if (!own || !own->call)
		return 0; // in no system call: most likely an interrupt
	other = state_of(thread);
	event = new_event(OP_WAKE, 0);
	if (!event)
		return 0;
	event->start = other && other->call ? other->start : event->end;
	event->detail = thread;
	event->offset = own->wait;
	event->length = other && other->call ? other->wait : 11;
	bpf_ringbuf_submit(event, ring_flags());
	return 0;
}
