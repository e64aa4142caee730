// What identifies an open file.
#pragma once
#include "state.h"

// The first bytes of a structure in the kernel. Reading memory there takes a call, so one read of all
// of them costs less than one for each field. They are too many for the stack.
struct head { __u64 words[16]; };
// An open file, as it is now.
struct view { struct identity it; __u64 position, size; };
struct scratch { struct head head; struct view view; };
MAP(BPF_MAP_TYPE_PERCPU_ARRAY, 1, __u32, struct scratch, scratches);

// Of this CPU. What runs in interrupts does not look at files.
static __always_inline struct scratch *own_scratch(void)
{
	__u32 zero = 0;
	return bpf_map_lookup_elem(&scratches, &zero);
}

static __always_inline void read_head(struct head *head, const void *structure)
{
	bpf_probe_read_kernel(head, sizeof *head, structure);
}

// A field of the structure whose head was read.
#define FIELD(head, structure, field) ({                                                           \
	typeof((structure)->field) value_;                                                         \
	__u64 at_ = bpf_core_field_offset((structure)->field);                                     \
	if (at_ + sizeof value_ <= sizeof *(head))                                                 \
		value_ = *(typeof(value_) *)((void *)(head) + at_);                                \
	else                                                                                       \
		value_ = BPF_CORE_READ(structure, field);                                          \
	value_;                                                                                    \
})

static __always_inline struct file *file_of(int fd)
{
	struct task_struct *task = current_task();
	struct file **slots, *file = 0;
	struct fdtable *table;
	unsigned int count;
	if (has_typed_task) {
		table = task->files->fdt;
		count = table->max_fds;
		slots = table->fd;
	} else {
		table = BPF_CORE_READ(task, files, fdt);
		count = BPF_CORE_READ(table, max_fds);
		slots = BPF_CORE_READ(table, fd);
	}
	if (fd < 0 || (__u32)fd >= count)
		return 0;
	bpf_probe_read_kernel(&file, sizeof file, slots + fd);
	return file;
}

struct system { __u32 device; __u64 magic; };

// The device number is that which stat() returns. Each subvolume of btrfs has its own, and inode
// numbers are unique only within one.
static __always_inline struct system system_of(struct inode *inode, struct super_block *super, struct head *head)
{
	void *root = 0;
	__u32 device = 0;
	struct system system;
	read_head(head, super);
	system.device = FIELD(head, super, s_dev);
	system.magic = FIELD(head, super, s_magic);
	if (btrfs_root_before && system.magic == 0x9123683e &&
	    !bpf_probe_read_kernel(&root, sizeof root, (void *)inode - btrfs_root_before) && root &&
	    !bpf_probe_read_kernel(&device, sizeof device, root + btrfs_device_at) && device)
		system.device = device;
	return system;
}

static __always_inline __u32 device_of(struct inode *inode)
{
	struct scratch *scratch = own_scratch();
	return scratch ? system_of(inode, BPF_CORE_READ(inode, i_sb), &scratch->head).device : 0;
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

// Whether the kernel makes up what the files of the system contain, so that no storage has it.
static __always_inline int is_made_up(struct system system)
{
	switch (system.magic) {
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

static __always_inline __u16 flags_of_descriptor(__u32 flags)
{
	__u16 own = 0;
	if (flags & 02000) own |= FLAG_APPEND;
	if (flags & O_DIRECT) own |= FLAG_DIRECT;
	if ((flags & 04010000) == 04010000) own |= FLAG_SYNC;
	else if (flags & 010000) own |= FLAG_DATA_SYNC;
	return own;
}

// Looks at an open file. What it returns is valid until it looks at the next one.
static __noinline struct view *look(struct file *file)
{
	struct scratch *scratch = own_scratch();
	struct head *head;
	struct inode *inode;
	struct super_block *super;
	struct system system;
	struct view *view;
	__u32 device;
	__u16 mode;
	if (!scratch)
		return 0;
	head = &scratch->head;
	view = &scratch->view;
	__builtin_memset(view, 0, sizeof *view);
	read_head(head, file);
	inode = FIELD(head, file, f_inode);
	view->position = FIELD(head, file, f_pos);
	view->it.flags = flags_of_descriptor(FIELD(head, file, f_flags));
	read_head(head, inode);
	super = FIELD(head, inode, i_sb);
	view->size = FIELD(head, inode, i_size);
	view->it.inode = FIELD(head, inode, i_ino);
	view->it.generation = FIELD(head, inode, i_generation);
	mode = FIELD(head, inode, i_mode) & 0170000;
	device = FIELD(head, inode, i_rdev);
	system = system_of(inode, super, head);
	view->it.device = system.device;
	switch (mode) {
	case 0100000: view->it.kind = KIND_REGULAR; break;
	case 0060000: view->it.kind = KIND_BLOCK; view->it.flags |= FLAG_BLOCK_DEVICE; view->it.device = device; break;
	case 0040000: view->it.kind = KIND_DIRECTORY; view->it.flags |= FLAG_DIRECTORY; break;
	default: view->it.kind = KIND_OTHER;
	}
	if (is_made_up(system))
		view->it.kind = KIND_OTHER;
	return view;
}

static __always_inline struct view view_of(struct file *file)
{
	struct view *view = look(file), none = { .it.kind = KIND_OTHER };
	return view ? *view : none;
}

static __always_inline struct identity identity_of(struct file *file)
{
	return view_of(file).it;
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
static __always_inline __u64 offset_before(struct view view, struct event *event, long result, __u64 offset)
{
	if (event->op == OP_WRITE && event->flags & FLAG_APPEND && result > 0)
		return view.size - result;
	if (offset != (__u64)-1)
		return offset;
	event->flags |= FLAG_AT_POSITION;
	return result > 0 ? view.position - result : view.position;
}
