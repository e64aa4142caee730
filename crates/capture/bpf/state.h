// What the programs share: their settings, maps and events.
#pragma once
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "event.h"

// Set before loading.
const volatile __u32 name_key = 1;
const volatile __u64 namespace_device = 0, namespace_inode = 0; // of the recorder's processes, if not the first
const volatile __u8 has_typed_task = 1; // bpf_get_current_task_btf(), since 5.11
// Where btrfs has the device number of a subvolume; 0: no btrfs.
const volatile __u32 btrfs_root_before = 0; // bytes from an inode back to the pointer to its root
const volatile __u32 btrfs_device_at = 0;

__u64 lost;

struct identity { __u64 inode; __u32 device, generation; __u16 flags; __u8 kind; };

struct thread_state {
	__u64 start;
	__u64 run_delay;    // when the call began
	__u64 counted_delay; // at the previous event
	__u64 args[6];
	__u64 fault_start, fault_page;
	struct identity faulted, closed;
	__u32 call;         // number plus one; 0: in no system call
	__u32 is_faulting;
	__u32 wait;         // kind of call
	__u32 has_slept;    // in nanosleep(), since its previous event that was no wake-up
};

struct request {
	__u64 start, offset, length, detail;
	struct identity closed;
	struct path_hash path, target;
	__u32 thread, process;
	__s32 fd;
	__u16 flags;
	__u8 op, is_vector, keeps_place, is_silent;
};
struct aio_key { __u32 process, pad; __u64 iocb; };
struct aio {
	__u64 start, offset, length;
	struct identity it;
	__u32 thread;
	__s32 fd;
	__u8 op, is_vector;
};

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
MAP(BPF_MAP_TYPE_ARRAY, 1, __u32, struct answer, answers);
MAP(BPF_MAP_TYPE_ARRAY, 1, __u32, struct group, groups);

// A path, and its hash: a function that the verifier checks by itself can return only a number.
struct text { char bytes[512]; struct path_hash hash; };
MAP(BPF_MAP_TYPE_PERCPU_ARRAY, 1, __u32, struct text, texts);

// The reader looks for events from time to time, so nobody has to wake it.
static __always_inline void submit(struct event *event)
{
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
}

static __always_inline void count_lost(__u64 events)
{
	__sync_fetch_and_add(&lost, events);
}

static __always_inline int is_recorded(__u32 process)
{
	__u8 *role = bpf_map_lookup_elem(&recorded, &process);
	return role && *role == IS_RECORDED;
}

// What this process is to the recording; in a namespace, also learns of it by the number it has there.
static __always_inline int role_of_current(void)
{
	__u32 process = bpf_get_current_pid_tgid() >> 32;
	struct bpf_pidns_info inside = {};
	__u8 *role = bpf_map_lookup_elem(&recorded, &process);
	__u8 known;
	if (role)
		return *role;
	if (!namespace_inode || bpf_get_ns_current_pid_tgid(namespace_device, namespace_inode, &inside, sizeof inside))
		return 0;
	role = bpf_map_lookup_elem(&asked, &inside.tgid);
	if (!role)
		return 0;
	known = *role;
	if (bpf_map_update_elem(&recorded, &process, &known, BPF_ANY))
		count_lost(1);
	return known;
}

static __always_inline int current_is_recorded(void)
{
	return role_of_current() == IS_RECORDED;
}

static __always_inline struct thread_state *state_of(__u32 thread)
{
	return bpf_map_lookup_elem(&threads, &thread);
}

static __always_inline struct thread_state *state_of_current(void)
{
	return state_of(bpf_get_current_pid_tgid());
}

// Of a thread that has made no call yet. It would need much of the stack.
const volatile struct thread_state fresh = {};

static __always_inline struct thread_state *own_state(void)
{
	__u32 thread = bpf_get_current_pid_tgid();
	struct thread_state *state = state_of(thread);
	if (state)
		return state;
	if (bpf_map_update_elem(&threads, &thread, (void *)&fresh, BPF_NOEXIST))
		count_lost(1);
	return state_of(thread);
}

static __always_inline struct task_struct *current_task(void)
{
	return has_typed_task ? bpf_get_current_task_btf() : (void *)bpf_get_current_task();
}

// A field of a task. Of a pointer with a type, it needs no call.
#define OF_TASK(task, field) (has_typed_task ? (task)->field : BPF_CORE_READ(task, field))

// How long a thread that could run has waited for a CPU so far.
static __always_inline __u64 run_delay_of(struct task_struct *task)
{
	return bpf_core_field_exists(task->sched_info) ? OF_TASK(task, sched_info.run_delay) : 0;
}

static __always_inline __u32 delay_between(__u64 before, __u64 after)
{
	return after - before < 0xffffffff ? after - before : 0xffffffff;
}

// An event that is not a call of this thread.
static __always_inline struct event *new_completion(__u8 op, __u64 start)
{
	struct event *event = bpf_ringbuf_reserve(&ring, sizeof *event, 0);
	__u64 id = bpf_get_current_pid_tgid();
	if (!event) {
		count_lost(1);
		return 0;
	}
	__builtin_memset(event, 0, sizeof *event);
	event->op = op;
	event->start = start;
	event->end = bpf_ktime_get_ns();
	event->cpu = OF_TASK(current_task(), se.sum_exec_runtime);
	event->thread = id;
	event->process = id >> 32;
	event->fd = -1;
	return event;
}

// An event of this thread, whose state it may have.
static __always_inline struct event *new_event(struct thread_state *state, __u8 op, __u64 start)
{
	struct event *event = new_completion(op, start);
	__u64 delay, until;
	if (!event || !state || op >= OP_UNMAP)
		return event;
	if (op != OP_WAKE)
		state->has_slept = 0;
	delay = run_delay_of(current_task());
	until = start && start == state->start ? state->run_delay : delay;
	event->run_delay = delay_between(state->counted_delay, until);
	state->counted_delay = delay;
	return event;
}

// Threads of io_uring and of the kernel make no system calls.
static __always_inline int is_kernels_own(void)
{
	return (OF_TASK(current_task(), flags) & (0x10 | 0x4000 | 0x200000)) != 0; // PF_IO_WORKER, PF_USER_WORKER, PF_KTHREAD
}
