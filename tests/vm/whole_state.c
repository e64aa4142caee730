/* Preloaded into User Mode Linux, whose kernel (6.1) keeps 832 bytes of the vector registers of each of
 * its threads. A host whose CPU has more of them (AVX-512, AMX) refuses to set a part: "ptrace set fp
 * regs failed". Here the rest is kept beside that part, by its address, and set with it. A thread for
 * which there is no room gets the rest that its process has. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#define THREADS 512

/* The stack of a kernel thread is too small for these. */
static char whole[1 << 14];
static struct {
    void *part;
    char rest[1 << 14];
} kept[THREADS];

static char *rest_of(void *part, int claim) {
    unsigned at = ((unsigned long)part >> 6) * 2654435761u % THREADS;
    for (unsigned tried = 0; tried < THREADS; tried++, at = (at + 1) % THREADS) {
        if (kept[at].part == part) return kept[at].rest;
        if (!kept[at].part && !claim) return 0;
        if (!kept[at].part) {
            kept[at].part = part;
            return kept[at].rest;
        }
    }
    return 0;
}

long ptrace(enum __ptrace_request request, ...) {
    static long (*next)(enum __ptrace_request, ...);
    if (!next) next = (long (*)(enum __ptrace_request, ...))dlsym(RTLD_NEXT, "ptrace");
    va_list list;
    va_start(list, request);
    int pid = va_arg(list, int);
    void *what = va_arg(list, void *), *data = va_arg(list, void *);
    va_end(list);
    int is_get = request == PTRACE_GETREGSET, is_set = request == PTRACE_SETREGSET;
    if ((unsigned long)what != NT_X86_XSTATE || !(is_get || is_set)) return next(request, pid, what, data);

    struct iovec all = {whole, sizeof whole}, *part = data;
    long failed = next(PTRACE_GETREGSET, pid, what, &all);
    if (failed) return failed;
    if (part->iov_len > all.iov_len) part->iov_len = all.iov_len;
    unsigned long rest_bytes = all.iov_len - part->iov_len;
    char *rest = rest_of(part->iov_base, is_get);
    if (is_get) {
        memcpy(part->iov_base, whole, part->iov_len);
        if (rest) memcpy(rest, whole + part->iov_len, rest_bytes);
        return 0;
    }
    memcpy(whole, part->iov_base, part->iov_len);
    if (rest) memcpy(whole + part->iov_len, rest, rest_bytes);
    return next(PTRACE_SETREGSET, pid, what, &all);
}
