/* notes.c: every acknowledged note is there. Try it:
 *   cc -o /tmp/notes notes.c
 *   faultline explore --setup 'touch notes' --workload 'sh ../notes.sh' --check-loop /tmp/notes */
#define _GNU_SOURCE
#include "faultline_check.h"

static int judge(const char *directory, const char *output, char *words, size_t size) {
  char there[4096] = "", note[64];
  int number;
  FILE *notes = fopen("notes", "r"), *acknowledged = fopen(output, "r");
  (void)directory;
  if (!notes || !acknowledged) {
    snprintf(words, size, "notes cannot be opened");
    if (notes) fclose(notes);
    if (acknowledged) fclose(acknowledged);
    return faultline_broken;
  }
  there[fread(there, 1, sizeof there - 1, notes)] = 0;
  while (fscanf(acknowledged, "%d", &number) == 1) {
    snprintf(note, sizeof note, "note %d\n", number);
    if (!strstr(there, note) && !words[0]) {
      snprintf(words, size, "note %d was acknowledged and is lost", number);
    }
  }
  fclose(notes);
  fclose(acknowledged);
  return words[0] ? faultline_broken : faultline_held;
}

int main(void) { return faultline_check_loop(judge); }
