// internal.h: what the files of this target share.
#ifndef FAULTLINE_CTOKENIZER_INTERNAL_H
#define FAULTLINE_CTOKENIZER_INTERNAL_H

#include <stddef.h>

/// A set of words, looked up without allocation.
typedef struct word_set word_set;

/// The words of a text, separated by spaces. Returns 0 without memory.
word_set *word_set_make(const char *words, size_t size);
/// The stop words of a language; 0 for languages without a list, and without memory.
word_set *word_set_of_language(const char *language);
int word_set_has(const word_set *set, const char *word, size_t size);
void word_set_free(word_set *set);

/// A stemmer; 0 for a language that has none, without libstemmer, and without memory.
typedef struct stemmer stemmer;
stemmer *stemmer_make(const char *language);
void stemmer_free(stemmer *stemmer);
/// The stem of a word, or 0 without memory; it is the stemmer's until its next word.
const char *stemmer_stem(stemmer *stemmer, const char *word, int size, int *stem_size);

#endif
