// tokenizer.c: `unicodesn` over SQLite's `unicode61`.
// Options, each an argument: remove_diacritics=0 or 1 (the default), tokenchars=…,
// separators=…, stopwords=LANGUAGE, stopwordlist=WORD WORD…, stemmer=LANGUAGE. A stop word is dropped and takes
// no position, unless a star follows it. Offsets are those of the word in the text, in bytes.
// The structs below are SQLite's interface of tokenizers (sqlite.org/fts3.html, section 8.1), which
// its public header does not have.
#include <string.h>

#include "CTokenizer.h"
#include "internal.h"

typedef struct sqlite3_tokenizer_module module;
typedef struct sqlite3_tokenizer {
  const module *module;
} tokenizer;
typedef struct sqlite3_tokenizer_cursor {
  tokenizer *tokenizer;
} cursor;

struct sqlite3_tokenizer_module {
  int version;
  int (*create)(int count, const char *const *arguments, tokenizer **result);
  int (*destroy)(tokenizer *);
  int (*open)(tokenizer *, const char *input, int size, cursor **result);
  int (*close)(cursor *);
  int (*next)(cursor *, const char **token, int *size, int *start, int *end, int *position);
  int (*language)(cursor *, int language);
};

/// `unicode61`: one of SQLite's own constants, the same for all connections of the process.
static const module *inner_module;

typedef struct {
  tokenizer base;
  tokenizer *inner;
  word_set *stop_words;
  stemmer *stemmer;
} outer_tokenizer;

typedef struct {
  cursor base;
  cursor *inner;
  const char *input;
  int size;
  int position;
  /// The stem: the stemmer's own memory is used again by the next cursor.
  char *stem;
  int stem_capacity;
} outer_cursor;

static int destroy(tokenizer *base) {
  outer_tokenizer *self = (outer_tokenizer *)base;
  if (self->inner) inner_module->destroy(self->inner);
  word_set_free(self->stop_words);
  stemmer_free(self->stemmer);
  sqlite3_free(self);
  return SQLITE_OK;
}

/// What follows a prefix, or 0.
static const char *behind(const char *argument, const char *prefix) {
  size_t size = strlen(prefix);
  return strncmp(argument, prefix, size) ? 0 : argument + size;
}

static int set_option(outer_tokenizer *self, const char *argument) {
  const char *value;
  if ((value = behind(argument, "stopwords="))) {
    word_set_free(self->stop_words);
    self->stop_words = word_set_of_language(value);
    return SQLITE_OK;
  }
  if ((value = behind(argument, "stopwordlist="))) {
    word_set_free(self->stop_words);
    self->stop_words = word_set_make(value, strlen(value));
    return self->stop_words ? SQLITE_OK : SQLITE_NOMEM;
  }
  if ((value = behind(argument, "stemmer="))) {
    stemmer_free(self->stemmer);
    self->stemmer = stemmer_make(value);
    return self->stemmer ? SQLITE_OK : SQLITE_ERROR;
  }
  return SQLITE_NOTFOUND;
}

static int create(int count, const char *const *arguments, tokenizer **result) {
  const char *inner_arguments[16];
  int inner_count = 0, code = SQLITE_OK;
  outer_tokenizer *self = sqlite3_malloc64(sizeof(outer_tokenizer));
  if (!self) return SQLITE_NOMEM;
  memset(self, 0, sizeof(outer_tokenizer));
  // 1 is SQLite's default as well, and said so that it stays.
  inner_arguments[inner_count++] = "remove_diacritics=1";
  for (int index = 0; index < count && code == SQLITE_OK; index += 1) {
    code = set_option(self, arguments[index]);
    if (code != SQLITE_NOTFOUND) continue;
    code = inner_count < 16 ? SQLITE_OK : SQLITE_ERROR;
    if (code == SQLITE_OK) inner_arguments[inner_count++] = arguments[index];
  }
  if (code == SQLITE_OK) code = inner_module->create(inner_count, inner_arguments, &self->inner);
  if (code != SQLITE_OK) {
    self->inner = 0;
    destroy(&self->base);
    return code;
  }
  self->inner->module = inner_module;
  *result = &self->base;
  return SQLITE_OK;
}

static int open_cursor(tokenizer *base, const char *input, int size, cursor **result) {
  outer_tokenizer *tokenizer = (outer_tokenizer *)base;
  outer_cursor *self = sqlite3_malloc64(sizeof(outer_cursor));
  if (!self) return SQLITE_NOMEM;
  memset(self, 0, sizeof(outer_cursor));
  self->input = input;
  self->size = input == 0 ? 0 : size < 0 ? (int)strlen(input) : size;
  int code = inner_module->open(tokenizer->inner, input, self->size, &self->inner);
  if (code != SQLITE_OK) {
    sqlite3_free(self);
    return code;
  }
  self->inner->tokenizer = tokenizer->inner;
  *result = &self->base;
  return SQLITE_OK;
}

static int close_cursor(cursor *base) {
  outer_cursor *self = (outer_cursor *)base;
  inner_module->close(self->inner);
  sqlite3_free(self->stem);
  sqlite3_free(self);
  return SQLITE_OK;
}

/// Replaces a token by its stem.
static int stem(outer_cursor *self, stemmer *stemmer, const char **token, int *size) {
  int stem_size = 0;
  const char *stem = stemmer_stem(stemmer, *token, *size, &stem_size);
  if (!stem) return SQLITE_NOMEM;
  if (stem_size > self->stem_capacity) {
    char *grown = sqlite3_realloc(self->stem, stem_size + 64);
    if (!grown) return SQLITE_NOMEM;
    self->stem = grown;
    self->stem_capacity = stem_size + 64;
  }
  if (stem_size > 0) memcpy(self->stem, stem, (size_t)stem_size);
  *token = self->stem ? self->stem : "";
  *size = stem_size;
  return SQLITE_OK;
}

static int next(
  cursor *base, const char **token, int *size, int *start, int *end, int *position
) {
  outer_cursor *self = (outer_cursor *)base;
  outer_tokenizer *tokenizer = (outer_tokenizer *)base->tokenizer;
  for (;;) {
    int inner_position, code;
    code = inner_module->next(self->inner, token, size, start, end, &inner_position);
    if (code != SQLITE_OK) return code;
    int has_star = *end < self->size && self->input[*end] == '*';
    int is_dropped = tokenizer->stop_words && !has_star
      && word_set_has(tokenizer->stop_words, *token, (size_t)*size);
    if (!is_dropped) break;
  }
  *position = self->position++;
  return tokenizer->stemmer ? stem(self, tokenizer->stemmer, token, size) : SQLITE_OK;
}

static const module outer_module = {0, create, destroy, open_cursor, close_cursor, next, 0};

/// Runs `SELECT fts3_tokenizer(?1)` or `(?1, ?2)`: SQLite hands modules out, and takes them, as
/// blobs of a pointer, from bound parameters only unless it is told otherwise.
static int exchange(sqlite3 *database, const char *name, const module **value, int sets) {
  sqlite3_stmt *statement = 0;
  int code = sqlite3_prepare_v2(
    database, sets ? "SELECT fts3_tokenizer(?1, ?2)" : "SELECT fts3_tokenizer(?1)", -1,
    &statement, 0);
  if (code != SQLITE_OK) return code;
  sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
  if (sets) sqlite3_bind_blob(statement, 2, value, sizeof(*value), SQLITE_STATIC);
  if (sqlite3_step(statement) == SQLITE_ROW && !sets
      && sqlite3_column_type(statement, 0) == SQLITE_BLOB
      && sqlite3_column_bytes(statement, 0) == sizeof(*value))
    memcpy(value, sqlite3_column_blob(statement, 0), sizeof(*value));
  return sqlite3_finalize(statement);
}

int ctokenizer_register(sqlite3 *database) {
  const module *found = 0;
  int code = exchange(database, "unicode61", &found, 0);
  if (code != SQLITE_OK) return code;
  if (!found) return SQLITE_MISUSE;
  __atomic_store_n(&inner_module, found, __ATOMIC_RELEASE);
  const module *own = &outer_module;
  return exchange(database, "unicodesn", &own, 1);
}
