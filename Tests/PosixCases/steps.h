// steps.h: see steps.c.
int run_steps(int count, char **steps);
int run_socket(const char *path);
