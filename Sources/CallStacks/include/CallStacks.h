// CallStacks.h: nothing to call. The library is loaded into programs under test by LD_PRELOAD.
#ifndef FAULTLINE_CALL_STACKS_H
#define FAULTLINE_CALL_STACKS_H
#endif
