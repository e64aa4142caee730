// Hashes of paths.
#pragma once
#include "files.h"

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
// would resemble others. Returns whether it has a slash, and leaves the hash in the map.
//
// Not static, so that the verifier checks the loop once and not at each call, for which its limit of
// 1,000,000 instructions is too low in 6.1.
__noinline int hash_text(__u64 from, int is_in_kernel, __u32 base)
{
	__u32 zero = 0, all = base, last = name_key, prefix = 0;
	struct text *text = bpf_map_lookup_elem(&texts, &zero);
	long length;
	if (!text)
		return 0;
	__builtin_memset(&text->hash, 0, sizeof text->hash);
	length = is_in_kernel ? bpf_probe_read_kernel_str(text->bytes, sizeof text->bytes, (void *)from)
		: bpf_probe_read_user_str(text->bytes, sizeof text->bytes, (void *)from);
	if (length <= 1 || length == sizeof text->bytes)
		return 0;
	for (int at = 0; at < (int)sizeof text->bytes; at++) {
		__u32 byte, is_slash;
		if (at >= length - 1)
			break;
		byte = (__u8)text->bytes[at];
		is_slash = -(((byte ^ '/') - 1) >> 31);
		barrier_var(is_slash); // a branch would double the verifier's work with each byte
		all = (all ^ byte) * PRIME;
		prefix = (prefix & ~is_slash) | (all & is_slash);
		last = (((last ^ byte) * PRIME) & ~is_slash) | (name_key & is_slash);
	}
	if (last != name_key)
		text->hash.last = last ? last : 1;
	text->hash.prefix = prefix;
	text->hash.all = all;
	return prefix != 0;
}

// The hash that hash_text() left.
static __always_inline struct path_hash hash_of_text(__u32 directory)
{
	__u32 zero = 0;
	struct text *text = bpf_map_lookup_elem(&texts, &zero);
	struct path_hash hash = {};
	if (text)
		hash = text->hash;
	hash.directory = directory;
	return hash;
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
	__u32 in = hash_of_directory(base);
	return hash_text(path, is_in_kernel, in) ? hash_of_text(0) : hash_of_text(in);
}

// The name that an open file has in its directory, however it was reached.
static __always_inline void hash_open_file(struct file *file, struct path_hash *hash)
{
	struct dentry *entry = BPF_CORE_READ(file, f_path.dentry);
	hash_text((__u64)BPF_CORE_READ(entry, d_name.name), 1, 0);
	hash->last = hash_of_text(0).last;
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
