// Requests of io_uring.
#pragma once
#include "paths.h"

static __always_inline struct path_hash hash_of_name(int directory, struct filename *name)
{
	return hash_of(directory, (__u64)BPF_CORE_READ(name, name), 1);
}

// Reads the arguments of a request, once they are checked and before it starts; 0: it is not recorded.
static __always_inline int read_data_request(struct io_kiocb *io, struct request *request)
{
	struct io_rw *rw = (void *)io;
	struct io_sync *sync = (void *)io;
	struct io_fadvise *advise = (void *)io;
	struct io_ftrunc *truncate = (void *)io;
	switch (BPF_CORE_READ(io, opcode)) {
	case 1: case 60: request->op = OP_READ; request->is_vector = 1; break;
	case 2: case 61: request->op = OP_WRITE; request->is_vector = 1; break;
	case 4: case 22: request->op = OP_READ; break;
	case 5: case 23: request->op = OP_WRITE; break;
	case 3:
		request->op = BPF_CORE_READ(sync, flags) & 1 ? OP_FDATASYNC : OP_FSYNC;
		return 1;
	case 8: request->op = OP_SYNC_RANGE; request->detail = (__u32)BPF_CORE_READ(sync, flags); break;
	case 17: request->op = OP_ALLOCATE; request->detail = (__u32)BPF_CORE_READ(sync, mode); break;
	case 24:
		request->op = OP_ADVISE;
		request->offset = BPF_CORE_READ(advise, offset);
		request->length = BPF_CORE_READ(advise, len);
		if (bpf_core_field_size(advise->len) == 4)
			request->length = (__u32)request->length;
		request->detail = BPF_CORE_READ(advise, advice);
		return 1;
	case 55:
		if (!bpf_core_field_exists(truncate->len))
			return 0;
		request->op = OP_TRUNCATE;
		request->offset = BPF_CORE_READ(truncate, len);
		return 1;
	default: return 0;
	}
	if (request->op <= OP_WRITE) {
		request->offset = BPF_CORE_READ(rw, kiocb.ki_pos);
		request->length = BPF_CORE_READ(rw, len);
		request->flags = flags_of_call(0, bpf_core_field_exists(rw->flags)
			? BPF_CORE_READ(rw, flags) : BPF_CORE_READ(rw, kiocb.ki_flags));
		request->keeps_place = bpf_core_field_exists(rw->flags) && BPF_CORE_READ(rw, flags) & 0x20;
	} else {
		request->offset = BPF_CORE_READ(sync, off);
		request->length = BPF_CORE_READ(sync, len);
	}
	return 1;
}

static __always_inline int read_path_request(struct io_kiocb *io, struct request *request)
{
	struct io_open *open = (void *)io;
	struct io_close *close = (void *)io;
	struct io_rename *rename = (void *)io;
	struct io_unlink *unlink = (void *)io;
	struct io_mkdir *mkdir = (void *)io;
	struct io_statx *stat = (void *)io;
	struct filename *name = 0;
	struct file *file;
	int directory = 0;
	request->fd = -1;
	switch (BPF_CORE_READ(io, opcode)) {
	case 18: case 28:
		request->op = OP_OPEN;
		request->detail = BPF_CORE_READ(open, how.flags);
		// A registered slot is no descriptor.
		request->fd = BPF_CORE_READ(open, file_slot) ? -1 : 0;
		directory = BPF_CORE_READ(open, dfd);
		name = BPF_CORE_READ(open, filename);
		break;
	case 19:
		request->op = OP_CLOSE;
		request->fd = BPF_CORE_READ(close, fd);
		file = BPF_CORE_READ(close, file_slot) ? 0 : file_of(request->fd);
		if (!file)
			return 0;
		request->closed = identity_of(file);
		return request->closed.kind != KIND_OTHER;
	case 21:
		request->op = OP_STAT;
		directory = BPF_CORE_READ(stat, dfd);
		name = BPF_CORE_READ(stat, filename);
		break;
	case 35:
		request->op = OP_RENAME;
		request->target = hash_of_name(BPF_CORE_READ(rename, new_dfd), BPF_CORE_READ(rename, newpath));
		directory = BPF_CORE_READ(rename, old_dfd);
		name = BPF_CORE_READ(rename, oldpath);
		break;
	case 36:
		request->op = OP_UNLINK;
		directory = BPF_CORE_READ(unlink, dfd);
		name = BPF_CORE_READ(unlink, filename);
		break;
	case 37:
		request->op = OP_MKDIR;
		directory = BPF_CORE_READ(mkdir, dfd);
		name = BPF_CORE_READ(mkdir, filename);
		break;
	default: return 0;
	}
	request->path = hash_of_name(directory, name);
	return 1;
}

static __always_inline int submitted(struct io_kiocb *io)
{
	struct request request = {}, *before;
	__u64 key = (__u64)io;
	__u64 id = bpf_get_current_pid_tgid();
	__u64 flags;
	before = bpf_map_lookup_elem(&requests, &key);
	if (before) {
		// It completed without an entry in the completion queue.
		if (before->is_silent)
			count_lost(1);
		bpf_map_delete_elem(&requests, &key);
	}
	if (!current_is_recorded())
		return 0;
	if (read_data_request(io, &request))
		request.fd = bpf_core_field_exists(io->cqe) ? BPF_CORE_READ(io, cqe.fd) : -1;
	else if (!read_path_request(io, &request))
		return 0;
	request.start = bpf_ktime_get_ns();
	request.thread = id;
	request.process = id >> 32;
	request.flags |= FLAG_URING;
	if (is_kernels_own()) request.flags |= FLAG_SQ_POLL;
	flags = BPF_CORE_READ(io, flags);
	if (flags & 0x0c) request.flags |= FLAG_LINK;
	if (flags & 0x02) request.flags |= FLAG_DRAIN;
	request.is_silent = flags >> 6 & 1; // REQ_F_CQE_SKIP
	if (bpf_map_update_elem(&requests, &key, &request, BPF_ANY))
		count_lost(1);
	return 0;
}

// This tracepoint had three shapes; the loader takes the one that the kernel has.
SEC("tp_btf/io_uring_submit_req") int BPF_PROG(uring_submit_req, struct io_kiocb *io) { return submitted(io); }
SEC("tp_btf/io_uring_submit_sqe") int BPF_PROG(uring_submit_sqe, struct io_kiocb *io) { return submitted(io); }
SEC("tp_btf/io_uring_submit_sqe") int BPF_PROG(uring_submit_ring, void *of_ring, struct io_kiocb *io) { return submitted(io); }

// Completes the event of a request on an open file.
static __always_inline void end_data_request(struct io_kiocb *io, struct request *request, struct event *event)
{
	struct file *file = BPF_CORE_READ(io, file);
	struct view view;
	event->offset = request->offset;
	event->length = !request->is_vector ? request->length : event->result > 0 ? event->result : 0;
	if (!file)
		return;
	view = view_of(file);
	name_file(event, view.it);
	if (request->keeps_place)
		event->flags &= ~FLAG_APPEND;
	if (request->op <= OP_WRITE)
		event->offset = offset_before(view, event, event->result, request->offset);
}

static __always_inline void end_path_request(struct request *request, struct event *event)
{
	struct path_hash path = request->path;
	struct file *file;
	struct view view;
	if (request->op == OP_OPEN) {
		event->fd = request->fd < 0 ? -1 : event->result;
		file = file_of(event->fd);
		if (file) {
			view = view_of(file);
			name_file(event, view.it);
			hash_open_file(file, &path);
			event->offset = event->kind == KIND_DIRECTORY
				? directory_and_own_prefix(file, path, !request->path.last)
				: view.size;
		}
		event->length = directory_and_prefix(path);
	} else {
		event->offset = directory_and_prefix(path);
	}
	event->name = path.last;
	if (request->op == OP_RENAME) {
		event->length = directory_and_prefix(request->target);
		event->detail = request->target.last;
	}
}

SEC("tp_btf/io_uring_complete") int BPF_PROG(uring_complete, void *of_ring, void *of_request)
{
	__u64 key = (__u64)of_request;
	struct request *request = bpf_map_lookup_elem(&requests, &key);
	struct io_kiocb *io = of_request;
	struct event *event;
	if (!request)
		return 0;
	event = new_completion(request->op, request->start);
	if (event) {
		event->flags = request->flags;
		event->thread = request->thread;
		event->process = request->process;
		event->fd = request->fd;
		event->detail = request->detail;
		event->result = bpf_core_field_exists(io->cqe) ? BPF_CORE_READ(io, cqe.res)
			: (__s32)BPF_CORE_READ((struct io_kiocb___old *)io, result);
		switch (request->op) {
		case OP_OPEN: case OP_RENAME: case OP_UNLINK: case OP_MKDIR: case OP_STAT:
			end_path_request(request, event);
			break;
		case OP_CLOSE: name_file(event, request->closed); break;
		default: end_data_request(io, request, event);
		}
		if (event->kind == KIND_OTHER)
			bpf_ringbuf_discard(event, 0);
		else
			submit(event);
	}
	bpf_map_delete_elem(&requests, &key);
	return 0;
}
