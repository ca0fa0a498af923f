// CallStackArea.c: makes and reads the memory in which programs under test leave their call stacks;
// the lab's own call stacks are taken here too.
#define _GNU_SOURCE
#include "CallStackArea.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "CSystem.h"

const int csystem_call_stack_frames_max = call_stack_frames_max;

int csystem_make_call_stack_area(const char *path) {
  int file = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0) return -1;
  // The file is sparse: only slots that are used take memory.
  int result = ftruncate(file, sizeof(struct call_stack_area));
  close(file);
  return result;
}

int csystem_read_call_stack(int file, int thread, uint32_t *image, uint64_t *frames) {
  for (int probe = 0; probe < call_stack_probes; probe++) {
    // Read and not mapped: whoever shares the file may cut it off, and then this is a short read.
    struct call_stack_slot slot;
    off_t index = ((uint32_t)thread + (uint32_t)probe) % call_stack_slots;
    off_t at = (off_t)offsetof(struct call_stack_area, slots) + index * (off_t)sizeof slot;
    if (pread(file, &slot, sizeof slot, at) != (ssize_t)sizeof slot) return 0;
    if (atomic_load_explicit(&slot.thread, memory_order_relaxed) != thread) continue;
    uint32_t depth = atomic_load_explicit(&slot.depth, memory_order_relaxed);
    if (depth > call_stack_frames_max) depth = call_stack_frames_max;
    *image = slot.image;
    memcpy(frames, slot.frames, depth * sizeof(uint64_t));
    return (int)depth;
  }
  return 0;
}

int csystem_own_call_stack(uint64_t *addresses, const char **modules, int most) {
  // One more: the innermost frame is this function's.
  void *found[call_stack_frames_max + 1];
  if (most > call_stack_frames_max) most = call_stack_frames_max;
  int count = backtrace(found, most + 1) - 1;
  for (int index = 0; index < count; index++) {
    Dl_info symbol;
    struct link_map *module = NULL;
    if (!dladdr1(found[index + 1], &symbol, (void **)&module, RTLD_DL_LINKMAP) || !module) {
      return index;
    }
    addresses[index] = (uintptr_t)found[index + 1] - module->l_addr;
    modules[index] = module->l_name;
  }
  return count < 0 ? 0 : count;
}
