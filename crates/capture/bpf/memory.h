// Page faults of mapped files, and stores to them.
#pragma once
#include "files.h"

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
	state->faulted = identity_of_mapped(mapping);
	return 0;
}

// Begins each fault. For kernels without the tracepoint above, the reader finds the file from the address.
SEC("tp_btf/page_fault_user") int BPF_PROG(address_fault, unsigned long address)
{
	struct thread_state *state = faulting();
	struct identity unknown = {};
	if (!state)
		return 0;
	state->fault_start = bpf_ktime_get_ns();
	state->fault_page = address >> 12;
	state->faulted = unknown;
	return 0;
}

// The kernel's event of a major fault comes when the fault is over.
SEC("perf_event") int major_fault(struct bpf_perf_event_data *context)
{
	struct thread_state *state;
	struct event *event;
	if (!current_is_recorded())
		return 0;
	state = state_of_current();
	if (!state || !state->is_faulting)
		return 0;
	state->is_faulting = 0;
	event = new_event(state, OP_FAULT, state->fault_start);
	if (!event)
		return 0;
	name_file(event, state->faulted);
	event->offset = state->fault_page << 12;
	event->length = event->result = 4096;
	event->detail = context->addr;
	submit(event);
	return 0;
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
	event = new_event(state, OP_DIRTY, bpf_ktime_get_ns());
	if (!event)
		return 0;
	name_file(event, identity_of_mapped(mapping));
	event->offset = BPF_CORE_READ(folio, index) << 12;
	event->length = event->result = 4096;
	submit(event);
	return 0;
}
