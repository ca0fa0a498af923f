/* faultline_check.h: a checker in C that stays, for `faultline explore --check-loop`.
 * Copy this file beside your checker. It needs C99 and POSIX, and nothing else.
 *
 *   #include "faultline_check.h"
 *   static int judge(const char *directory, const char *output, char *words, size_t size) {
 *     ...   // the crash state, and a file with what was acknowledged
 *     return faultline_held;   // or write the reason to words, and return faultline_broken
 *   }
 *   int main(void) { return faultline_check_loop(judge); }
 *
 * Return faultline_noticed when the program says itself that its files are damaged. What a judge
 * opens it closes: the next state comes into the same directory. A judge that crashes is fine:
 * Faultline starts another process, and the crash is the verdict of that state. */
#ifndef FAULTLINE_CHECK_H
#define FAULTLINE_CHECK_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { faultline_held = 0, faultline_broken = 1, faultline_noticed = 77 };

typedef int (*faultline_judge)(const char *directory, const char *output, char *words, size_t size);

/* Reads a string of JSON at *at, quotes included, into itself; NULL if there is none. */
static char *faultline_string(char **at) {
  char *from = *at, *to, *start;
  if (*from != '"') return NULL;
  start = to = ++from;
  while (*from && *from != '"') {
    if (*from != '\\') {
      *to++ = *from++;
      continue;
    }
    from++;
    if (*from == 'u') { /* below 128, as Faultline writes control characters */
      char digits[5] = {0};
      memcpy(digits, from + 1, strnlen(from + 1, 4));
      *to++ = (char)strtol(digits, NULL, 16);
      from += 1 + strlen(digits);
    } else {
      *to++ = *from == 'n' ? '\n' : *from == 't' ? '\t' : *from == 'r' ? '\r' : *from;
      if (*from) from++;
    }
  }
  if (*from == '"') from++;
  *to = 0;
  *at = from;
  return start;
}

/* Reads "name":"value" pairs of one object; calls itself for the object that holds variables. */
static char *faultline_object(char *at, int is_environment, char **directory, char **output) {
  while (*at && *at != '}') {
    char *name = faultline_string(&at), *value;
    if (!name) {
      at++;
      continue;
    }
    while (*at == ':' || *at == ' ') at++;
    if (*at == '{') {
      at = faultline_object(at + 1, 1, directory, output);
    } else if ((value = faultline_string(&at))) {
      if (is_environment) setenv(name, value, 1);
      else if (strcmp(name, "directory") == 0) *directory = value;
      else if (strcmp(name, "output") == 0) *output = value;
    }
  }
  return *at ? at + 1 : at;
}

/* Answers each request on standard input until there are no more. Returns an exit status. */
static int faultline_check_loop(faultline_judge judge) {
  FILE *answers = fdopen(dup(1), "w");
  char *line = NULL, home[4096];
  size_t capacity = 0;
  if (!answers || !getcwd(home, sizeof home)) return 2;
  dup2(2, 1); /* What a judge prints is no answer. */
  while (getline(&line, &capacity, stdin) > 0) {
    char *directory = NULL, *output = NULL, words[1024] = "";
    int verdict;
    faultline_object(strchr(line, '{') ? strchr(line, '{') + 1 : line, 0, &directory, &output);
    if (!directory || !output || chdir(directory) != 0) return 2;
    verdict = judge(directory, output, words, sizeof words);
    for (char *byte = words; *byte; byte++) {
      if (*byte == '\n' || *byte == '\r') *byte = ' ';
    }
    fflush(stdout);
    if (chdir(home) != 0) return 2;
    fprintf(answers, "%s%s%s\n",
            verdict == faultline_held      ? "held"
            : verdict == faultline_noticed ? "noticed"
                                           : "broken",
            words[0] ? " " : "", words);
    fflush(answers);
  }
  free(line);
  return 0;
}
#endif
