// parent.h: see parent.c.
int run_parent(const char *daemon, const char *mount_point, const char *pid_file);
