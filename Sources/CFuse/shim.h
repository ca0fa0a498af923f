// libfuse3's low-level API. _FILE_OFFSET_BITS stays undefined: it would clash with Glibc's module,
// and off_t is 64 bits wide on the machines we build for anyway.
#ifndef FAULTLINE_CFUSE_SHIM_H
#define FAULTLINE_CFUSE_SHIM_H
#define FUSE_USE_VERSION 35
#include <fuse3/fuse.h>
#include <fuse3/fuse_lowlevel.h>
#endif
