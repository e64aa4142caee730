// Processes and threads: who starts and wakes whom, and who joins the recording.
#pragma once
#include "files.h"

// Whether it is the group that is recorded, or below it.
static __always_inline int is_in_group(struct cgroup *group)
{
	__u32 zero = 0;
	struct group *wanted = bpf_map_lookup_elem(&groups, &zero);
	struct cgroup_subsys_state *parent;
	if (!wanted || !wanted->is_set || !group)
		return 0;
	if (BPF_CORE_READ(group, root, hierarchy_id) != wanted->hierarchy)
		return 0;
	for (int level = 0; level < 32; level++) {
		if (BPF_CORE_READ(group, kn, id) == wanted->id)
			return 1;
		parent = BPF_CORE_READ(group, self.parent);
		if (!parent)
			return 0;
		group = BPF_CORE_READ(parent, cgroup);
	}
	return 0;
}

// Records a process from now on, and tells the reader.
static __always_inline void join(__u32 process)
{
	__u8 one = IS_RECORDED;
	struct event *event;
	// The recorder itself is not recorded, and who is recorded already need not join.
	if (bpf_map_lookup_elem(&recorded, &process))
		return;
	if (bpf_map_update_elem(&recorded, &process, &one, BPF_NOEXIST))
		return count_lost(1);
	event = new_event(0, OP_JOIN, bpf_ktime_get_ns());
	if (!event)
		return;
	event->length = process;
	submit(event);
}

SEC("tp_btf/cgroup_attach_task") int BPF_PROG(moved, struct cgroup *group, const char *path, struct task_struct *task)
{
	if (is_in_group(group))
		join(task->tgid);
	return 0;
}

// Another program has neither the mappings nor the memory of the one before.
SEC("tp_btf/sched_process_exec") int BPF_PROG(executed, struct task_struct *task)
{
	struct event *event;
	if (!is_recorded(task->tgid))
		return 0;
	event = new_event(0, OP_EXEC, bpf_ktime_get_ns());
	if (event)
		submit(event);
	return 0;
}

SEC("tp_btf/sched_process_fork") int BPF_PROG(forked, struct task_struct *parent, struct task_struct *child)
{
	__u32 of_parent = parent->tgid, of_child = child->tgid;
	__u8 one = 1;
	struct event *event;
	if (!is_recorded(of_parent)) {
		// clone3() can start a process in another group.
		if (of_parent != of_child && is_in_group(BPF_CORE_READ(child, cgroups, dfl_cgrp)))
			join(of_child);
		return 0;
	}
	if (of_parent != of_child && bpf_map_update_elem(&recorded, &of_child, &one, BPF_ANY))
		count_lost(1);
	event = new_event(state_of_current(), OP_SPAWN, bpf_ktime_get_ns());
	if (event) {
		event->detail = child->pid;
		event->length = of_child;
		submit(event);
	}
	return 0;
}

SEC("tp_btf/sched_process_exit") int BPF_PROG(exited, struct task_struct *task)
{
	__u32 thread = task->pid, process = task->tgid;
	struct event *event;
	if (!is_recorded(process))
		return 0;
	event = new_event(state_of_current(), OP_EXIT, bpf_ktime_get_ns());
	if (event)
		submit(event);
	bpf_map_delete_elem(&threads, &thread);
	// Its number may soon be another program's.
	if (task->signal->live.counter == 0)
		bpf_map_delete_elem(&recorded, &process);
	return 0;
}

// Who lets whom go on: by these edges a replay keeps the order between threads.
SEC("tp_btf/sched_waking") int BPF_PROG(waking, struct task_struct *woken)
{
	struct thread_state *own, *other;
	struct event *event;
	__u32 thread = woken->pid;
	__u64 delay;
	if (!current_is_recorded() || !is_recorded(woken->tgid))
		return 0;
	own = state_of_current();
	if (!own || !own->call)
		return 0; // in no system call: most likely an interrupt
	other = state_of(thread);
	event = new_event(own, OP_WAKE, 0);
	if (!event)
		return 0;
	event->start = other && other->call ? other->start : event->end;
	event->detail = thread;
	event->offset = own->wait;
	event->offset |= (other && other->call ? other->wait : 11) << 4;
	event->length = woken->se.sum_exec_runtime;
	if (own->has_slept)
		event->flags |= FLAG_WAKER_SLEPT;
	if (other && other->has_slept)
		event->flags |= FLAG_WOKEN_SLEPT;
	if (other) {
		delay = run_delay_of(woken);
		event->result = delay_between(other->counted_delay, delay);
		other->counted_delay = delay;
	}
	submit(event);
	return 0;
}
