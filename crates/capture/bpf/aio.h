// Requests of libaio.
#pragma once
#include "files.h"

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
		aio.it = identity_of(file);
		aio.offset = iocb.aio_offset;
		aio.length = iocb.aio_nbytes;
		aio.fd = iocb.aio_fildes;
		aio.it.flags = flags_of_call(aio.it.flags, iocb.aio_rw_flags) | FLAG_AIO;
		key.iocb = address;
		if (bpf_map_update_elem(&aios, &key, &aio, BPF_ANY))
			count_lost(1);
	}
}

static __always_inline void aio_completed(struct thread_state *state, long result)
{
	struct aio_key key = { .process = bpf_get_current_pid_tgid() >> 32 };
	__u64 list = state->args[3];
	if (result > 128)
		count_lost(result - 128);
	for (int at = 0; at < 128 && at < result; at++) {
		struct io_event completed;
		struct aio *aio;
		struct event *event;
		struct file *file;
		if (bpf_probe_read_user(&completed, sizeof completed, (void *)(list + at * sizeof completed)))
			break;
		key.iocb = completed.obj;
		aio = bpf_map_lookup_elem(&aios, &key);
		if (!aio)
			continue;
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
				event->offset = offset_before(file, event, completed.res, aio->offset);
			bpf_ringbuf_submit(event, ring_flags());
		}
		bpf_map_delete_elem(&aios, &key);
	}
}
