// attributes.c: owners, modes, times, extended attributes.
#include "cases.h"

#include <sys/xattr.h>

static int later(struct timespec a, struct timespec b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}
static void pause_clock(void) { usleep(20000); }

CASE("chmod: the twelve bits, and ctime") {
  put("f", "x");
  struct stat before = look("f");
  pause_clock();
  for (int mode = 0; mode <= 07777; mode += 0111) {
    OK(chmod("f", mode));
    CHECK((int)(look("f").st_mode & 07777) == mode);
  }
  CHECK(later(look("f").st_ctim, before.st_ctim) && !later(look("f").st_mtim, before.st_mtim));
}
CASE("chown: owner and group, one alone, and set-uid is cleared") {
  put("f", "x");
  OK(chmod("f", 06755));
  OK(chown("f", 1234, 5678));
  struct stat s = look("f");
  CHECK(s.st_uid == 1234 && s.st_gid == 5678 && (s.st_mode & 07777) == 0755);
  OK(chown("f", -1, 99));
  CHECK(look("f").st_uid == 1234 && look("f").st_gid == 99);
  OK(symlink("f", "l"));
  OK(lchown("l", 7, 8));
  CHECK(look("l").st_uid == 7 && look("f").st_uid == 1234);
}
static void write_as_user(void) {
  OK(setgid(4321));
  OK(setuid(4321));
  int fd = OK(open("f", O_WRONLY));
  CHECK(write(fd, "new", 3) == 3);
}
CASE("write by an ordinary user clears set-uid and set-gid") {
  put("f", "x");
  OK(chmod("f", 06777));
  OK(chmod(".", 0777));
  CHECK(in_child(write_as_user) == 0);
  CHECK((look("f").st_mode & 07777) == 0777);
}
static void truncate_as_user(void) {
  OK(setgid(4321));
  OK(setuid(4321));
  OK(truncate("f", 0));
}
static void open_truncating_as_user(void) {
  OK(setgid(4321));
  OK(setuid(4321));
  OK(open("f", O_WRONLY | O_TRUNC));
}
CASE("truncate by an ordinary user clears set-uid, O_TRUNC too") {
  OK(chmod(".", 0777));
  put("f", "x");
  OK(chmod("f", 06777));
  CHECK(in_child(truncate_as_user) == 0);
  CHECK((look("f").st_mode & 07777) == 0777);
  put("f", "x");
  OK(chmod("f", 06777));
  CHECK(in_child(open_truncating_as_user) == 0);
  CHECK((look("f").st_mode & 07777) == 0777);
}
static void forbidden(void) {
  OK(setgid(4321));
  OK(setuid(4321));
  FAILS(EACCES, open("secret", O_RDONLY));
  FAILS(EACCES, open("new", O_CREAT | O_WRONLY, 0644));
  FAILS(EPERM, chmod("secret", 0777));
  FAILS(EACCES, unlink("secret"));
}
CASE("permissions are enforced against an ordinary user") {
  put("secret", "x");
  OK(chmod("secret", 0600));
  OK(chmod(".", 0755));
  CHECK(in_child(forbidden) == 0);
}
CASE("set-gid directories hand their group and bit down") {
  OK(mkdir("d", 0755));
  OK(chown("d", 0, 777));
  OK(chmod("d", 02755));
  put("d/f", "x");
  OK(mkdir("d/sub", 0755));
  CHECK(look("d/f").st_gid == 777 && (look("d/f").st_mode & 02000) == 0);
  CHECK(look("d/sub").st_gid == 777 && (look("d/sub").st_mode & 02000));
}
CASE("utimensat: exact times, OMIT, NOW") {
  put("f", "x");
  struct timespec times[2] = {{100, 123456789}, {200, 987654321}};
  OK(utimensat(AT_FDCWD, "f", times, 0));
  struct stat s = look("f");
  CHECK(s.st_atim.tv_sec == 100 && s.st_atim.tv_nsec == 123456789);
  CHECK(s.st_mtim.tv_sec == 200 && s.st_mtim.tv_nsec == 987654321);
  times[0].tv_nsec = UTIME_OMIT;
  times[1].tv_nsec = UTIME_NOW;
  OK(utimensat(AT_FDCWD, "f", times, 0));
  s = look("f");
  CHECK(s.st_atim.tv_sec == 100 && s.st_mtim.tv_sec > 1000000);
}
CASE("times: a write moves mtime and ctime, a rename ctime, a name the directory's") {
  OK(mkdir("d", 0755));
  put("d/f", "x");
  struct stat before = look("d/f"), folder = look("d");
  pause_clock();
  put("d/f", "y");
  CHECK(later(look("d/f").st_mtim, before.st_mtim) && later(look("d/f").st_ctim, before.st_ctim));
  before = look("d/f");
  pause_clock();
  OK(rename("d/f", "d/g"));
  CHECK(later(look("d/g").st_ctim, before.st_ctim));
  CHECK(!later(look("d/g").st_mtim, before.st_mtim));
  CHECK(later(look("d").st_mtim, folder.st_mtim));
  folder = look("d");
  pause_clock();
  OK(unlink("d/g"));
  CHECK(later(look("d").st_mtim, folder.st_mtim) && later(look("d").st_ctim, folder.st_ctim));
}
CASE("xattr: set, get, list, remove, size probe, ERANGE, ENODATA") {
  put("f", "x");
  char value[64];
  FAILS(ENODATA, getxattr("f", "user.a", value, sizeof value));
  OK(setxattr("f", "user.a", "one", 3, 0));
  OK(setxattr("f", "user.b", "", 0, 0));
  CHECK(getxattr("f", "user.a", NULL, 0) == 3);
  CHECK(getxattr("f", "user.a", value, 64) == 3 && memcmp(value, "one", 3) == 0);
  CHECK(getxattr("f", "user.b", value, 64) == 0);
  FAILS(ERANGE, getxattr("f", "user.a", value, 2));
  CHECK(listxattr("f", NULL, 0) == 14);
  CHECK(listxattr("f", value, 64) == 14);
  FAILS(ERANGE, listxattr("f", value, 3));
  OK(removexattr("f", "user.a"));
  FAILS(ENODATA, removexattr("f", "user.a"));
  CHECK(listxattr("f", value, 64) == 7);
}
CASE("xattr: CREATE, REPLACE, unknown namespaces, directories") {
  OK(mkdir("d", 0755));
  OK(setxattr("d", "user.a", "1", 1, XATTR_CREATE));
  FAILS(EEXIST, setxattr("d", "user.a", "2", 1, XATTR_CREATE));
  FAILS(ENODATA, setxattr("d", "user.b", "2", 1, XATTR_REPLACE));
  OK(setxattr("d", "user.a", "22", 2, XATTR_REPLACE));
  FAILS(EOPNOTSUPP, setxattr("d", "nonsense.a", "1", 1, 0));
  OK(setxattr("d", "trusted.a", "1", 1, 0));
}
CASE("mknod: fifo, socket and device nodes keep kind and number") {
  OK(mkfifo("p", 0640));
  CHECK(S_ISFIFO(look("p").st_mode) && (look("p").st_mode & 07777) == 0640);
  OK(mknod("s", S_IFSOCK | 0600, 0));
  CHECK(S_ISSOCK(look("s").st_mode));
  OK(mknod("c", S_IFCHR | 0600, (dev_t)0x0103));
  CHECK(S_ISCHR(look("c").st_mode) && look("c").st_rdev == (dev_t)0x0103);
  OK(mknod("f", S_IFREG | 0600, 0));
  CHECK(S_ISREG(look("f").st_mode) && look("f").st_size == 0);
}
