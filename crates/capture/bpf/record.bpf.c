// Records the I/O of a tree of processes. BTF tracepoints only: kprobes, fentry and LSM programs are
// barred on some machines. No contents and no names leave the kernel.
#define __VMLINUX_H__ // for libbpf's macros: kernel.h stands in for it
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "event.h"
#include "state.h"
#include "files.h"
#include "sockets.h"
#include "paths.h"
#include "aio.h"
#include "uring.h"
#include "memory.h"
#include "tasks.h"

char LICENSE[] SEC("license") = "GPL";

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

// The calls of a 32-bit program have other numbers.
static __always_inline int is_32_bit(void)
{
#if defined(__TARGET_ARCH_x86)
	return OF_TASK(current_task(), thread_info.status) & 2; // TS_COMPAT
#else
	return OF_TASK(current_task(), thread_info.flags) >> 22 & 1; // TIF_32BIT
#endif
}

#if defined(__TARGET_ARCH_x86)
#define FCNTL 72
#else
#define FCNTL 25
#endif

// The recorder asks about a descriptor with fcntl(fd, F_GETFL).
static __always_inline void answer_recorder(struct pt_regs *regs, long number)
{
	__u64 args[6] = ARGS(regs);
	__u32 zero = 0;
	struct answer answer = { .fd = args[0] };
	struct file *file;
	if (number != FCNTL || args[1] != 3)
		return;
	file = file_of(answer.fd);
	if (!file)
		return;
	struct identity it = identity_of(file);
	answer.inode = it.inode;
	answer.device = it.device;
	answer.generation = it.generation;
	answer.kind = it.kind;
	bpf_map_update_elem(&answers, &zero, &answer, BPF_ANY);
}

SEC("tp_btf/sys_enter") int BPF_PROG(enter, struct pt_regs *regs, long number)
{
	__u32 index = number;
	struct call *call;
	struct thread_state *state;
	struct file *file;
	int role = role_of_current();
	if (role == IS_RECORDER)
		answer_recorder(regs, number);
	if (role != IS_RECORDED || is_32_bit())
		return 0;
	call = bpf_map_lookup_elem(&calls, &index);
	if (!call)
		return 0;
	state = own_state();
	if (!state)
		return 0;
	__u64 args[6] = ARGS(regs);
	__builtin_memcpy(state->args, args, sizeof args);
	state->call = index + 1;
	state->is_faulting = 0;
	state->wait = call->wait;
	if (call->wait == WAIT_SLEEP)
		state->has_slept = 1;
	state->run_delay = run_delay_of(current_task());
	state->start = bpf_ktime_get_ns();
	if (call->shape == SHAPE_AIO_SUBMIT)
		aio_submitted(state);
	if (call->shape == SHAPE_CLOSE) {
		// Afterwards, the descriptor is free, and may be another file's.
		struct identity it = {};
		file = file_of(args[0]);
		if (file)
			it = identity_of(file);
		state->closed = it;
	}
	return 0;
}

static __always_inline void submit_plain(__u8 op, struct thread_state *state, __u64 offset, __u64 length)
{
	struct event *event = new_event(state, op, state->start);
	if (!event)
		return;
	event->offset = offset;
	event->length = length;
	submit(event);
}

// Memory without a file, which may have replaced a mapping.
static __always_inline void mapped_memory(struct thread_state *state, long result)
{
	if (state->args[3] & 0x10 && result >= 0) // MAP_FIXED
		submit_plain(OP_UNMAP, state, result, state->args[1]);
}

static __always_inline void closed(struct thread_state *state, long result)
{
	struct event *event;
	if (state->closed.kind == KIND_NONE || state->closed.kind == KIND_OTHER)
		return;
	event = new_event(state, OP_CLOSE, state->start);
	if (!event)
		return;
	name_file(event, state->closed);
	event->fd = state->args[0];
	event->result = result;
	submit(event);
}

static __always_inline void on_path(struct thread_state *state, struct call *call, long result)
{
	int directory = call->fd == AT_CWD ? AT_FDCWD : (int)argument(state, call->fd);
	struct path_hash path = hash_of(directory, argument(state, call->offset), 0), target = {};
	struct event *event;
	if (call->op == OP_RENAME) {
		directory = call->flags == AT_CWD ? AT_FDCWD : (int)argument(state, call->flags);
		target = hash_of(directory, argument(state, call->detail), 0);
	}
	event = new_event(state, call->op, state->start);
	if (!event)
		return;
	event->result = result;
	event->name = path.last;
	event->offset = directory_and_prefix(path);
	if (call->op == OP_RENAME) {
		event->length = directory_and_prefix(target);
		event->detail = target.last;
	} else if (call->op == OP_TRUNCATE) {
		event->length = argument(state, call->length);
	}
	submit(event);
}

static __always_inline void opened(struct thread_state *state, struct call *call, long result)
{
	int directory = call->fd == AT_CWD ? AT_FDCWD : (int)argument(state, call->fd);
	struct path_hash path = hash_of(directory, argument(state, call->offset), 0);
	struct file *file = file_of(result);
	struct view view = {};
	struct event *event;
	__u64 flags = 01101; // O_CREAT, O_WRONLY, O_TRUNC
	int ends_in_slash = !path.last;
	if (file) {
		view = view_of(file);
		if (view.it.kind == KIND_OTHER)
			return;
		hash_open_file(file, &path);
	} else if (result >= 0) {
		return;
	}
	if (call->detail == OF_HOW)
		bpf_probe_read_user(&flags, sizeof flags, (void *)argument(state, call->flags));
	else if (call->detail != BY_CREAT)
		flags = argument(state, call->detail);
	event = new_event(state, OP_OPEN, state->start);
	if (!event)
		return;
	event->fd = result;
	event->result = result;
	event->detail = flags;
	event->name = path.last;
	event->length = directory_and_prefix(path);
	if (file) {
		name_file(event, view.it);
		event->offset = view.it.kind == KIND_DIRECTORY ? directory_and_own_prefix(file, path, ends_in_slash)
			: view.size;
	}
	submit(event);
}

// The file that an event refers to besides its own.
static __always_inline int mention(struct thread_state *state, int fd, struct identity *it)
{
	struct file *file = file_of(fd);
	struct event *event;
	if (!file)
		return 0;
	*it = identity_of(file);
	if (it->kind == KIND_OTHER)
		return 0;
	event = new_event(state, OP_FILE, state->start);
	if (!event)
		return 0;
	name_file(event, *it);
	event->fd = fd;
	submit(event);
	return 1;
}

static __always_inline void ended(struct thread_state *state, struct call *call, long result)
{
	struct identity target = {};
	struct view view = {};
	struct file *file = 0;
	struct event *event;
	int fd = call->fd == NO_ARG ? -1 : (int)argument(state, call->fd);
	if (call->shape == SHAPE_MAP && (fd < 0 || state->args[3] & 0x20)) // MAP_ANONYMOUS
		return mapped_memory(state, result);
	if (call->shape != SHAPE_PLAIN) {
		file = file_of(fd);
		if (!file)
			return;
		view = view_of(file);
		if (view.it.kind == KIND_OTHER)
			return talked(state, fd, call->wait, result); // a socket, a pipe, a terminal
	}
	if (call->op == OP_COPY_RANGE && !mention(state, argument(state, call->detail), &target))
		return;
	event = new_event(state, call->op, state->start);
	if (!event)
		return;
	event->fd = fd;
	event->result = result;
	if (file)
		name_file(event, view.it);
	event->length = call->length == FROM_RESULT ? (result > 0 ? result : 0) : argument(state, call->length);
	if (call->flags != NO_ARG && call->offset != AT_POINTER)
		event->flags = flags_of_call(event->flags, argument(state, call->flags));
	event->detail = argument(state, call->detail);
	if (call->shape == SHAPE_MAP)
		event->detail |= state->args[3] << 8; // flags, above the protection
	if (!file) {
		event->offset = argument(state, call->offset);
	} else {
		__u64 offset = -1, pointer = argument(state, call->flags);
		if (call->offset != AT_POSITION && call->offset != AT_POINTER)
			offset = argument(state, call->offset);
		else if (call->offset == AT_POINTER && pointer &&
			 !bpf_probe_read_user(&offset, sizeof offset, (void *)pointer) && result > 0)
			offset -= result;
		event->offset = offset_before(view, event, result, offset);
	}
	if (call->op == OP_COPY_RANGE) {
		event->detail = target.inode;
		event->name = target.device;
	}
	submit(event);
}

SEC("tp_btf/sys_exit") int BPF_PROG(leave, struct pt_regs *regs, long result)
{
	struct thread_state *state;
	struct call *call;
	__u32 index;
	if (!current_is_recorded())
		return 0;
	state = state_of_current();
	if (!state || !state->call)
		return 0;
	index = state->call - 1;
	state->call = 0;
	call = bpf_map_lookup_elem(&calls, &index);
	if (!call)
		return 0;
	switch (call->shape) {
	case SHAPE_NONE: talked(state, call->fd == NO_ARG ? -1 : (int)argument(state, call->fd), call->wait, result); break;
	case SHAPE_AIO_SUBMIT: break;
	case SHAPE_AIO_EVENTS: aio_completed(state, result); break;
	case SHAPE_CLOSE: closed(state, result); break;
	case SHAPE_PATH: on_path(state, call, result); break;
	case SHAPE_OPEN: opened(state, call, result); break;
	default: ended(state, call, result);
	}
	return 0;
}
