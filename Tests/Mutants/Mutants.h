/* Mutants.h: which of the small bugs in this copy is on, and which of them were reached. Only copies
 * that Tests/Mutants/run.py makes have it. */
#ifndef FAULTLINE_MUTANTS_H
#define FAULTLINE_MUTANTS_H

#define FAULTLINE_MUTANTS_MAX 16384

extern int faultline_mutant;
extern unsigned char *faultline_mutants_reached;

static inline _Bool mutantIsOn(int number) {
  faultline_mutants_reached[number] = 1;
  return number == faultline_mutant;
}

#endif
