// Requests of clients and the answers to them: what arrives at sockets of the recorded program as a
// server, and what it sends there.
#pragma once
#include "files.h"

// A server listens on a port below those that the kernel hands out, or on a socket with a name.
static __always_inline int is_servers(struct sock *sock)
{
	__u16 family = BPF_CORE_READ(sock, __sk_common.skc_family), port;
	switch (family) {
	case 2: case 10: // AF_INET, AF_INET6
		port = __builtin_bswap16(BPF_CORE_READ(sock, __sk_common.skc_dport));
		return BPF_CORE_READ(sock, __sk_common.skc_num) < port;
	case 1: // AF_UNIX
		return bpf_core_field_exists(((struct unix_sock *)0)->addr) && BPF_CORE_READ((struct unix_sock *)sock, addr);
	}
	return 0;
}

// The call has ended that received or sent data.
static __always_inline void talked(struct thread_state *state, int fd, __u32 wait, long result)
{
	struct file *file;
	struct inode *inode;
	struct socket *socket;
	struct event *event;
	if (result <= 0 || (wait != WAIT_READ && wait != WAIT_WRITE))
		return;
	file = file_of(fd);
	if (!file)
		return;
	inode = BPF_CORE_READ(file, f_inode);
	if ((BPF_CORE_READ(inode, i_mode) & 0170000) != 0140000) // S_IFSOCK
		return;
	socket = BPF_CORE_READ(file, private_data);
	if (!is_servers(BPF_CORE_READ(socket, sk)))
		return;
	event = new_event(state, wait == WAIT_READ ? OP_REQUEST : OP_ANSWER, state->start);
	if (!event)
		return;
	event->inode = BPF_CORE_READ(inode, i_ino);
	event->result = result;
	submit(event);
}
