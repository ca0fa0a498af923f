// MappingFaults.c: a page of a mapped file that the medium does not give is SIGBUS, and the default
// action of SIGBUS ends the process. For mappings that are watched the page becomes zeros instead,
// and the mapping says so from then on; whoever reads it asks before it believes what it read.
// Invariants: a fault is noted before its zeros can be seen; the handler takes no lock and calls
// only mmap(2), sigaction(2) and atomics; entries are never freed, so it can walk them at any time.
#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct entry {
  // 0: free; 1: taken, not watched yet; else the first byte of the mapping.
  _Atomic(uintptr_t) start;
  _Atomic(size_t) count;
  // 0, or 1 + the offset of the first byte that could not be read.
  _Atomic(uint64_t) fault;
};

enum { entries_per_chunk = 128 };

struct chunk {
  struct entry entries[entries_per_chunk];
  _Atomic(struct chunk *) next;
};

static struct chunk first_chunk;
static struct sigaction previous;
static uintptr_t page_bytes;

static struct entry *entry_of(uintptr_t address) {
  for (struct chunk *chunk = &first_chunk; chunk; chunk = atomic_load(&chunk->next))
    for (int index = 0; index < entries_per_chunk; index++) {
      struct entry *entry = &chunk->entries[index];
      uintptr_t start = atomic_load(&entry->start);
      if (start > 1 && address >= start && address - start < atomic_load(&entry->count))
        return entry;
    }
  return NULL;
}

static void pass_on(int number, siginfo_t *info, void *context) {
  if (previous.sa_flags & SA_SIGINFO) {
    previous.sa_sigaction(number, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(number);
  } else {
    // The instruction faults again, or the signal is sent again, and the process ends by it.
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigaction(number, &standard, NULL);
    if (info->si_code <= 0) raise(number);
  }
}

static void on_bus_error(int number, siginfo_t *info, void *context) {
  int saved = errno;
  uintptr_t address = (uintptr_t)info->si_addr;
  struct entry *entry = info->si_code > 0 ? entry_of(address) : NULL;
  if (entry) {
    uintptr_t page = address & ~(page_bytes - 1);
    uint64_t none = 0;
    atomic_compare_exchange_strong(
        &entry->fault, &none, (uint64_t)(page - atomic_load(&entry->start)) + 1);
    if (mmap((void *)page, page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
        MAP_FAILED) {
      errno = saved;
      return;
    }
  }
  pass_on(number, info, context);
  errno = saved;
}

static void install(void) {
  page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
  struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, &previous);
}

static struct entry *take_entry(void) {
  for (struct chunk *chunk = &first_chunk;;) {
    for (int index = 0; index < entries_per_chunk; index++) {
      uintptr_t free_entry = 0;
      if (atomic_compare_exchange_strong(&chunk->entries[index].start, &free_entry, 1))
        return &chunk->entries[index];
    }
    struct chunk *next = atomic_load(&chunk->next);
    if (!next) {
      struct chunk *made = calloc(1, sizeof *made);
      if (!made) return NULL;
      if (atomic_compare_exchange_strong(&chunk->next, &next, made)) next = made;
      else free(made);
    }
    chunk = next;
  }
}

const uint64_t *csystem_watch_mapping(const void *start, size_t count) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, install);
  struct entry *entry = take_entry();
  if (!entry) return NULL;
  atomic_store(&entry->count, count);
  atomic_store(&entry->fault, 0);
  atomic_store(&entry->start, (uintptr_t)start);
  return (const uint64_t *)&entry->fault;
}

static const uint64_t no_fault;

const uint64_t *csystem_no_fault(void) { return &no_fault; }

void csystem_unwatch_mapping(const uint64_t *fault) {
  if (fault == &no_fault) return;
  struct entry *entry = (struct entry *)((char *)fault - offsetof(struct entry, fault));
  atomic_store(&entry->start, 0);
}
