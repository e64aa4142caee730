// The kernel's structures, with only the fields that the recorder reads. Where a field lies in a
// particular kernel is found when the object is loaded (CO-RE).
#pragma once
#include <linux/bpf.h>
#include <linux/aio_abi.h>

#define CORE __attribute__((preserve_access_index))

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax, ip, cs, flags, sp, ss;
} CORE;
#define ARGS(regs) { (regs)->di, (regs)->si, (regs)->dx, (regs)->r10, (regs)->r8, (regs)->r9 }
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
	__u64 regs[31];
	__u64 sp, pc, pstate, orig_x0;
} CORE;
#define ARGS(r) { (r)->regs[0], (r)->regs[1], (r)->regs[2], (r)->regs[3], (r)->regs[4], (r)->regs[5] }
#endif

struct super_block { __u32 s_dev; unsigned long s_magic; } CORE;
struct inode { __u16 i_mode; struct super_block *i_sb; unsigned long i_ino; long long i_size; __u32 i_rdev, i_generation; } CORE;
struct qstr { const unsigned char *name; } CORE;
struct dentry { struct dentry *d_parent; struct qstr d_name; struct inode *d_inode; } CORE;
struct path { struct dentry *dentry; } CORE;
struct file { struct inode *f_inode; unsigned int f_flags; long long f_pos; struct path f_path; void *private_data; } CORE;
struct filename { const char *name; } CORE;
struct sock_common { __u16 skc_family, skc_num, skc_dport; } CORE;
struct sock { struct sock_common __sk_common; } CORE;
struct socket { struct sock *sk; } CORE;
struct unix_sock { struct sock sk; void *addr; } CORE;
struct fs_struct { struct path root, pwd; } CORE;
struct fdtable { unsigned int max_fds; struct file **fd; } CORE;
struct files_struct { struct fdtable *fdt; } CORE;
// Only in kernels with CONFIG_SCHED_INFO.
struct sched_info { unsigned long long run_delay; } CORE;
struct sched_entity { __u64 sum_exec_runtime; } CORE;
struct thread_info { unsigned long flags; __u32 status; } CORE;
typedef struct { int counter; } CORE atomic_t;
struct signal_struct { atomic_t live; } CORE;
struct task_struct { struct thread_info thread_info; unsigned int flags; struct signal_struct *signal; struct sched_entity se; struct sched_info sched_info; int pid, tgid; struct files_struct *files; struct fs_struct *fs; struct css_set *cgroups; } CORE;
struct cgroup_subsys_state { struct cgroup *cgroup; struct cgroup_subsys_state *parent; } CORE;
struct kernfs_node { __u64 id; } CORE;
struct cgroup_root { int hierarchy_id; } CORE;
struct cgroup { struct cgroup_subsys_state self; struct kernfs_node *kn; struct cgroup_root *root; } CORE;
struct css_set { struct cgroup *dfl_cgrp; } CORE;
struct address_space { struct inode *host; } CORE;
struct folio { unsigned long index; } CORE;
struct kiocb { long long ki_pos; int ki_flags; } CORE;
// The commands of io_uring. Each lies at the start of its request.
struct io_rw { struct kiocb kiocb; __u32 len; int flags; } CORE;
struct io_sync { long long len, off; int flags, mode; } CORE;
struct io_fadvise { __u64 offset, len; __u32 advice; } CORE;
struct io_ftrunc { long long len; } CORE;
struct io_open { int dfd; __u32 file_slot; struct filename *filename; struct open_how { __u64 flags; } how; } CORE;
struct io_close { int fd; __u32 file_slot; } CORE;
struct io_rename { int old_dfd, new_dfd; struct filename *oldpath, *newpath; } CORE;
struct io_unlink { int dfd; struct filename *filename; } CORE;
struct io_mkdir { int dfd; struct filename *filename; } CORE;
struct io_statx { int dfd; struct filename *filename; } CORE;
struct io_cqe { __s32 res; int fd; } CORE;
struct io_kiocb { struct file *file; __u8 opcode; __u64 flags; struct io_cqe cqe; } CORE;
// Before 6.0, the result lay in the request itself.
struct io_kiocb___old { __u32 result; int fd; } CORE;
struct bpf_perf_event_data { struct pt_regs regs; __u64 sample_period; __u64 addr; };
