// Requests of libaio. A function that is not static is checked by the verifier once, not in each turn
// of the loop that calls it.
#pragma once
#include "files.h"

// Notes a request before it starts. Returns 0 if it cannot be read, and neither can those after it.
__noinline int aio_submitted_one(__u64 start, __u64 entry)
{
	struct aio_key key = { .process = bpf_get_current_pid_tgid() >> 32 };
	struct aio aio = { .start = start, .thread = bpf_get_current_pid_tgid() };
	struct file *file;
	struct iocb iocb;
	if (bpf_probe_read_user(&key.iocb, sizeof key.iocb, (void *)entry) ||
	    bpf_probe_read_user(&iocb, sizeof iocb, (void *)key.iocb))
		return 0;
	switch (iocb.aio_lio_opcode) {
	case 0: aio.op = OP_READ; break;
	case 1: aio.op = OP_WRITE; break;
	case 7: aio.op = OP_READ; aio.is_vector = 1; break;
	case 8: aio.op = OP_WRITE; aio.is_vector = 1; break;
	case 2: aio.op = OP_FSYNC; break;
	case 3: aio.op = OP_FDATASYNC; break;
	default: return 1;
	}
	file = file_of(iocb.aio_fildes);
	if (!file)
		return 1;
	aio.it = identity_of(file);
	aio.offset = iocb.aio_offset;
	aio.length = iocb.aio_nbytes;
	aio.fd = iocb.aio_fildes;
	aio.it.flags = flags_of_call(aio.it.flags, iocb.aio_rw_flags) | FLAG_AIO;
	if (bpf_map_update_elem(&aios, &key, &aio, BPF_ANY))
		count_lost(1);
	return 1;
}

static __always_inline void aio_submitted(struct thread_state *state)
{
	__u64 count = state->args[1], list = state->args[2], start = state->start;
	if (count > 128)
		count_lost(count - 128);
	for (int at = 0; at < 128 && at < count; at++)
		if (!aio_submitted_one(start, list + 8 * at))
			break;
}

// Records a request that has completed. Returns 0 if it cannot be read.
__noinline int aio_completed_one(__u64 entry)
{
	struct aio_key key = { .process = bpf_get_current_pid_tgid() >> 32 };
	struct io_event completed;
	struct aio *aio;
	struct event *event;
	struct file *file;
	if (bpf_probe_read_user(&completed, sizeof completed, (void *)entry))
		return 0;
	key.iocb = completed.obj;
	aio = bpf_map_lookup_elem(&aios, &key);
	if (!aio)
		return 1;
	event = new_completion(aio->op, aio->start);
	if (event) {
		event->offset = aio->offset;
		// Of vectors, only their number is known before.
		event->length = !aio->is_vector ? aio->length : completed.res > 0 ? completed.res : 0;
		name_file(event, aio->it);
		event->thread = aio->thread;
		event->fd = aio->fd;
		event->result = completed.res;
		if (aio->op == OP_WRITE && event->flags & FLAG_APPEND && (file = file_of(aio->fd)))
			event->offset = offset_before(view_of(file), event, completed.res, aio->offset);
		submit(event);
	}
	bpf_map_delete_elem(&aios, &key);
	return 1;
}

static __always_inline void aio_completed(struct thread_state *state, long result)
{
	__u64 list = state->args[3];
	if (result > 128)
		count_lost(result - 128);
	for (int at = 0; at < 128 && at < result; at++)
		if (!aio_completed_one(list + at * sizeof(struct io_event)))
			break;
}
