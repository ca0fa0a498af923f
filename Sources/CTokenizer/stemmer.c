// stemmer.c: libstemmer, loaded when it is first asked for. So the program starts on machines
// without it, and only indexes that want stems fail there (decision 1015).
//
// The real library has a Snowball from before 2.0. Its French takes ë and ï for vowels that no
// ending has, except that ë goes behind "gu"; later ones take them for a consonant and a vowel, so
// that "zoë" becomes "zo" instead of "zoë". Here words with them are stemmed with another vowel
// that no ending has in their places, which are the same in the stem.
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "CTokenizer.h"
#include "internal.h"

typedef struct sb_stemmer sb_stemmer;

struct stemmer {
  sb_stemmer *library;
  int is_french;
  char *text;
  size_t capacity;
};

/// The calls of libstemmer 2, as its header and man page have them.
static struct {
  sb_stemmer *(*make)(const char *algorithm, const char *encoding);
  void (*free)(sb_stemmer *);
  const unsigned char *(*stem)(sb_stemmer *, const unsigned char *word, int size);
  int (*length)(sb_stemmer *);
} library;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
  void *handle = dlopen("libstemmer.so.0d", RTLD_NOW | RTLD_LOCAL);
  if (!handle) handle = dlopen("libstemmer.so", RTLD_NOW | RTLD_LOCAL);
  if (!handle) return;
  *(void **)&library.free = dlsym(handle, "sb_stemmer_delete");
  *(void **)&library.stem = dlsym(handle, "sb_stemmer_stem");
  *(void **)&library.length = dlsym(handle, "sb_stemmer_length");
  if (library.free && library.stem && library.length)
    *(void **)&library.make = dlsym(handle, "sb_stemmer_new");
}

/// The languages that the real library knows, and no others: an index names what both have.
static const char *const languages[][2] = {
  {"da", "danish"},    {"nl", "dutch"},     {"en", "english"},    {"fi", "finnish"},
  {"fr", "french"},    {"de", "german"},    {"hu", "hungarian"},  {"it", "italian"},
  {"no", "norwegian"}, {"porter", "porter"}, {"pt", "portuguese"}, {"ro", "romanian"},
  {"ru", "russian"},   {"es", "spanish"},   {"sv", "swedish"},    {"tr", "turkish"},
};

stemmer *stemmer_make(const char *language) {
  pthread_once(&once, load);
  if (!library.make) return 0;
  for (size_t index = 0; index < sizeof(languages) / sizeof(languages[0]); index += 1) {
    const char *const *names = languages[index];
    if (strcmp(language, names[0]) && strcmp(language, names[1])) continue;
    stemmer *self = sqlite3_malloc64(sizeof(stemmer));
    if (!self) return 0;
    memset(self, 0, sizeof(stemmer));
    self->is_french = !strcmp(names[0], "fr");
    self->library = library.make(names[1], "UTF_8");
    if (self->library) return self;
    sqlite3_free(self);
  }
  return 0;
}

void stemmer_free(stemmer *self) {
  if (!self) return;
  library.free(self->library);
  sqlite3_free(self->text);
  sqlite3_free(self);
}

static const char *library_stem(stemmer *self, const char *word, int size, int *stem_size) {
  const unsigned char *stem = library.stem(self->library, (const unsigned char *)word, size);
  *stem_size = library.length(self->library);
  return (const char *)stem;
}

/// Whether ë or ï begins at a place: two bytes each, as ô has them.
static int is_diaeresis(const char *word, int place, int size) {
  if (place + 1 >= size || (unsigned char)word[place] != 0xc3) return 0;
  unsigned char second = (unsigned char)word[place + 1];
  return second == 0xab || second == 0xaf;
}

static const char *french_stem(stemmer *self, const char *word, int size, int *stem_size) {
  if (self->capacity < (size_t)size + 1) {
    char *grown = sqlite3_realloc64(self->text, (sqlite3_uint64)size + 64);
    if (!grown) return 0;
    self->text = grown;
    self->capacity = (size_t)size + 64;
  }
  memcpy(self->text, word, (size_t)size);
  for (int place = 0; place < size; place += 1)
    if (is_diaeresis(word, place, size)) self->text[place + 1] = (char)0xb4;
  const char *stem = library_stem(self, self->text, size, stem_size);
  if (!stem || *stem_size > size) return stem;
  memcpy(self->text, stem, (size_t)*stem_size);
  for (int place = 0; place + 1 < *stem_size; place += 1)
    if (is_diaeresis(word, place, size) && (unsigned char)self->text[place + 1] == 0xb4)
      self->text[place + 1] = word[place + 1];
  if (*stem_size >= 4 && !memcmp(self->text + *stem_size - 4, "gu\xc3\xab", 4)) *stem_size -= 2;
  return self->text;
}

const char *stemmer_stem(stemmer *self, const char *word, int size, int *stem_size) {
  int place = 0;
  while (place < size && !is_diaeresis(word, place, size)) place += 1;
  if (self->is_french && place < size) return french_stem(self, word, size, stem_size);
  return library_stem(self, word, size, stem_size);
}

int ctokenizer_has_stemmer(const char *language) {
  stemmer *found = stemmer_make(language);
  stemmer_free(found);
  return found != 0;
}
