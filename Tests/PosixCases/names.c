// names.c: open, mkdir, link, rename, symlink, readdir: everything about names.
#include "cases.h"

#include <dirent.h>

CASE("open: O_CREAT makes an empty file with the mode less umask") {
  int fd = OK(open("f", O_CREAT | O_RDWR, 0666));
  struct stat s;
  OK(fstat(fd, &s));
  CHECK(S_ISREG(s.st_mode) && (s.st_mode & 07777) == 0644 && s.st_size == 0 && s.st_nlink == 1);
}
CASE("open: O_EXCL on an existing name is EEXIST, a dangling link too") {
  put("f", "x");
  FAILS(EEXIST, open("f", O_CREAT | O_EXCL | O_RDWR, 0644));
  OK(symlink("nowhere", "l"));
  FAILS(EEXIST, open("l", O_CREAT | O_EXCL | O_RDWR, 0644));
}
CASE("open: O_TRUNC empties a file, and others see the size at once") {
  put("f", "0123456789");
  int other = OK(open("f", O_RDONLY));
  char byte;
  CHECK(pread(other, &byte, 1, 5) == 1);
  OK(open("f", O_WRONLY | O_TRUNC));
  struct stat s;
  OK(fstat(other, &s));
  CHECK(s.st_size == 0 && look("f").st_size == 0);
  CHECK(pread(other, &byte, 1, 5) == 0);
}
CASE("open: O_APPEND writes go to the end, wherever that is by then") {
  int a = OK(open("f", O_CREAT | O_WRONLY | O_APPEND, 0644));
  int b = OK(open("f", O_WRONLY | O_APPEND));
  for (int i = 0; i < 3; i++) CHECK(write(i % 2 ? b : a, i % 2 ? "b" : "a", 1) == 1);
  CHECK(holds("f", "aba"));
}
CASE("open: errors ENOENT, ENOTDIR, EISDIR, ELOOP") {
  FAILS(ENOENT, open("none", O_RDONLY));
  put("f", "x");
  FAILS(ENOTDIR, open("f/below", O_RDONLY));
  OK(mkdir("d", 0755));
  FAILS(EISDIR, open("d", O_WRONLY));
  FAILS(ENOTDIR, open("f", O_RDONLY | O_DIRECTORY));
  OK(symlink("b", "a"));
  OK(symlink("a", "b"));
  FAILS(ELOOP, open("a", O_RDONLY));
  FAILS(ELOOP, open("a", O_RDONLY | O_NOFOLLOW));
}
CASE("names: 255 bytes are a name, 256 are ENAMETOOLONG") {
  char name[300];
  memset(name, 'n', sizeof name);
  name[255] = 0;
  put(name, "x");
  CHECK(holds(name, "x"));
  name[255] = 'n';
  name[256] = 0;
  FAILS(ENAMETOOLONG, open(name, O_CREAT | O_WRONLY, 0644));
  FAILS(ENAMETOOLONG, mkdir(name, 0755));
  FAILS(ENAMETOOLONG, symlink("x", name));
  FAILS(ENAMETOOLONG, unlink(name));
  put("short", "x");
  FAILS(ENAMETOOLONG, rename("short", name));
}
CASE("names: any bytes but NUL and slash") {
  char name[255];
  for (int i = 0, b = 1; b < 256; b++)
    if (b != '/') name[i++] = (char)b;
  name[254] = 0;
  put(name, "x");
  CHECK(holds(name, "x"));
  OK(unlink(name));
  CHECK(is_missing(name));
}
CASE("mkdir: link counts of both directories") {
  OK(mkdir("d", 0755));
  CHECK(look("d").st_nlink == 2);
  OK(mkdir("d/a", 0700));
  OK(mkdir("d/b", 0700));
  put("d/f", "x");
  CHECK(look("d").st_nlink == 4);
  OK(rmdir("d/a"));
  CHECK(look("d").st_nlink == 3);
}
CASE("mkdir and rmdir: EEXIST, ENOENT, ENOTDIR, ENOTEMPTY, EINVAL") {
  OK(mkdir("d", 0755));
  FAILS(EEXIST, mkdir("d", 0755));
  FAILS(ENOENT, mkdir("none/d", 0755));
  put("d/f", "x");
  FAILS(ENOTEMPTY, rmdir("d"));
  FAILS(ENOTDIR, rmdir("d/f"));
  FAILS(ENOENT, rmdir("none"));
  FAILS(EINVAL, rmdir("d/."));
  FAILS(EISDIR, unlink("d"));
}
CASE("rmdir: a removed directory takes no new names") {
  OK(mkdir("d", 0755));
  int fd = OK(open("d", O_RDONLY | O_DIRECTORY));
  OK(rmdir("d"));
  FAILS(ENOENT, openat(fd, "f", O_CREAT | O_WRONLY, 0644));
  FAILS(ENOENT, mkdirat(fd, "e", 0755));
  struct stat s;
  OK(fstat(fd, &s));
  CHECK(s.st_nlink == 0);
}
CASE("link: names share one inode, and every name shows the count") {
  put("a", "text");
  struct stat before = look("a");
  OK(link("a", "b"));
  CHECK(look("a").st_nlink == 2 && look("b").st_nlink == 2);
  CHECK(look("a").st_ino == look("b").st_ino);
  put("b", "other");
  CHECK(holds("a", "other"));
  OK(unlink("a"));
  CHECK(look("b").st_nlink == 1);
  CHECK(look("b").st_ctim.tv_sec >= before.st_ctim.tv_sec && holds("b", "other"));
}
CASE("link: EEXIST, ENOENT, EPERM for a directory") {
  put("a", "x");
  put("b", "y");
  FAILS(EEXIST, link("a", "b"));
  FAILS(ENOENT, link("none", "c"));
  OK(mkdir("d", 0755));
  FAILS(EPERM, link("d", "e"));
}
CASE("unlink: an open file lives on without a name") {
  int fd = OK(open("f", O_CREAT | O_RDWR, 0644));
  CHECK(write(fd, "before", 6) == 6);
  OK(unlink("f"));
  CHECK(is_missing("f"));
  CHECK(pwrite(fd, "after!", 6, 6) == 6);
  char buffer[16];
  CHECK(pread(fd, buffer, 16, 0) == 12 && memcmp(buffer, "beforeafter!", 12) == 0);
  struct stat s;
  OK(fstat(fd, &s));
  CHECK(s.st_nlink == 0 && s.st_size == 12);
  put("f", "new");
  CHECK(holds("f", "new"));
  CHECK(look("f").st_ino != s.st_ino);
}
CASE("rename: over a file replaces it at once") {
  put("a", "new");
  put("b", "old");
  int fd = OK(open("b", O_RDONLY));
  ino_t ino = look("a").st_ino;
  OK(rename("a", "b"));
  CHECK(is_missing("a") && holds("b", "new") && look("b").st_ino == ino);
  char text[8];
  CHECK(read(fd, text, 8) == 3 && memcmp(text, "old", 3) == 0);
  struct stat s;
  OK(fstat(fd, &s));
  CHECK(s.st_nlink == 0);
}
CASE("rename: directories: over an empty one, a full one, across kinds") {
  OK(mkdir("a", 0755));
  put("a/f", "x");
  OK(mkdir("b", 0755));
  OK(rename("a", "b"));
  CHECK(holds("b/f", "x") && is_missing("a"));
  OK(mkdir("c", 0755));
  FAILS(ENOTEMPTY, rename("c", "b"));
  put("file", "y");
  FAILS(EISDIR, rename("file", "c"));
  FAILS(ENOTDIR, rename("c", "file"));
  FAILS(ENOENT, rename("none", "x"));
}
CASE("rename: a directory into itself is EINVAL") {
  OK(mkdir("a", 0755));
  OK(mkdir("a/b", 0755));
  FAILS(EINVAL, rename("a", "a/c"));
  FAILS(EINVAL, rename("a", "a/b/c"));
  FAILS(ENOTEMPTY, rename("a/b", "a"));
}
CASE("rename: moving a directory moves a link count and its dot-dot") {
  OK(mkdir("p", 0755));
  OK(mkdir("q", 0755));
  OK(mkdir("p/d", 0755));
  OK(rename("p/d", "q/e"));
  CHECK(look("p").st_nlink == 2 && look("q").st_nlink == 3);
  CHECK(look("q/e/..").st_ino == look("q").st_ino);
}
CASE("rename: two links of one file: nothing happens") {
  put("a", "x");
  OK(link("a", "b"));
  OK(rename("a", "b"));
  CHECK(look("a").st_nlink == 2 && look("b").st_nlink == 2);
}
CASE("renameat2: NOREPLACE is EEXIST on an existing name") {
  put("a", "a");
  put("b", "b");
  FAILS(EEXIST, renameat2(AT_FDCWD, "a", AT_FDCWD, "b", RENAME_NOREPLACE));
  OK(renameat2(AT_FDCWD, "a", AT_FDCWD, "c", RENAME_NOREPLACE));
  CHECK(holds("c", "a") && holds("b", "b"));
}
CASE("renameat2: EXCHANGE swaps a file and a directory, counts included") {
  OK(mkdir("p", 0755));
  OK(mkdir("q", 0755));
  put("p/x", "file");
  OK(mkdir("q/x", 0755));
  OK(renameat2(AT_FDCWD, "p/x", AT_FDCWD, "q/x", RENAME_EXCHANGE));
  CHECK(S_ISDIR(look("p/x").st_mode) && holds("q/x", "file"));
  CHECK(look("p").st_nlink == 3 && look("q").st_nlink == 2);
  FAILS(ENOENT, renameat2(AT_FDCWD, "p/x", AT_FDCWD, "none", RENAME_EXCHANGE));
  FAILS(EINVAL, renameat2(AT_FDCWD, "p", AT_FDCWD, "p/x", RENAME_EXCHANGE));
}
CASE("symlink: text, size, following, EEXIST") {
  OK(symlink("some/where", "l"));
  char text[64];
  CHECK(readlink("l", text, sizeof text) == 10 && memcmp(text, "some/where", 10) == 0);
  CHECK(S_ISLNK(look("l").st_mode) && look("l").st_size == 10);
  CHECK(readlink("l", text, 4) == 4);
  FAILS(EEXIST, symlink("x", "l"));
  FAILS(ENOENT, open("l", O_RDONLY));
  put("f", "x");
  FAILS(EINVAL, readlink("f", text, sizeof text));
  OK(symlink("f", "to-f"));
  CHECK(holds("to-f", "x"));
}
CASE("symlink: a target of 4,095 bytes") {
  char target[4096], back[4096];
  memset(target, 't', sizeof target);
  target[4095] = 0;
  OK(symlink(target, "l"));
  CHECK(readlink("l", back, sizeof back) == 4095 && memcmp(back, target, 4095) == 0);
}

static int count_entries(const char *path) {
  DIR *directory = opendir(path);
  CHECK(directory);
  int count = 0;
  while (readdir(directory)) count++;
  closedir(directory);
  return count;
}
CASE("readdir: dot, dot-dot and every name once, with its inode and kind") {
  OK(mkdir("d", 0755));
  put("d/file", "x");
  OK(mkdir("d/folder", 0755));
  OK(symlink("x", "d/link"));
  DIR *directory = opendir("d");
  int seen = 0;
  for (struct dirent *e; (e = readdir(directory));) {
    seen++;
    char path[300];
    snprintf(path, sizeof path, "d/%s", e->d_name);
    CHECK(look(path).st_ino == e->d_ino);
    CHECK(IFTODT(look(path).st_mode) == e->d_type);
  }
  CHECK(seen == 5);
}
CASE("readdir: 5,000 names while they are being deleted") {
  OK(mkdir("d", 0755));
  char path[64];
  for (int i = 0; i < 5000; i++) {
    snprintf(path, sizeof path, "d/file-number-%d", i);
    OK(close(OK(open(path, O_CREAT | O_WRONLY, 0644))));
  }
  CHECK(count_entries("d") == 5002);
  DIR *directory = opendir("d");
  int seen = 0;
  for (struct dirent *e; (e = readdir(directory));) {
    if (e->d_name[0] == '.') continue;
    seen++;
    OK(unlinkat(dirfd(directory), e->d_name, 0));
  }
  CHECK(seen == 5000);
  rewinddir(directory);
  int left = 0;
  while (readdir(directory)) left++;
  CHECK(left == 2);
  OK(rmdir("d"));
}
CASE("readdir: telldir and seekdir come back to the same name") {
  for (int i = 0; i < 300; i++) {
    char name[32];
    snprintf(name, sizeof name, "n%d", i);
    put(name, "");
  }
  DIR *directory = opendir(".");
  for (int i = 0; i < 100; i++) readdir(directory);
  long place = telldir(directory);
  char name[256];
  strcpy(name, readdir(directory)->d_name);
  for (int i = 0; i < 50; i++) readdir(directory);
  seekdir(directory, place);
  CHECK(strcmp(readdir(directory)->d_name, name) == 0);
}
CASE("fsync: of a file, of a directory, and EBADF") {
  int fd = OK(open("f", O_CREAT | O_WRONLY, 0644));
  OK(fsync(fd));
  OK(fdatasync(fd));
  int directory = OK(open(".", O_RDONLY | O_DIRECTORY));
  OK(fsync(directory));
  FAILS(EBADF, fsync(999));
}
CASE("deep paths: 200 directories below each other") {
  for (int i = 0; i < 200; i++) {
    OK(mkdir("deep", 0755));
    OK(chdir("deep"));
  }
  put("f", "bottom");
  char path[8192];
  CHECK(getcwd(path, sizeof path) && strlen(path) > 1000);
  CHECK(holds("f", "bottom"));
}
