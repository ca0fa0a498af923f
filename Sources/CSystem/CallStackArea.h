// CallStackArea.h: memory that programs under test share with the faulty filesystem: for each
// thread the call stack of the file operation that it is in. The library in Sources/CallStacks
// writes it, CallStackArea.c reads it.
// Invariants: one thread writes a slot, and only between two of its own calls; whoever reads does
// so while that thread waits for the answer to its call, so slots need no locks. What stands there
// was written by a program that may be broken: readers believe no number in it.
//
// A frame is the return address as the module's file has it, with the module's line number in the
// image's file above: `module << 48 | address`. An image is one execution of one program; its file
// is named after its number, lies beside the area and has one path of a module in each line.
#ifndef FAULTLINE_CALL_STACK_AREA_H
#define FAULTLINE_CALL_STACK_AREA_H

#include <stdatomic.h>
#include <stdint.h>

enum {
  call_stack_frames_max = 48,
  call_stack_slots = 4096,
  /// A thread's slot is one of so many that follow its number modulo the number of slots.
  call_stack_probes = 16,
};

struct call_stack_slot {
  /// The thread; 0 when the slot is free.
  _Atomic int32_t thread;
  int32_t process;
  /// The program's number, from 1.
  uint32_t image;
  /// Number of frames; 0 while the thread is in none of the calls.
  _Atomic uint32_t depth;
  /// From the innermost.
  uint64_t frames[call_stack_frames_max];
};

struct call_stack_area {
  /// Number of images so far.
  _Atomic uint32_t images;
  uint32_t reserved[15];
  struct call_stack_slot slots[call_stack_slots];
};

#endif
