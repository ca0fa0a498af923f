/* Mutants.c: FAULTLINE_MUTANT=NUMBER switches a mutant on, in a process and its children.
 * FAULTLINE_MUTANTS_REACHED names a file of a byte for each number, which all of them share: it
 * outlives a process that is killed. */
#include "Mutants.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static unsigned char unrecorded[FAULTLINE_MUTANTS_MAX];
unsigned char *faultline_mutants_reached = unrecorded;
int faultline_mutant = -1;

__attribute__((constructor)) static void switch_mutant_on(void) {
  const char *number = getenv("FAULTLINE_MUTANT");
  if (number != NULL) faultline_mutant = atoi(number);
  const char *path = getenv("FAULTLINE_MUTANTS_REACHED");
  int file = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void *shared = mmap(NULL, FAULTLINE_MUTANTS_MAX, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (shared != MAP_FAILED) faultline_mutants_reached = shared;
}
