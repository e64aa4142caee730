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
// Where btrfs has the device number of a subvolume; 0: no btrfs.
const volatile __u32 btrfs_root_before = 0; // bytes from an inode back to the pointer to its root
const volatile __u32 btrfs_device_at = 0;

__u64 lost;

struct identity { __u64 inode; __u32 device, generation; __u16 flags; __u8 kind; };

struct thread_state {
	__u64 start;
	__u64 args[6];
	__u64 fault_start, fault_page;
	struct identity faulted, closed;
	__u32 call;         // number plus one; 0: in no system call
	__u32 is_faulting;
	__u32 wait;         // kind of call
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

struct text { char bytes[512]; };
MAP(BPF_MAP_TYPE_PERCPU_ARRAY, 1, __u32, struct text, texts);

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

// The device number that stat() returns. Each subvolume of btrfs has its own, and inode numbers are
// unique only within one.
static __always_inline __u32 device_of(struct inode *inode)
{
	struct super_block *system = BPF_CORE_READ(inode, i_sb);
	void *root = 0;
	__u32 device = 0;
	if (btrfs_root_before && BPF_CORE_READ(system, s_magic) == 0x9123683e &&
	    !bpf_probe_read_kernel(&root, sizeof root, (void *)inode - btrfs_root_before) && root &&
	    !bpf_probe_read_kernel(&device, sizeof device, root + btrfs_device_at) && device)
		return device;
	return BPF_CORE_READ(system, s_dev);
}

static __always_inline struct identity identity_of_mapped(struct address_space *mapping)
{
	struct inode *inode = BPF_CORE_READ(mapping, host);
	struct identity it = { .kind = KIND_REGULAR };
	it.inode = BPF_CORE_READ(inode, i_ino);
	it.generation = BPF_CORE_READ(inode, i_generation);
	it.device = device_of(inode);
	return it;
}

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
	it.generation = BPF_CORE_READ(inode, i_generation);
	it.device = device_of(inode);
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
	event->generation = it.generation;
	event->kind = it.kind;
	event->flags |= it.flags;
}

// RWF_*: of one call rather than of the descriptor.
static __always_inline __u16 flags_of_call(__u16 flags, __u64 of_call)
{
	if (of_call & 0x02) flags |= FLAG_DATA_SYNC;
	if (of_call & 0x04) flags |= FLAG_SYNC;
	if (of_call & 0x10) flags |= FLAG_APPEND;
	if (of_call & 0x20) flags &= ~FLAG_APPEND; // RWF_NOAPPEND
	return flags;
}

#define PRIME 0x01000193
#define AT_FDCWD -100

static __always_inline __u32 hash_of_directory(struct inode *inode)
{
	__u64 number = BPF_CORE_READ(inode, i_ino);
	__u32 hash = (name_key ^ (__u32)number) * PRIME;
	hash = (hash ^ hash >> 15 ^ (__u32)(number >> 32)) * PRIME;
	hash = (hash ^ hash >> 13 ^ device_of(inode)) * PRIME;
	return hash ? hash : 1;
}

// Hashes a text after its last slash, and up to it, beginning with `base`. A text that does not fit
// would resemble others.
static __noinline int hash_text(__u64 from, int is_in_kernel, __u32 base, struct path_hash *hash)
{
	__u32 zero = 0, all = base, last = name_key, prefix = 0;
	struct text *text = bpf_map_lookup_elem(&texts, &zero);
	long length;
	if (!text || !hash)
		return 0;
	length = is_in_kernel ? bpf_probe_read_kernel_str(text, sizeof *text, (void *)from)
		: bpf_probe_read_user_str(text, sizeof *text, (void *)from);
	if (length <= 1 || length == sizeof *text)
		return 0;
	for (int at = 0; at < (int)sizeof text->bytes; at++) {
		__u32 byte, is_slash;
		if (at >= length - 1)
			break;
		byte = (__u8)text->bytes[at];
		is_slash = -(((byte ^ '/') - 1) >> 31);
		all = (all ^ byte) * PRIME;
		prefix = (prefix & ~is_slash) | (all & is_slash);
		last = (((last ^ byte) * PRIME) & ~is_slash) | (name_key & is_slash);
	}
	if (last != name_key)
		hash->last = last ? last : 1;
	hash->prefix = prefix;
	hash->all = all;
	return prefix != 0;
}

static __always_inline struct path_hash hash_of(int directory, __u64 path, int is_in_kernel)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct path_hash hash = {};
	struct inode *base;
	char first = 0;
	if (is_in_kernel)
		bpf_probe_read_kernel(&first, sizeof first, (void *)path);
	else
		bpf_probe_read_user(&first, sizeof first, (void *)path);
	if (first == '/')
		base = BPF_CORE_READ(task, fs, root.dentry, d_inode);
	else if (directory == AT_FDCWD)
		base = BPF_CORE_READ(task, fs, pwd.dentry, d_inode);
	else
		base = BPF_CORE_READ(file_of(directory), f_inode);
	if (!base)
		return hash;
	hash.directory = hash_of_directory(base);
	if (hash_text(path, is_in_kernel, hash.directory, &hash))
		hash.directory = 0;
	return hash;
}

// The name that an open file has in its directory, however it was reached.
static __always_inline void hash_open_file(struct file *file, struct path_hash *hash)
{
	struct dentry *entry = BPF_CORE_READ(file, f_path.dentry);
	struct path_hash name = {};
	hash_text((__u64)BPF_CORE_READ(entry, d_name.name), 1, 0, &name);
	hash->last = name.last;
	hash->directory = hash_of_directory(BPF_CORE_READ(entry, d_parent, d_inode));
}

// What an opened directory teaches: paths that begin with its own lead to it.
static __always_inline __u64 directory_and_own_prefix(struct file *file, struct path_hash hash, int ends_in_slash)
{
	__u64 prefix = ends_in_slash ? hash.prefix : (hash.all ^ '/') * PRIME;
	return hash_of_directory(BPF_CORE_READ(file, f_inode)) | prefix << 32;
}

static __always_inline __u64 directory_and_prefix(struct path_hash hash)
{
	return hash.directory | (__u64)hash.prefix << 32;
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
		event = new_event(aio->op, aio->start);
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
	struct event *event = new_event(op, state->start);
	if (!event)
		return;
	event->offset = offset;
	event->length = length;
	bpf_ringbuf_submit(event, ring_flags());
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
	event = new_event(OP_CLOSE, state->start);
	if (!event)
		return;
	name_file(event, state->closed);
	event->fd = state->args[0];
	event->result = result;
	bpf_ringbuf_submit(event, ring_flags());
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
	event = new_event(call->op, state->start);
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
	bpf_ringbuf_submit(event, ring_flags());
}

static __always_inline void opened(struct thread_state *state, struct call *call, long result)
{
	int directory = call->fd == AT_CWD ? AT_FDCWD : (int)argument(state, call->fd);
	struct path_hash path = hash_of(directory, argument(state, call->offset), 0);
	struct file *file = file_of(result);
	struct identity it = {};
	struct event *event;
	__u64 flags = 01101; // O_CREAT, O_WRONLY, O_TRUNC
	int ends_in_slash = !path.last;
	if (file) {
		it = identity_of(file);
		if (it.kind == KIND_OTHER)
			return;
		hash_open_file(file, &path);
	} else if (result >= 0) {
		return;
	}
	if (call->detail == OF_HOW)
		bpf_probe_read_user(&flags, sizeof flags, (void *)argument(state, call->flags));
	else if (call->detail != BY_CREAT)
		flags = argument(state, call->detail);
	event = new_event(OP_OPEN, state->start);
	if (!event)
		return;
	event->fd = result;
	event->result = result;
	event->detail = flags;
	event->name = path.last;
	event->length = directory_and_prefix(path);
	if (file) {
		name_file(event, it);
		event->offset = it.kind == KIND_DIRECTORY ? directory_and_own_prefix(file, path, ends_in_slash)
			: BPF_CORE_READ(file, f_inode, i_size);
	}
	bpf_ringbuf_submit(event, ring_flags());
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
	event = new_event(OP_FILE, state->start);
	if (!event)
		return 0;
	name_file(event, *it);
	event->fd = fd;
	bpf_ringbuf_submit(event, ring_flags());
	return 1;
}

static __always_inline void ended(struct thread_state *state, struct call *call, long result)
{
	struct identity it = {}, target = {};
	struct file *file = 0;
	struct event *event;
	int fd = call->fd == NO_ARG ? -1 : (int)argument(state, call->fd);
	if (call->shape == SHAPE_MAP && (fd < 0 || state->args[3] & 0x20)) // MAP_ANONYMOUS
		return mapped_memory(state, result);
	if (call->shape != SHAPE_PLAIN) {
		file = file_of(fd);
		if (!file)
			return;
		it = identity_of(file);
		if (it.kind == KIND_OTHER)
			return; // a socket, a pipe, a terminal
	}
	if (call->op == OP_COPY_RANGE && !mention(state, argument(state, call->detail), &target))
		return;
	event = new_event(call->op, state->start);
	if (!event)
		return;
	event->fd = fd;
	event->result = result;
	if (file)
		name_file(event, it);
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
		event->offset = offset_before(file, event, result, offset);
	}
	if (call->op == OP_COPY_RANGE) {
		event->detail = target.inode;
		event->name = target.device;
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
	case SHAPE_CLOSE: closed(state, result); break;
	case SHAPE_PATH: on_path(state, call, result); break;
	case SHAPE_OPEN: opened(state, call, result); break;
	default: ended(state, call, result);
	}
	return 0;
}

// Threads of io_uring and of the kernel make no system calls.
static __always_inline int is_kernels_own(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	return (BPF_CORE_READ(task, flags) & (0x10 | 0x4000 | 0x200000)) != 0; // PF_IO_WORKER, PF_USER_WORKER, PF_KTHREAD
}

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
	event->offset = request->offset;
	event->length = !request->is_vector ? request->length : event->result > 0 ? event->result : 0;
	if (!file)
		return;
	name_file(event, identity_of(file));
	if (request->keeps_place)
		event->flags &= ~FLAG_APPEND;
	if (request->op <= OP_WRITE)
		event->offset = offset_before(file, event, event->result, request->offset);
}

static __always_inline void end_path_request(struct request *request, struct event *event)
{
	struct path_hash path = request->path;
	struct file *file;
	if (request->op == OP_OPEN) {
		event->fd = request->fd < 0 ? -1 : event->result;
		file = file_of(event->fd);
		if (file) {
			name_file(event, identity_of(file));
			hash_open_file(file, &path);
			event->offset = event->kind == KIND_DIRECTORY
				? directory_and_own_prefix(file, path, !request->path.last)
				: BPF_CORE_READ(file, f_inode, i_size);
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
	event = new_event(request->op, request->start);
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
	state = state_of(bpf_get_current_pid_tgid());
	if (!state || !state->is_faulting)
		return 0;
	state->is_faulting = 0;
	event = new_event(OP_FAULT, state->fault_start);
	if (!event)
		return 0;
	name_file(event, state->faulted);
	event->offset = state->fault_page << 12;
	event->length = event->result = 4096;
	event->detail = context->addr;
	bpf_ringbuf_submit(event, ring_flags());
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
	event = new_event(OP_DIRTY, bpf_ktime_get_ns());
	if (!event)
		return 0;
	name_file(event, identity_of_mapped(mapping));
	event->offset = BPF_CORE_READ(folio, index) << 12;
	event->length = event->result = 4096;
	bpf_ringbuf_submit(event, ring_flags());
	return 0;
}

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
	event = new_event(OP_JOIN, bpf_ktime_get_ns());
	if (!event)
		return;
	event->length = process;
	bpf_ringbuf_submit(event, ring_flags());
}

SEC("tp_btf/cgroup_attach_task") int BPF_PROG(moved, struct cgroup *group, const char *path, struct task_struct *task)
{
	if (is_in_group(group))
		join(BPF_CORE_READ(task, tgid));
	return 0;
}

// Another program has neither the mappings nor the memory of the one before.
SEC("tp_btf/sched_process_exec") int BPF_PROG(executed, struct task_struct *task)
{
	struct event *event;
	if (!is_recorded(BPF_CORE_READ(task, tgid)))
		return 0;
	event = new_event(OP_EXEC, bpf_ktime_get_ns());
	if (event)
		bpf_ringbuf_submit(event, ring_flags());
	return 0;
}

SEC("tp_btf/sched_process_fork") int BPF_PROG(forked, struct task_struct *parent, struct task_struct *child)
{
	__u32 of_parent = BPF_CORE_READ(parent, tgid), of_child = BPF_CORE_READ(child, tgid);
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
