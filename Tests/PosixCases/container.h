// container.h: see container.c.
int run_without_seccomp(char **program);
