// words.c: sets of stop words, and the two lists that the real library has.
// The lists are Snowball's of English and French (snowballstem.org, BSD), as of 2017 with the
// additions of Jean-Christophe Deschamps; tokens must be dropped exactly as there, or the two
// libraries' indexes differ. Words with an apostrophe are left out: no token has one.
#include <sqlite3.h>
#include <string.h>

#include "internal.h"

static const char english[] =
  "a about above after again against all am an and any are as at be because been before being "
  "below between both but by cannot could did do does doing down during each few for from further "
  "had has have having he her here hers herself him himself his how i if in into is it its itself "
  "me more most my myself no nor not of off on once only or other ought our ours ourselves out "
  "over own same she should so some such than that the their theirs them themselves then there "
  "these they this those through to too under until up very was we were what when where which "
  "while who whom why with would you your yours yourself yourselves";

static const char french[] =
  "ai aie aient aies ait as au aura aurai auraient aurais aurait auras aurez auriez "
  "aurions aurons auront aux avaient avais avait avec avez aviez avions avons ayant ayez "
  "ayons c ce ceci cela celà ces cet cette d dans de des du elle en es est et eu eue eues "
  "eurent eus eusse eussent eusses eussiez eussions eut eux eûmes eût eûtes furent fus "
  "fusse fussent fusses fussiez fussions fut fûmes fût fûtes ici il ils j je l la le les "
  "leur leurs lui m ma mais me mes moi mon même n ne nos notre nous on ont ou par pas "
  "pour qu que quel quelle quelles quels qui s sa sans se sera serai seraient serais "
  "serait seras serez seriez serions serons seront ses soi soient sois soit sommes son "
  "sont soyez soyons suis sur t ta te tes toi ton tu un une vos votre vous y à étaient "
  "étais était étant étiez étions été étée étées étés êtes";

typedef struct {
  unsigned int start, size;
} span;

/// Open addressing over spans of one text; a power of two of slots, at most half full.
struct word_set {
  char *text;
  unsigned int mask;
  span slots[];
};

static unsigned int hash(const char *word, size_t size) {
  unsigned int value = 2166136261u;
  for (size_t index = 0; index < size; index += 1)
    value = (value ^ (unsigned char)word[index]) * 16777619u;
  return value;
}

/// The slot of a word, or the empty one where it would be.
static span *find(const word_set *set, const char *word, size_t size) {
  unsigned int place = hash(word, size) & set->mask;
  for (;; place = (place + 1) & set->mask) {
    const span *slot = &set->slots[place];
    if (slot->size == 0) return (span *)slot;
    if (slot->size == size && !memcmp(set->text + slot->start, word, size)) return (span *)slot;
  }
}

word_set *word_set_make(const char *words, size_t size) {
  size_t count = 0, capacity = 4;
  if (size > 1 << 24) return 0;
  for (size_t index = 0; index < size; index += 1)
    count += words[index] != ' ' && (index == 0 || words[index - 1] == ' ');
  while (capacity < 2 * count) capacity *= 2;
  word_set *set = sqlite3_malloc64(sizeof(word_set) + capacity * sizeof(span) + size + 1);
  if (!set) return 0;
  memset(set, 0, sizeof(word_set) + capacity * sizeof(span));
  set->mask = (unsigned int)capacity - 1;
  set->text = (char *)(set->slots + capacity);
  memcpy(set->text, words, size);
  for (size_t start = 0; start < size;) {
    size_t end = start;
    while (end < size && words[end] != ' ') end += 1;
    if (end > start) {
      span *slot = find(set, words + start, end - start);
      slot->start = (unsigned int)start;
      slot->size = (unsigned int)(end - start);
    }
    start = end + 1;
  }
  return set;
}

word_set *word_set_of_language(const char *language) {
  if (!strcmp(language, "en") || !strcmp(language, "english"))
    return word_set_make(english, sizeof(english) - 1);
  if (!strcmp(language, "fr") || !strcmp(language, "french"))
    return word_set_make(french, sizeof(french) - 1);
  return 0;
}

int word_set_has(const word_set *set, const char *word, size_t size) {
  return size > 0 && find(set, word, size)->size != 0;
}

void word_set_free(word_set *set) { sqlite3_free(set); }
