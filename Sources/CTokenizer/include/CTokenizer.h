// CTokenizer.h: the tokenizer `unicodesn` for SQLite's full-text tables: SQLite's own `unicode61`,
// then stop words, then a Snowball stemmer of libstemmer. C, because SQLite calls it back for each
// word, with structs that its public header leaves out.
#ifndef FAULTLINE_CTOKENIZER_H
#define FAULTLINE_CTOKENIZER_H

#include <sqlite3.h>

/// Registers the tokenizer with a connection.
/// Returns SQLite's result code; SQLITE_MISUSE when this SQLite has no `unicode61`.
int ctokenizer_register(sqlite3 *database);

/// Whether libstemmer was found, and has a stemmer for a language: its two letters, its English
/// name, or `porter`.
int ctokenizer_has_stemmer(const char *language);

#endif
