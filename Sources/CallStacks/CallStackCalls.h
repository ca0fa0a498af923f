// CallStackCalls.h: what a call that is watched does before and after the call itself.
#ifndef FAULTLINE_CALL_STACK_CALLS_H
#define FAULTLINE_CALL_STACK_CALLS_H

#include <stdatomic.h>
#include <stdbool.h>

#define HIDDEN __attribute__((visibility("hidden")))

/// Notes the call stack from a frame on; true when `call_stacks_leave` has to take it back.
HIDDEN bool call_stacks_enter(void *frame_address, void *return_address);
/// Takes the call stack back.
HIDDEN void call_stacks_leave(void);
/// The function of this name behind this library.
HIDDEN void *call_stacks_next(_Atomic(void *) *known, const char *name);

/// A function that does what the next one of its name does, with the call stack noted meanwhile.
#define WATCH(type, name, parameters, arguments)                                              \
  type name parameters {                                                                      \
    static _Atomic(void *) known;                                                             \
    type(*next) parameters = (type(*) parameters)call_stacks_next(&known, #name);             \
    bool is_noted = call_stacks_enter(__builtin_frame_address(0), __builtin_return_address(0)); \
    type result = next arguments;                                                             \
    if (is_noted) call_stacks_leave();                                                        \
    return result;                                                                            \
  }

/// The same for a function that returns nothing.
#define WATCH_NOTHING(name, parameters, arguments)                                            \
  void name parameters {                                                                      \
    static _Atomic(void *) known;                                                             \
    void(*next) parameters = (void(*) parameters)call_stacks_next(&known, #name);             \
    bool is_noted = call_stacks_enter(__builtin_frame_address(0), __builtin_return_address(0)); \
    next arguments;                                                                           \
    if (is_noted) call_stacks_leave();                                                        \
  }

#endif
