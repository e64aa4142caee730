// What identifies an open file.
#pragma once
#include "state.h"

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

// Whether the kernel makes up what its files contain, so that no storage has it.
static __always_inline int is_made_up(struct inode *inode)
{
	switch (BPF_CORE_READ(inode, i_sb, s_magic)) {
	case 0x9fa0: // proc
	case 0x62656572: // sysfs
	case 0x27e0eb: // cgroup
	case 0x63677270: // cgroup2
	case 0x74726163: // tracefs
	case 0x64626720: // debugfs
		return 1;
	}
	return 0;
}

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
	if (is_made_up(inode))
		it.kind = KIND_OTHER;
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
