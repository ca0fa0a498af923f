// linux.c: what the file systems of Linux do beyond POSIX, and programs count on.
#include "cases.h"

#include <dirent.h>
#include <linux/fs.h>
#include <linux/stat.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/xattr.h>

CASE("SEEK_DATA and the block count see what a live mapping stored, names or not") {
  for (int nameless = 0; nameless < 2; nameless++) {
    int fd = OK(open("h", O_CREAT | O_TRUNC | O_RDWR, 0644)), reader = OK(open("h", O_RDONLY));
    OK(ftruncate(fd, 1 << 20));
    char *map = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(map != MAP_FAILED);
    OK(close(fd));
    if (nameless) OK(unlink("h"));
    FAILS(ENXIO, lseek(reader, 0, SEEK_DATA));
    strcpy(map + 65536, "stored");
    CHECK(lseek(reader, 0, SEEK_DATA) == 65536);
    CHECK(lseek(reader, 65536, SEEK_HOLE) == 65536 + 4096);
    struct stat s;
    OK(fstat(reader, &s));
    CHECK(s.st_blocks > 0);
    OK(close(reader));
    OK(munmap(map, 1 << 20));
  }
}

// The data of a file as SEEK_DATA and SEEK_HOLE say, in pages: a letter for each.
static const char *data_map(int fd) {
  static char map[65];
  off_t end = lseek(fd, 0, SEEK_END), at = 0;
  memset(map, '.', sizeof map);
  map[(end + 4095) / 4096] = 0;
  while (at < end) {
    off_t data = lseek(fd, at, SEEK_DATA);
    if (data < 0) break;
    off_t hole = OK(lseek(fd, data, SEEK_HOLE));
    for (off_t page = data / 4096; page < (hole + 4095) / 4096; page++) map[page] = 'x';
    at = hole;
  }
  return map;
}
CASE("what is allocated and was never written is a hole, and takes space") {
  int fd = OK(open("f", O_CREAT | O_RDWR, 0644));
  OK(fallocate(fd, 0, 0, 8 * 4096));
  // Some file systems count blocks of their own, too.
  CHECK(!strcmp(data_map(fd), "........") && look("f").st_blocks / 8 >= 8);
  CHECK(pwrite(fd, "x", 1, 2 * 4096 + 5) == 1 && pwrite(fd, "xx", 2, 6 * 4096 - 1) == 2);
  CHECK(!strcmp(data_map(fd), "..x..xx."));
  OK(fsync(fd));
  CHECK(!strcmp(data_map(fd), "..x..xx.") && look("f").st_blocks / 8 >= 8);
  OK(fallocate(fd, 0, 5 * 4096, 4096));
  CHECK(!strcmp(data_map(fd), "..x..xx."));
  long before = look("f").st_blocks;
  OK(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 2 * 4096 + 1, 3 * 4096 + 9));
  CHECK(!strcmp(data_map(fd), "..x..xx.") && look("f").st_blocks == before - 16);
  OK(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 5 * 4096, 4096));
  CHECK(!strcmp(data_map(fd), "..x...x.") && look("f").st_blocks == before - 24);
  OK(fallocate(fd, FALLOC_FL_KEEP_SIZE, 8 * 4096, 4 * 4096));
  OK(ftruncate(fd, 10 * 4096));
  CHECK(!strcmp(data_map(fd), "..x...x..."));
  // A mapping that stores makes data, too.
  char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 9 * 4096);
  CHECK(map != MAP_FAILED);
  *map = 'y';
  // Pages that it read on the way may count, where the page cache knows no better.
  CHECK(data_map(fd)[2] == 'x' && data_map(fd)[6] == 'x' && data_map(fd)[9] == 'x');
  OK(munmap(map, 4096));
}

CASE("a range of zeros is a hole that takes space, but for pages that it covers in part") {
  int fd = OK(open("f", O_CREAT | O_RDWR, 0644));
  static char text[8 * 4096];
  memset(text, 'x', sizeof text);
  CHECK(pwrite(fd, text, sizeof text, 0) == sizeof text);
  OK(fsync(fd));
  CHECK(!strcmp(data_map(fd), "xxxxxxxx"));
  // tmpfs has no FALLOC_FL_ZERO_RANGE.
  if (fallocate(fd, FALLOC_FL_ZERO_RANGE, 2 * 4096 - 7, 3 * 4096) == -1 && errno == EOPNOTSUPP)
    return;
  CHECK(!strcmp(data_map(fd), "xx..xxxx") && look("f").st_blocks / 8 >= 8);
  OK(fallocate(fd, FALLOC_FL_ZERO_RANGE, 8 * 4096, 2 * 4096));
  CHECK(!strcmp(data_map(fd), "xx..xxxx..") && look("f").st_blocks / 8 >= 10);
}

CASE("O_TMPFILE makes a file without a name, which linkat gives it") {
  int fd = open(".", O_TMPFILE | O_RDWR, 0640), folder = OK(open(".", O_RDONLY | O_DIRECTORY));
  OK(fd);
  struct stat s;
  OK(fstat(fd, &s));
  CHECK(S_ISREG(s.st_mode) && (s.st_mode & 07777) == 0640 && s.st_nlink == 0 && s.st_size == 0);
  CHECK(write(fd, "text", 4) == 4);
  OK(fsync(fd));
  DIR *names = fdopendir(folder);
  int count = 0;
  while (readdir(names)) count++;
  CHECK(count == 2);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  OK(linkat(AT_FDCWD, path, AT_FDCWD, "f", AT_SYMLINK_FOLLOW));
  CHECK(holds("f", "text") && look("f").st_nlink == 1 && look("f").st_ino == s.st_ino);
  FAILS(EEXIST, linkat(AT_FDCWD, path, AT_FDCWD, "f", AT_SYMLINK_FOLLOW));
  OK(linkat(AT_FDCWD, path, AT_FDCWD, "g", AT_SYMLINK_FOLLOW));
  CHECK(write(fd, "more", 4) == 4);
  CHECK(holds("g", "textmore") && look("g").st_nlink == 2);
  OK(close(fd));
  // Once it has lost its names again, no more.
  fd = OK(open("f", O_RDONLY));
  OK(unlink("f"));
  OK(unlink("g"));
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  FAILS(ENOENT, linkat(AT_FDCWD, path, AT_FDCWD, "f", AT_SYMLINK_FOLLOW));
  closedir(names);
}
CASE("linkat with AT_EMPTY_PATH names what O_TMPFILE made, by the descriptor alone") {
  int fd = OK(open(".", O_TMPFILE | O_WRONLY, 0600));
  CHECK(write(fd, "text", 4) == 4);
  OK(linkat(fd, "", AT_FDCWD, "f", AT_EMPTY_PATH));
  CHECK(holds("f", "text") && look("f").st_nlink == 1);
  FAILS(EEXIST, linkat(fd, "", AT_FDCWD, "f", AT_EMPTY_PATH));
}
CASE("O_TMPFILE with O_EXCL forbids the name, and a folder that is gone has none") {
  int fd = OK(open(".", O_TMPFILE | O_EXCL | O_RDWR, 0600));
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  FAILS(ENOENT, linkat(AT_FDCWD, path, AT_FDCWD, "f", AT_SYMLINK_FOLLOW));
  CHECK(pwrite(fd, "x", 1, 1 << 20) == 1);
  OK(close(fd));
  OK(mkdir("d", 0755));
  umask(027);
  OK(chmod(".", 02755));
  OK(chown(".", -1, 4321));
  fd = OK(open(".", O_TMPFILE | O_WRONLY, 0666));
  struct stat s;
  OK(fstat(fd, &s));
  CHECK((s.st_mode & 07777) == 0640 && s.st_gid == 4321);
  OK(close(fd));
  FAILS(ENOTDIR, open("/proc/self/exe", O_TMPFILE | O_RDWR, 0600));
}

CASE("copy_file_range copies bytes, holes and what a mapping stored, and moves both offsets") {
  int from = OK(open("f", O_CREAT | O_RDWR, 0644)), to = OK(open("g", O_CREAT | O_RDWR, 0644));
  CHECK(pwrite(from, "begin", 5, 0) == 5);
  OK(ftruncate(from, 64 * 4096));
  char *map = mmap(NULL, 64 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, from, 0);
  CHECK(map != MAP_FAILED);
  map[40 * 4096] = 'm';
  CHECK(pwrite(to, "xxxxxxxxxx", 10, 0) == 10);
  off_t in = 0, out = 7;
  while (in < 64 * 4096) CHECK(OK(copy_file_range(from, &in, to, &out, 64 * 4096, 0)) > 0);
  CHECK(in == 64 * 4096 && out == 7 + 64 * 4096 && look("g").st_size == out);
  static char bytes[7 + 64 * 4096];
  CHECK(pread(to, bytes, sizeof bytes, 0) == sizeof bytes);
  CHECK(!memcmp(bytes, "xxxxxxxbegin\0", 13) && bytes[7 + 40 * 4096] == 'm');
  map[40 * 4096] = 0;
  CHECK(!memcmp(bytes + 12, map + 5, 40 * 4096 - 5));
  CHECK(copy_file_range(from, &in, to, &out, 1, 0) == 0);
  FAILS(EINVAL, copy_file_range(from, &(off_t){0}, from, &(off_t){1}, 2, 0));
  FAILS(EBADF, copy_file_range(OK(open("f", O_WRONLY)), NULL, to, NULL, 1, 0));
  // Within one file, and what is behind stays.
  CHECK(copy_file_range(from, &(off_t){0}, from, &(off_t){100}, 5, 0) == 5);
  CHECK(!memcmp(map + 100, "begin", 5) && map[105] == 0);
  OK(munmap(map, 64 * 4096));
}

CASE("holes are found right behind a truncate, a punch, an allocation and a copy") {
  int fd = OK(open("f", O_CREAT | O_RDWR, 0644)), copy = OK(open("g", O_CREAT | O_RDWR, 0644));
  CHECK(pwrite(fd, "x", 1, 0) == 1);
  OK(ftruncate(fd, 4 * 4096));
  CHECK(!strcmp(data_map(fd), "x..."));
  OK(fallocate(fd, 0, 4096, 4096));
  CHECK(pwrite(fd, "x", 1, 3 * 4096) == 1);
  CHECK(!strcmp(data_map(fd), "x..x"));
  OK(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096));
  CHECK(!strcmp(data_map(fd), "...x"));
  OK(ftruncate(copy, 6 * 4096));
  CHECK(copy_file_range(fd, &(off_t){3 * 4096}, copy, &(off_t){4096}, 4096, 0) == 4096);
  CHECK(!strcmp(data_map(copy), ".x...."));
  FAILS(ENXIO, lseek(copy, 6 * 4096, SEEK_HOLE));
  FAILS(ENXIO, lseek(copy, 2 * 4096, SEEK_DATA));
}

CASE("pwritev2 with RWF_APPEND writes at the end, and the file offset stays") {
  int fd = OK(open("f", O_CREAT | O_RDWR, 0644));
  put("f", "begin");
  struct iovec pieces[2] = {{"-mid", 4}, {"-end", 4}};
  CHECK(pwritev2(fd, pieces, 2, 0, RWF_APPEND) == 8);
  CHECK(pwritev2(fd, pieces, 1, 2, RWF_APPEND | RWF_DSYNC) == 4);
  CHECK(holds("f", "begin-mid-end-mid") && lseek(fd, 0, SEEK_CUR) == 0);
  char bytes[4];
  struct iovec piece = {bytes, 4};
  CHECK(preadv2(fd, &piece, 1, 1, RWF_HIPRI) == 4 && !memcmp(bytes, "egin", 4));
}

CASE("fallocate of what a file system without extents cannot do is EOPNOTSUPP, and does nothing") {
  // ext4 and XFS do it; FUSE and tmpfs do not.
  int modes[] = {FALLOC_FL_COLLAPSE_RANGE, FALLOC_FL_INSERT_RANGE, FALLOC_FL_UNSHARE_RANGE};
  int fd = OK(open("f", O_CREAT | O_RDWR, 0644));
  OK(ftruncate(fd, 3 * 4096));
  for (int i = 0; i < 3; i++) FAILS(EOPNOTSUPP, fallocate(fd, modes[i], 0, 4096));
  CHECK(look("f").st_size == 3 * 4096);
}

static const struct timespec long_ago[2] = {{1, 0}, {2, 0}};

CASE("utimensat sets each time to the nanosecond, leaves one, or takes the clock's") {
  put("f", "x");
  OK(mkdir("d", 0755));
  OK(symlink("f", "l"));
  const char *names[] = {"f", "d", "l"};
  for (int i = 0; i < 3; i++) {
    struct timespec times[2] = {{-5, 250000001}, {7, 999999999}};
    OK(utimensat(AT_FDCWD, names[i], times, AT_SYMLINK_NOFOLLOW));
    struct stat s = look(names[i]);
    CHECK(s.st_atim.tv_sec == -5 && s.st_atim.tv_nsec == 250000001);
    CHECK(s.st_mtim.tv_sec == 7 && s.st_mtim.tv_nsec == 999999999 && s.st_ctim.tv_sec > 7);
    times[0].tv_nsec = UTIME_OMIT;
    times[1].tv_nsec = UTIME_NOW;
    OK(utimensat(AT_FDCWD, names[i], times, AT_SYMLINK_NOFOLLOW));
    s = look(names[i]);
    CHECK(s.st_atim.tv_sec == -5 && s.st_mtim.tv_sec > 7);
  }
  OK(utimensat(AT_FDCWD, "f", long_ago, 0));
  int fd = OK(open("f", O_WRONLY));
  CHECK(look("f").st_mtim.tv_sec == 2);
  CHECK(write(fd, "y", 1) == 1);
  CHECK(look("f").st_mtim.tv_sec > 2);
  OK(utimensat(AT_FDCWD, "d", long_ago, 0));
  put("d/g", "x");
  CHECK(look("d").st_mtim.tv_sec > 2);
}

CASE("a read notes the access time, of files, folders and links, and not with O_NOATIME") {
  put("f", "x");
  OK(mkdir("d", 0755));
  OK(symlink("f", "l"));
  struct {
    const char *name;
    int flags;
  } kinds[] = {{"f", 0}, {"d", O_DIRECTORY}};
  for (int i = 0; i < 2; i++)
    for (int quiet = 0; quiet < 2; quiet++) {
      OK(utimensat(AT_FDCWD, kinds[i].name, long_ago, 0));
      int fd = OK(open(kinds[i].name, O_RDONLY | kinds[i].flags | (quiet ? O_NOATIME : 0)));
      char byte;
      if (kinds[i].flags) {
        DIR *folder = fdopendir(dup(fd));
        CHECK(folder && readdir(folder));
        closedir(folder);
      } else {
        OK(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
        CHECK(pread(fd, &byte, 1, 0) == 1);
      }
      struct stat s;
      OK(fstat(fd, &s));
      CHECK((s.st_atim.tv_sec == 1) == quiet && s.st_mtim.tv_sec == 2);
      OK(close(fd));
    }
  OK(utimensat(AT_FDCWD, "l", long_ago, AT_SYMLINK_NOFOLLOW));
  char target[8];
  CHECK(readlink("l", target, sizeof target) == 1);
  CHECK(look("l").st_atim.tv_sec > 2);
}

static int held;
static int allocation;
static void allocate_as_user(void) {
  OK(setgid(4321));
  OK(setuid(4321));
  OK(fallocate(held, allocation, 0, 4096));
}
CASE("fallocate, a punched hole and zeros by an ordinary user clear set-uid and set-gid") {
  int modes[] = {0, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, FALLOC_FL_ZERO_RANGE};
  for (int i = 0; i < 3; i++) {
    held = OK(open("f", O_CREAT | O_RDWR, 0666));
    OK(ftruncate(held, 65536));
    allocation = modes[i];
    // tmpfs has no FALLOC_FL_ZERO_RANGE.
    if (fallocate(held, allocation, 0, 4096) != 0 && errno == EOPNOTSUPP) continue;
    OK(fchmod(held, 06777));
    OK(fallocate(held, allocation, 0, 4096));
    CHECK((look("f").st_mode & 07777) == 06777);
    CHECK(in_child(allocate_as_user) == 0);
    CHECK((look("f").st_mode & 07777) == 0777);
    OK(close(held));
  }
}
CASE("chown clears set-uid and set-gid of any kind of file but a folder") {
  OK(mkfifo("fifo", 0600));
  OK(chmod("fifo", 06555));
  OK(chown("fifo", 7, 7));
  CHECK((look("fifo").st_mode & 07777) == 0555);
  OK(mkdir("d", 0755));
  OK(chmod("d", 06755));
  OK(chown("d", 7, 7));
  CHECK((look("d").st_mode & 07777) == 06755);
}

CASE("RENAME_WHITEOUT leaves a device 0:0 in the place of the old name") {
  put("a", "x");
  OK(renameat2(AT_FDCWD, "a", AT_FDCWD, "b", RENAME_WHITEOUT));
  struct stat s = look("a");
  CHECK(holds("b", "x") && S_ISCHR(s.st_mode) && s.st_rdev == makedev(0, 0));
  FAILS(EINVAL, renameat2(AT_FDCWD, "a", AT_FDCWD, "b", RENAME_WHITEOUT | RENAME_EXCHANGE));
}

CASE("a file has a time of birth, which stays") {
  put("f", "x");
  struct statx before, after;
  OK(statx(AT_FDCWD, "f", 0, STATX_BTIME | STATX_MTIME, &before));
  CHECK(before.stx_mask & STATX_BTIME && before.stx_btime.tv_sec > 1000000000);
  usleep(20000);
  put("f", "y");
  OK(utimensat(AT_FDCWD, "f", long_ago, 0));
  OK(statx(AT_FDCWD, "f", 0, STATX_BTIME | STATX_BASIC_STATS, &after));
  CHECK(after.stx_btime.tv_sec == before.stx_btime.tv_sec &&
        after.stx_btime.tv_nsec == before.stx_btime.tv_nsec);
  CHECK(after.stx_mtime.tv_sec == 2 && after.stx_size == 1 && S_ISREG(after.stx_mode));
}

static void drop_caches(void) {
  int fd = open("/proc/sys/vm/drop_caches", O_WRONLY);
  if (fd >= 0 && write(fd, "2", 1) == 1) close(fd);
}
CASE("a handle of a file finds it later, and ESTALE when it is gone") {
  OK(mkdir("d", 0755));
  put("d/f", "x");
  char space[sizeof(struct file_handle) + MAX_HANDLE_SZ];
  struct file_handle *handle = (struct file_handle *)space;
  handle->handle_bytes = MAX_HANDLE_SZ;
  int mount, folder = OK(open(".", O_RDONLY | O_DIRECTORY));
  OK(name_to_handle_at(AT_FDCWD, "d/f", handle, &mount, 0));
  drop_caches();
  int fd = OK(open_by_handle_at(folder, handle, O_RDONLY));
  char byte;
  CHECK(read(fd, &byte, 1) == 1 && byte == 'x');
  OK(close(fd));
  OK(unlink("d/f"));
  // The kernel ends its use of a closed file in the background.
  for (int i = 0; i < 100 && (fd = open_by_handle_at(folder, handle, O_RDONLY)) >= 0; i++) {
    close(fd);
    usleep(20000);
  }
  FAILS(ESTALE, open_by_handle_at(folder, handle, O_RDONLY));
}

static void list_as_user(void) {
  OK(setgid(4321));
  OK(setuid(4321));
  char names[256];
  long count = OK(flistxattr(held, names, sizeof names));
  for (long i = 0; i < count; i += (long)strlen(names + i) + 1)
    CHECK(strncmp(names + i, "trusted.", 8) != 0);
}
CASE("trusted attributes are listed for root only") {
  held = OK(open("f", O_CREAT | O_RDWR, 0666));
  OK(fsetxattr(held, "trusted.secret", "x", 1, 0));
  char names[256];
  CHECK(flistxattr(held, names, sizeof names) >= 15);
  CHECK(in_child(list_as_user) == 0);
}
