// acl.c: POSIX access control lists, as the file systems of Linux keep and enforce them.
#include "cases.h"

#include <sys/xattr.h>

enum { USER_OBJ = 1, USER = 2, GROUP_OBJ = 4, GROUP = 8, MASK = 16, OTHER = 32 };
enum { NOBODY = 4321, SOMEBODY = 4322 };

// A list as setxattr takes it: version 2, then tag, permissions and number of each entry.
typedef struct {
  uint16_t tag, permissions;
  uint32_t id;
} entry;
typedef struct {
  uint32_t version;
  entry entries[8];
} list;

static const char access_name[] = "system.posix_acl_access";
static const char default_name[] = "system.posix_acl_default";

static size_t bytes(int count) { return sizeof(uint32_t) + count * sizeof(entry); }

// u::owner, u:NOBODY:user, g::group, m::mask, o::other.
static list five(int owner, int user, int group, int mask, int other) {
  return (list){2, {{USER_OBJ, owner, -1}, {USER, user, NOBODY}, {GROUP_OBJ, group, -1},
                    {MASK, mask, -1}, {OTHER, other, -1}}};
}

static int is(const char *path, const char *name, list expected, int count) {
  list got = {0};
  return getxattr(path, name, &got, sizeof got) == (ssize_t)bytes(count) &&
         memcmp(&got, &expected, bytes(count)) == 0;
}

static int mode_of(const char *path) { return look(path).st_mode & 07777; }

static int wanted, asked_user;
static void look_as_user(void) {
  OK(setgid(asked_user));
  OK(setuid(asked_user));
  exit(access("f", wanted) == 0 ? 0 : errno == EACCES ? 1 : 2);
}
static int may(int user, int what) {
  asked_user = user;
  wanted = what;
  return in_child(look_as_user) == 0;
}

CASE("an access list is kept, and decides who may do what") {
  OK(chmod(".", 0755));
  put("f", "x");
  OK(chmod("f", 0640));
  CHECK(!may(NOBODY, R_OK));
  list l = five(6, 6, 4, 6, 0);
  OK(setxattr("f", access_name, &l, bytes(5), 0));
  CHECK(is("f", access_name, l, 5) && mode_of("f") == 0660);
  CHECK(may(NOBODY, R_OK | W_OK) && !may(NOBODY, X_OK) && !may(SOMEBODY, R_OK));
  // The mask bounds what the entries give.
  l = five(6, 6, 4, 4, 0);
  OK(setxattr("f", access_name, &l, bytes(5), 0));
  CHECK(may(NOBODY, R_OK) && !may(NOBODY, W_OK) && mode_of("f") == 0640);
  OK(removexattr("f", access_name));
  FAILS(ENODATA, getxattr("f", access_name, &l, sizeof l));
  CHECK(!may(NOBODY, R_OK) && mode_of("f") == 0640);
}

CASE("chmod of a file with an access list changes the mask") {
  put("f", "x");
  list l = five(6, 7, 5, 7, 4);
  OK(setxattr("f", access_name, &l, bytes(5), 0));
  CHECK(mode_of("f") == 0674);
  OK(chmod("f", 0700));
  CHECK(is("f", access_name, five(7, 7, 5, 0, 0), 5) && mode_of("f") == 0700);
  OK(chmod("f", 04755));
  CHECK(is("f", access_name, five(7, 7, 5, 5, 5), 5) && mode_of("f") == 04755);
}

CASE("an access list that says no more than the mode is the mode") {
  put("f", "x");
  list l = {2, {{USER_OBJ, 7, -1}, {GROUP_OBJ, 5, -1}, {OTHER, 1, -1}}};
  OK(setxattr("f", access_name, &l, bytes(3), 0));
  CHECK(mode_of("f") == 0751);
  FAILS(ENODATA, getxattr("f", access_name, &l, sizeof l));
}

CASE("a default list becomes the access list of what is made in the folder, cut by its mode") {
  OK(mkdir("d", 0755));
  list l = five(7, 7, 5, 7, 5);
  OK(setxattr("d", default_name, &l, bytes(5), 0));
  CHECK(mode_of("d") == 0755 && is("d", default_name, l, 5));
  FAILS(ENODATA, getxattr("d", access_name, &l, sizeof l));
  // The umask has no say where a default list has.
  umask(077);
  put("d/f", "x");
  CHECK(is("d/f", access_name, five(6, 7, 5, 4, 4), 5) && mode_of("d/f") == 0644);
  FAILS(ENODATA, getxattr("d/f", default_name, &l, sizeof l));
  OK(mkdir("d/e", 0770));
  CHECK(is("d/e", access_name, five(7, 7, 5, 7, 0), 5) && mode_of("d/e") == 0770);
  CHECK(is("d/e", default_name, five(7, 7, 5, 7, 5), 5));
  OK(mkfifo("d/p", 0600));
  CHECK(is("d/p", access_name, five(6, 7, 5, 0, 0), 5) && mode_of("d/p") == 0600);
  OK(symlink("f", "d/l"));
  CHECK(look("d/l").st_mode == (S_IFLNK | 0777));
  // A list that says no more than a mode leaves no list to what is made.
  list plain = {2, {{USER_OBJ, 7, -1}, {GROUP_OBJ, 0, -1}, {OTHER, 5, -1}}};
  OK(setxattr("d/e", default_name, &plain, bytes(3), 0));
  put("d/e/g", "x");
  CHECK(mode_of("d/e/g") == 0604);
  FAILS(ENODATA, getxattr("d/e/g", access_name, &l, sizeof l));
  // Without one the umask has.
  OK(removexattr("d/e", default_name));
  put("d/e/h", "x");
  CHECK(mode_of("d/e/h") == 0600);
}

CASE("lists that are none, or not for this kind of file, are refused") {
  put("f", "x");
  OK(mkdir("d", 0755));
  list l = five(6, 6, 4, 6, 0);
  FAILS(EACCES, setxattr("f", default_name, &l, bytes(5), 0));
  list broken[] = {l, l, l, l, l};
  broken[0].version = 1;
  broken[1].entries[0].tag = 3;
  broken[2].entries[1].permissions = 8;
  broken[3].entries[3] = l.entries[4];  // no mask, two for others
  broken[4].entries[1] = l.entries[2];  // two for the group
  for (int i = 0; i < 5; i++) {
    errno = 0;
    CHECK(setxattr("f", access_name, &broken[i], bytes(5), 0) == -1);
    CHECK(errno == EINVAL || errno == EOPNOTSUPP);
  }
  FAILS(EINVAL, setxattr("f", access_name, &l, bytes(5) - 1, 0));
  FAILS(EINVAL, setxattr("f", access_name, &l, bytes(4), 0));
  CHECK(mode_of("f") == 0644);
}

static void give_list_as_user(void) {
  OK(setgid(NOBODY));
  OK(setuid(NOBODY));
  list l = five(7, 7, 7, 7, 5);
  OK(setxattr("f", access_name, &l, bytes(5), 0));
}
CASE("a list by an owner who is not in the file's group clears set-gid") {
  put("f", "x");
  OK(chown("f", NOBODY, SOMEBODY));
  OK(chmod("f", 02775));
  OK(chmod(".", 0755));
  CHECK(in_child(give_list_as_user) == 0);
  CHECK(mode_of("f") == 0775);
}
