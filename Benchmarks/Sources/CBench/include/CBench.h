// CBench.h: what the benchmarks need in C.

#pragma once

#include "Stores.h"

#include <stdint.h>
#include <sys/types.h>

/// Runs `count` operations of one kind in `directory`, after a tenth of them to warm up.
/// Kinds: write, write-fsync, create, read. Returns nanoseconds, or -errno.
int64_t cbench_client(const char *kind, const char *directory, long count);

/// Pins this process, and all that it starts from now on, to the last CPU it may use.
/// Returns the CPU, or -errno.
int cbench_pin(void);

/// Takes that back, for what is started until this process is pinned again. Returns 0 or -errno.
int cbench_unpin(void);

/// Bytes that are allocated on the heap, large blocks in mappings of their own included.
long cbench_heap_bytes(void);

/// Starts a program that gets SIGTERM when this process ends, however it ends. Its standard output
/// and error go to `log`. Returns its process id, or -errno.
pid_t cbench_spawn(char *const arguments[], const char *log);

/// Runs a program with posix_spawn and waits for it. Returns its exit status (128 + the signal that
/// killed it), or -errno.
int cbench_run(char *const arguments[]);

/// Makes `count` bytes the content of a file. Returns 0, or -errno.
int cbench_overwrite(const char *path, const void *bytes, size_t count);

/// Sends SIGTERM and waits, after `patience_ms` SIGKILL. Returns 0 when it went in time.
int cbench_stop(pid_t process, int patience_ms);

/// 1 when the process has ended (and reaps it), 0 when it runs.
int cbench_has_ended(pid_t process);

/// 1 when `directory` lies on tmpfs, 0 when not, -errno when it cannot be told.
int cbench_is_tmpfs(const char *directory);

/// 1 when something is mounted on `directory`, 0 when not, -errno when it cannot be told.
int cbench_is_mounted(const char *directory);
