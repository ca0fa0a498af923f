// syncs.h: see syncs.c.
int run_syncs(const char *what);
