/* store.c: RocksDB 7.8 as an example. Modes: sync (every write with `sync`), nosync. */
#include <rocksdb/c.h>
#define NAME(name) rocksdb_##name
#include "../leveldb/store.c"
