// CSystem.h: calls of glibc and Linux that Swift's Glibc module leaves out, because they are
// variadic or hidden behind _GNU_SOURCE. Each wrapper returns what the call returns; errno is set.
#ifndef FAULTLINE_CSYSTEM_H
#define FAULTLINE_CSYSTEM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// open(2) with a mode, which is variadic in C.
int csystem_open(const char *path, int flags, mode_t mode);
/// fallocate(2), which glibc hides behind _GNU_SOURCE.
int csystem_fallocate(int fd, int mode, off_t offset, off_t length);
/// O_DIRECT, which glibc hides behind _GNU_SOURCE.
int csystem_open_direct(void);
/// sync_file_range(2) over a whole file: its dirty pages are written, none is dropped, no sync.
int csystem_write_dirty_pages(int fd);
/// pwritev2(2) of one piece, with its RWF_ flags.
ssize_t csystem_write_with(int fd, const void *bytes, size_t count, off_t offset, int flags);
/// copy_file_range(2) at the offsets of both files.
ssize_t csystem_copy_range(int from, int to, size_t count);
/// Makes a file without a name in a directory (O_TMPFILE), open for writing. Returns its descriptor, or -1.
int csystem_open_nameless(const char *directory);
/// Gives an open file a name, through /proc/self/fd.
int csystem_name(int fd, const char *path);
/// renameat2(2) relative to the working directory.
int csystem_renameat2(const char *from, const char *to, unsigned int flags);
/// memfd_create(2).
int csystem_memfd_create(const char *name, unsigned int flags);
/// pipe2(2) with O_CLOEXEC, and with O_DIRECT when `packets` is not 0: then each write is a packet
/// of its own, and a read returns one packet (pipe(7)).
int csystem_pipe(int descriptors[2], int packets);
/// socketpair(2) of a stream, closed on exec; the first end is told who writes to the second (SO_PASSCRED of unix(7)).
int csystem_output_socket(int descriptors[2]);
/// recvmsg(2) on the first end of csystem_output_socket: bytes of one process, whose number comes with them; 0 where the
/// kernel does not say.
ssize_t csystem_receive(int fd, void *buffer, size_t count, pid_t *writer);
/// prctl(PR_SET_NAME): the calling thread's name in /proc, its first 15 bytes.
int csystem_set_thread_name(const char *name);
/// prctl(PR_SET_PDEATHSIG): the signal this process gets when the thread that made it ends.
int csystem_set_parent_death_signal(int signal);
/// prctl(PR_SET_CHILD_SUBREAPER): orphans below this process become its children.
int csystem_set_child_subreaper(void);
/// sched_setaffinity(2): pins a process (0: the caller) to one CPU.
int csystem_pin_to_cpu(pid_t pid, int cpu);
/// Takes a CPU from those that the calling thread may run on, unless it is the only one.
int csystem_leave_cpu(int cpu);
/// The first CPU this process may run on, or -1.
int csystem_first_allowed_cpu(void);
/// fcntl(F_OFD_SETLK, or F_OFD_SETLKW when `waits`) over a range: `kind` 0 unlocks, 1 is shared, 2 is
/// exclusive; `count` 0 is up to the end. Changing the kind of a lock that is held is atomic. Closing
/// the descriptor does not give a lock back while the file is mapped through it or a child of fork has
/// it: both keep the open file description, and with it the lock, alive.
int csystem_lock_range(int fd, int kind, off_t start, off_t count, int waits);
/// fcntl(F_OFD_GETLK): 1 when another open file description holds any lock in the range, 0 when
/// none does, -1 with errno.
int csystem_is_range_locked(int fd, off_t start, off_t count);
extern unsigned int csystem_forks;
/// The number of forks between this process and the one that loaded the program, as far as they
/// happened after the first csystem_close_after_fork. Here, as every read of a row asks for it.
static inline unsigned int csystem_fork_generation(void) {
  return __atomic_load_n(&csystem_forks, __ATOMIC_RELAXED);
}
/// A child of fork closes this descriptor before fork returns in it: a lock of an open file
/// description lives as long as any process has it, so a child would keep a dead parent's lock.
int csystem_close_after_fork(int fd);
/// Takes that back; call it before the descriptor is closed.
void csystem_keep_after_fork(int fd);
/// gettid(2), asked once per thread.
int csystem_thread_id(void);
/// Counts one more strong reference to a Swift object, without an atomic operation: for an object
/// that no other thread can reach.
void csystem_retain_unshared(void *object);
/// futex(2) FUTEX_WAIT, also between processes; waits without end when the timeout is negative.
int csystem_futex_wait(const void *word, uint32_t expected, int64_t timeout_nanoseconds);
/// futex(2) FUTEX_WAKE.
int csystem_futex_wake(const void *word, int count);
/// epoll_create1(2) with one descriptor, edge-triggered for reading: a write to a FIFO wakes every
/// process that polls it, and nobody has to read.
int csystem_make_edge_poll(int fd);
/// epoll_wait(2) for that descriptor: 1 when it fired, 0 at the timeout, -1 with errno.
int csystem_wait_edge(int poll, int timeout_milliseconds);
/// Whether a descriptor is a FIFO's.
int csystem_is_fifo(int fd);
/// Sets FD_CLOEXEC to `on`.
int csystem_set_close_on_exec(int fd, int on);
/// Sets O_NONBLOCK to `on`.
int csystem_set_nonblocking(int fd, int on);
/// An empty file without a name (O_TMPFILE of open(2)), gone with its last descriptor. Returns the descriptor or -1.
int csystem_unnamed_file(const char *directory);
/// mremap(2), which may move the mapping; what is new reads as zeros. Returns where it is now, or NULL.
void *csystem_grow_mapping(void *memory, size_t bytes, size_t new_bytes);
/// Has the calling thread interrupted by SIGIO when something arrives at a pipe (O_ASYNC of fcntl(2)), which is only
/// noted: a look at the note costs nothing, where asking the pipe is a system call. One pipe for each process.
/// Returns 0 or -1.
int csystem_note_arrivals(int fd);
/// Whether anything may have arrived since this was asked last.
int csystem_take_arrivals(void);
/// lseek(2) with SEEK_DATA or SEEK_HOLE.
off_t csystem_seek_data(int fd, off_t offset);
off_t csystem_seek_hole(int fd, off_t offset);
/// mremap(2) with MREMAP_MAYMOVE; MAP_FAILED on error.
void *csystem_remap(void *address, size_t old_size, size_t new_size);
/// pidfd_open(2): a descriptor that polls readable when the process has ended.
int csystem_open_process(pid_t pid);
/// setxattr(2) without flags.
int csystem_set_attribute(const char *path, const char *name, const void *value, size_t size);
/// llistxattr(2).
ssize_t csystem_list_attributes(const char *path, char *names, size_t size);
/// lgetxattr(2).
ssize_t csystem_get_attribute(const char *path, const char *name, void *value, size_t size);
/// lremovexattr(2).
int csystem_remove_attribute(const char *path, const char *name);
/// umount2(2) with MNT_DETACH.
int csystem_detach_mount(const char *path);
/// umount2(2) with MNT_FORCE and MNT_DETACH: a FUSE mount's connection ends, too, so that nobody waits for an answer.
int csystem_abort_mount(const char *path);
/// umount2(2) with UMOUNT_NOFOLLOW: EBUSY while somebody uses the mount.
int csystem_unmount(const char *path);
/// mount(2); `data` holds the file system's own options.
int csystem_mount(const char *source, const char *target, const char *type, unsigned long flags,
                  const char *data);
/// Attaches a file to a free loop device (loop(4)) that detaches itself after its last use. Returns a
/// descriptor of the device, which keeps it attached, and its number in `number`; or -1.
int csystem_attach_loop(int file, int *number);
/// syncfs(2) on the file system of an open file.
int csystem_sync_file_system(int fd);
/// sync_file_range(2): writes a file's dirty pages out and waits, but commits no metadata.
int csystem_write_out(int fd);
/// Commits the running transaction of a Btrfs without writing data out first (BTRFS_IOC_START_SYNC).
int csystem_commit_btrfs(int fd);
/// Blocks SIGINT, SIGTERM and SIGHUP in the calling thread and those it makes; returns a descriptor
/// that becomes readable when one of them arrives (signalfd(2)), or -1.
int csystem_termination_descriptor(void);
/// mallopt(3): freed memory up to `bytes` stays with the process, not given back to the system.
void csystem_keep_freed_memory(int bytes);

/// The multiplier of checksum version 1, as a number that no compiler knows: of one that it knows
/// LLVM makes two multiplications for each multiply-and-rotate.
extern const uint64_t csystem_checksum_multiplier;

/// Asks for the cache line at an address; a hint, whatever the address is.
static inline void csystem_prefetch(const void *address) { __builtin_prefetch(address); }

/// What csystem_fork_and_exec does in the child between fork and exec.
typedef struct {
  /// argv and envp as execve(2) wants them.
  char *const *arguments;
  char *const *environment;
  /// Working directory, or NULL to keep the caller's.
  const char *working_directory;
  /// Descriptors that become 0, 1 and 2; -1 is /dev/null.
  int standard_input, standard_output, standard_error;
  /// A further descriptor the child keeps as `inherited_as`, or -1.
  int inherited, inherited_as;
  /// CPU to pin to, or -1.
  int cpu;
  /// Not 0: the child leads a process group of its own.
  int own_group;
  /// Signal at the parent's death, or 0.
  int parent_death_signal;
  /// Not NULL: sync(2) and syncfs(2) of the child and all that it starts wait for an answer (csystem_next_sync), and
  /// so does fallocate(2) with a mode that FUSE file systems are refused.
  /// Here stands then the descriptor of their calls, or below zero the error of a system that has none (seccomp(2)).
  int *sync_calls;
} csystem_spawn;

/// Forks and executes a program.
/// Returns the child's pid, or -1 with errno (an exec that failed included; the child is reaped).
pid_t csystem_fork_and_exec(const csystem_spawn *spawn);

/// A call that waits for an answer.
typedef struct {
  uint64_t id;
  /// The thread that called.
  pid_t thread;
  /// 1 for syncfs and fallocate, 0 for sync.
  int is_of_file;
  /// The file argument, whatever it is.
  int file;
  /// For fallocate, which of its modes FUSE file systems are refused; otherwise 0.
  int refused_modes;
} csystem_sync_call;

/// Takes the next call from the descriptor of csystem_spawn, which polls readable when there is one and hangs up when
/// nobody can make one any more. Returns 0, or -1 with errno: ENOENT when the caller is gone.
int csystem_next_sync(int calls, csystem_sync_call *call);
/// Whether the call still waits: if so, its thread's number meant that thread all the while.
int csystem_is_sync_waiting(int calls, const csystem_sync_call *call);
/// Lets a call return 0, without the kernel having done anything; or has the kernel do it, when `goes_on`.
int csystem_answer_sync(int calls, const csystem_sync_call *call, int goes_on);
/// The file system of an open file, or of a path, without asking it anything: 0, or -1 with errno (statx(2)).
int csystem_file_system(const char *path, uint64_t *device);

/// fork(2), which Swift does not import; in the child only the calling thread exists.
pid_t csystem_fork(void);

/// Waits until a child of this process stands still (WSTOPPED) or has ended, and reaps nothing.
/// Returns 1 when it stands still, 0 when it has ended, -1 with errno.
int csystem_wait_until_stopped(pid_t pid);

/// Resources that a process can bound for itself.
typedef enum {
  CSYSTEM_DESCRIPTORS,   // RLIMIT_NOFILE: the number behind the last descriptor
  CSYSTEM_FILE_BYTES,    // RLIMIT_FSIZE
  CSYSTEM_MEMORY_BYTES,  // RLIMIT_AS
} csystem_resource;

/// Sets a soft limit, at most to the hard one. Returns 0, or -1 with errno.
int csystem_limit(csystem_resource resource, uint64_t bound);
/// All threads take their memory from the first one's heap; before there are any.
void csystem_share_one_heap(void);
/// Makes so many bytes of heap that stay with the process; nothing larger is mapped for itself then.
void csystem_reserve_heap(size_t count);

/// Watches a mapping of a file: where the medium does not give a page (sigaction(2), SIGBUS), zeros
/// stand from then on, and the number returned is 1 + the offset of the first such page; until then
/// it is 0. The first call takes SIGBUS over for the whole process; a fault elsewhere goes to the
/// action that was there before. NULL without memory: the mapping is not watched then.
const uint64_t *csystem_watch_mapping(const void *start, size_t count);
/// The number of a mapping that nobody watches: always 0.
const uint64_t *csystem_no_fault(void);
/// Ends what csystem_watch_mapping began, before the mapping is taken away.
void csystem_unwatch_mapping(const uint64_t *fault);

/// Most frames of a call stack.
extern const int csystem_call_stack_frames_max;
/// Makes the file in which programs under test leave their call stacks (Sources/CallStacks); 0, or
/// -1 with errno.
int csystem_make_call_stack_area(const char *path);
/// The call stack of the file operation that a thread is in, from the innermost frame, into room
/// for csystem_call_stack_frames_max frames. Returns their number; 0 when none is known.
int csystem_read_call_stack(int file, int thread, uint32_t *image, uint64_t *frames);
/// The calling thread's own call stack, from the caller, into room for `most` frames: return
/// addresses as the modules' files have them, and the modules' paths, empty for the program itself.
/// Returns their number.
int csystem_own_call_stack(uint64_t *addresses, const char **modules, int most);
/// Has the CPU fetch memory that will be written soon, without waiting for it. It may be any address.
#if defined(__x86_64__)
__attribute__((target("prfchw")))
#endif
static inline void csystem_prefetch_for_writing(const void *memory, size_t bytes) {
  for (size_t at = 0; at < bytes; at += 64) __builtin_prefetch((const char *)memory + at, 1, 3);
}
#endif
