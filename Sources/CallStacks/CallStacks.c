// CallStacks.c: a library that is loaded into programs under test (LD_PRELOAD). Around each call
// that may change files it leaves the thread's call stack in memory that the faulty filesystem reads
// while the call waits for its answer (CallStackArea.h).
// Invariants: a call does what it would do without the library, errno included; the walk reads only
// between its own frame and the end of the thread's stack; where anything is not as expected there
// is a shorter call stack, or none.
// The frames are those that frame pointers link, so code without them is passed over. The innermost
// frame is the call's own return address and is there for every program.
#define _GNU_SOURCE
#include "CallStacks.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../CSystem/CallStackArea.h"
#include "CallStackCalls.h"

/// Read by the Swift compiler when it links: its runtime, which nothing here uses, is left out, or
/// every program under test would load it (some milliseconds for each process).
__attribute__((section(".swift1_autolink_entries"), used)) static const char link_option[] =
    "-Wl,--as-needed";

static struct call_stack_area *area;
static char directory[PATH_MAX];
static pthread_key_t slot_key;

/// What the calling thread knows of itself.
static _Thread_local struct {
  struct call_stack_slot *slot;
  /// The end of its stack.
  uintptr_t stack_end;
  /// The frame of the call that is under way; calls inside of it have lower frames.
  uintptr_t outermost;
  /// The module of the last frame, where the next one most likely lies.
  int module;
  /// True while this library itself calls others.
  bool is_busy;
  /// True when there was no slot.
  bool has_none;
} own __attribute__((tls_model("initial-exec")));

// MARK: - Modules

enum { modules_max = 1024 };

struct module {
  uintptr_t start, end, bias;
};

/// Grows only; the first `module_count` entries do not change.
static struct module modules[modules_max];
static char *module_paths[modules_max];
static _Atomic int module_count;
static unsigned long long modules_loaded;
static pthread_mutex_t modules_lock = PTHREAD_MUTEX_INITIALIZER;
/// Number of this execution of this program; 0 until its first call stack, and after a fork.
static _Atomic uint32_t image;

static int find_module(uintptr_t address) {
  int count = atomic_load_explicit(&module_count, memory_order_acquire);
  int last = own.module;
  if (last < count && address >= modules[last].start && address < modules[last].end) return last;
  // From the newest: what was loaded later may lie where something was unloaded.
  for (int index = count - 1; index >= 0; index--)
    if (address >= modules[index].start && address < modules[index].end) return own.module = index;
  return -1;
}

static bool is_known(const struct module *module) {
  int count = atomic_load_explicit(&module_count, memory_order_relaxed);
  for (int index = 0; index < count; index++)
    if (memcmp(&modules[index], module, sizeof *module) == 0) return true;
  return false;
}

static int add_module(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size, (void)context;
  modules_loaded = info->dlpi_adds;
  struct module module = {UINTPTR_MAX, 0, info->dlpi_addr};
  for (int index = 0; index < info->dlpi_phnum; index++) {
    const ElfW(Phdr) *header = &info->dlpi_phdr[index];
    if (header->p_type != PT_LOAD || !(header->p_flags & PF_X)) continue;
    uintptr_t start = info->dlpi_addr + header->p_vaddr;
    if (start < module.start) module.start = start;
    if (start + header->p_memsz > module.end) module.end = start + header->p_memsz;
  }
  int count = atomic_load_explicit(&module_count, memory_order_relaxed);
  if (module.end == 0 || count >= modules_max || is_known(&module)) return 0;
  char program[PATH_MAX] = "";
  const char *path = info->dlpi_name;
  if (path == NULL || path[0] == 0) {
    // Only the program itself has no name here.
    if (readlink("/proc/self/exe", program, sizeof program - 1) <= 0) return 0;
    path = program;
  }
  module_paths[count] = strdup(path);
  if (module_paths[count] == NULL) return 0;
  for (char *byte = module_paths[count]; *byte; byte++)
    if (*byte == '\n') *byte = '?';
  modules[count] = module;
  atomic_store_explicit(&module_count, count + 1, memory_order_release);
  return 0;
}

static int count_loads(struct dl_phdr_info *info, size_t size, void *loads) {
  (void)size;
  *(unsigned long long *)loads = info->dlpi_adds;
  return 1;
}

/// Appends module paths to the image's file; raw calls, because those of libc come back here.
static void tell_modules(int first) {
  char path[PATH_MAX + 16];
  int length = snprintf(path, sizeof path, "%s/%u", directory, (unsigned)atomic_load(&image));
  if (length < 0 || length >= (int)sizeof path) return;
  int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
  int file = (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0600);
  if (file < 0) return;
  int count = atomic_load(&module_count);
  for (int index = first; index < count; index++) {
    syscall(SYS_write, file, module_paths[index], strlen(module_paths[index]));
    syscall(SYS_write, file, "\n", 1);
  }
  syscall(SYS_close, file);
}

/// Looks for modules that were loaded since the last time.
static void find_new_modules(void) {
  pthread_mutex_lock(&modules_lock);
  if (atomic_load(&image) == 0) {
    dl_iterate_phdr(add_module, NULL);
    atomic_store(&image, atomic_fetch_add(&area->images, 1) + 1);
    tell_modules(0);
  } else {
    unsigned long long loads = 0;
    dl_iterate_phdr(count_loads, &loads);
    if (loads != modules_loaded) {
      int first = atomic_load(&module_count);
      dl_iterate_phdr(add_module, NULL);
      tell_modules(first);
    }
  }
  pthread_mutex_unlock(&modules_lock);
}

// MARK: - Threads

static bool is_gone(const struct call_stack_slot *slot, int32_t thread) {
  return syscall(SYS_tgkill, slot->process, thread, 0) != 0 && errno == ESRCH;
}

static void claim_slot(void) {
  own.has_none = true;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void *start = NULL;
  size_t count = 0;
  pthread_attr_getstack(&attributes, &start, &count);
  pthread_attr_destroy(&attributes);
  own.stack_end = (uintptr_t)start + count;
  int32_t thread = (int32_t)syscall(SYS_gettid);
  for (int probe = 0; probe < call_stack_probes; probe++) {
    struct call_stack_slot *slot =
        &area->slots[((uint32_t)thread + (uint32_t)probe) % call_stack_slots];
    int32_t found = atomic_load(&slot->thread);
    if (found != thread && found != 0 && !is_gone(slot, found)) continue;
    if (!atomic_compare_exchange_strong(&slot->thread, &found, thread)) continue;
    atomic_store(&slot->depth, 0);
    slot->process = getpid();
    own.slot = slot;
    own.has_none = false;
    pthread_setspecific(slot_key, slot);
    return;
  }
}

static void release_slot(void *memory) {
  struct call_stack_slot *slot = memory;
  atomic_store(&slot->depth, 0);
  atomic_store(&slot->thread, 0);
  own.slot = NULL;
  own.has_none = true;
}

/// The child has one thread with another number, and may load other modules than its parent.
static void begin_after_fork(void) {
  own.slot = NULL;
  own.has_none = false;
  own.is_busy = false;
  atomic_store(&image, 0);
  pthread_mutex_init(&modules_lock, NULL);
}

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("FAULTLINE_STACKS");
  if (path == NULL || strlen(path) + sizeof "/threads" > sizeof directory) return;
  strcpy(directory, path);
  char name[PATH_MAX + 16];
  snprintf(name, sizeof name, "%s/threads", directory);
  int file = (int)syscall(SYS_openat, AT_FDCWD, name, O_RDWR | O_CLOEXEC, 0);
  if (file < 0) return;
  if (pthread_key_create(&slot_key, release_slot) == 0 &&
      pthread_atfork(NULL, NULL, begin_after_fork) == 0) {
    void *memory = mmap(
        NULL, sizeof(struct call_stack_area), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory != MAP_FAILED) area = memory;
  }
  syscall(SYS_close, file);
}

__attribute__((destructor)) static void end(void) {
  if (own.slot != NULL) release_slot(own.slot);
}

// MARK: - The walk

static uint64_t frame(uintptr_t address) {
  int module = find_module(address);
  if (module < 0) {
    find_new_modules();
    module = find_module(address);
  }
  if (module < 0) return 0;
  uint64_t place = (uint64_t)(address - modules[module].bias);
  return (uint64_t)module << 48 | (place & 0xffffffffffff);
}

/// Notes the call stack; false when there is none to take back.
bool call_stacks_enter(void *frame_address, void *return_address) {
  if (area == NULL || own.is_busy || own.has_none) return false;
  uintptr_t at = (uintptr_t)frame_address;
  struct call_stack_slot *slot = own.slot;
  // A call inside of another, for example of a library of its own: the outer one is what was asked
  // for. An outer one that was left by a jump lies below.
  if (slot != NULL && atomic_load_explicit(&slot->depth, memory_order_relaxed) > 0 &&
      at < own.outermost)
    return false;
  int error = errno;
  own.is_busy = true;
  if (slot == NULL) {
    claim_slot();
    slot = own.slot;
  }
  uint32_t depth = 0;
  if (slot != NULL) {
    atomic_store_explicit(&slot->depth, 0, memory_order_relaxed);
    if (atomic_load_explicit(&image, memory_order_relaxed) == 0) find_new_modules();
    uint64_t found = frame((uintptr_t)return_address);
    uintptr_t next = *(uintptr_t *)at;
    while (found != 0) {
      slot->frames[depth++] = found;
      bool is_inside = next > at && next % sizeof(uintptr_t) == 0 &&
                       next <= own.stack_end - 2 * sizeof(uintptr_t);
      if (depth == call_stack_frames_max || !is_inside) break;
      at = next;
      next = ((uintptr_t *)at)[0];
      found = frame(((uintptr_t *)at)[1]);
    }
    own.outermost = (uintptr_t)frame_address;
    slot->image = atomic_load_explicit(&image, memory_order_relaxed);
    atomic_store_explicit(&slot->depth, depth, memory_order_release);
  }
  own.is_busy = false;
  errno = error;
  return depth > 0;
}

void call_stacks_leave(void) {
  if (own.slot != NULL) atomic_store_explicit(&own.slot->depth, 0, memory_order_release);
}

void *call_stacks_next(_Atomic(void *) *known, const char *name) {
  void *function = atomic_load_explicit(known, memory_order_acquire);
  if (function != NULL) return function;
  function = dlsym(RTLD_NEXT, name);
  // Without the call itself nothing sensible can be done.
  if (function == NULL) abort();
  atomic_store_explicit(known, function, memory_order_release);
  return function;
}
