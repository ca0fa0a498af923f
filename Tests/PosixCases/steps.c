// steps.c: `posix-cases --steps DIR STEP…`: system calls one by one, for tests that inject faults.
// A step is a call with its arguments in one text; each prints a line: its name, then `ok` and what
// the call gave, or the name of the error. Calls on descriptors use the last one that `open` made,
// or the one that `use` chose. Content is printed as runs: `a*4096 b*12`.
#include "steps.h"
#include "cases.h"

#include <dirent.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/xattr.h>

static int files[16];
static int file_count, file = -1;
static char *page_buffer;

static int open_flags(const char *letters) {
  int flags = strchr(letters, 'w') ? O_RDWR : O_RDONLY;
  if (strchr(letters, 'c')) flags |= O_CREAT;
  if (strchr(letters, 't')) flags |= O_TRUNC;
  if (strchr(letters, 'd')) flags |= O_DIRECT;
  if (strchr(letters, 's')) flags |= O_DSYNC;
  if (strchr(letters, 'f')) flags |= O_DIRECTORY;
  return flags;
}

static void print_runs(const char *bytes, long count) {
  for (long i = 0; i < count;) {
    long end = i;
    while (end < count && bytes[end] == bytes[i]) end++;
    unsigned char byte = (unsigned char)bytes[i];
    if (byte >= 'a' && byte <= 'z') printf(" %c*%ld", byte, end - i);
    else printf(" %02x*%ld", byte, end - i);
    i = end;
  }
}

// What a mapping shows, into the buffer.
static long read_mapped(long offset, long count) {
  char *map = mmap(NULL, (size_t)(offset + count), PROT_READ, MAP_SHARED, file, 0);
  if (map == MAP_FAILED) return -1;
  memcpy(page_buffer, map + offset, (size_t)count);
  munmap(map, (size_t)(offset + count));
  return count;
}

static long call(const char *name, char a[4][256]) {
  long x = atol(a[0]), y = atol(a[1]);
  if (!strcmp(name, "open")) {
    int made = open(a[0], open_flags(a[1]), 0644);
    if (made >= 0) files[file_count++] = file = made;
    return made < 0 ? -1 : file_count - 1;
  }
  if (!strcmp(name, "nameless")) {
    int made = open(".", O_TMPFILE | O_RDWR, 0644);
    if (made >= 0) files[file_count++] = file = made;
    return made < 0 ? -1 : file_count - 1;
  }
  if (!strcmp(name, "name")) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return linkat(AT_FDCWD, path, AT_FDCWD, a[0], AT_SYMLINK_FOLLOW);
  }
  if (!strcmp(name, "use")) return file = files[x % 16], 0;
  if (!strcmp(name, "close")) return close(file);
  if (!strcmp(name, "write")) {
    memset(page_buffer, a[2][0], (size_t)y);
    return pwrite(file, page_buffer, (size_t)y, x);
  }
  // A read or write through O_DIRECT, whose buffer is aligned in any case.
  if (!strcmp(name, "direct")) {
    memset(page_buffer, a[2][0], (size_t)y);
    return a[2][0] == '-' ? pread(file, page_buffer, (size_t)y, x)
                          : pwrite(file, page_buffer, (size_t)y, x);
  }
  if (!strcmp(name, "fsync")) return fsync(file);
  if (!strcmp(name, "fdatasync")) return fdatasync(file);
  if (!strcmp(name, "sendfile")) {
    int copy = open(a[0], O_RDWR | O_CREAT | O_TRUNC, 0644);
    long sent = copy < 0 ? -1 : sendfile(copy, file, &(off_t){0}, (size_t)y);
    close(copy);
    return sent;
  }
  if (!strcmp(name, "forget")) return posix_fadvise(file, x, y, POSIX_FADV_DONTNEED);
  if (!strcmp(name, "ftruncate")) return ftruncate(file, x);
  if (!strcmp(name, "truncate")) return truncate(a[0], y);
  if (!strcmp(name, "fallocate")) return fallocate(file, 0, x, y);
  if (!strcmp(name, "rename")) return rename(a[0], a[1]);
  if (!strcmp(name, "whiteout"))
    return renameat2(AT_FDCWD, a[0], AT_FDCWD, a[1], RENAME_WHITEOUT);
  if (!strcmp(name, "link")) return link(a[0], a[1]);
  if (!strcmp(name, "symlink")) return symlink(a[0], a[1]);
  if (!strcmp(name, "unlink")) return unlink(a[0]);
  if (!strcmp(name, "mkdir")) return mkdir(a[0], 0755);
  if (!strcmp(name, "rmdir")) return rmdir(a[0]);
  if (!strcmp(name, "chmod")) return chmod(a[0], (mode_t)strtol(a[1], NULL, 8));
  if (!strcmp(name, "utimes")) return utimensat(AT_FDCWD, a[0], NULL, 0);
  if (!strcmp(name, "setxattr")) return setxattr(a[0], "user.a", a[1], strlen(a[1]), 0);
  if (!strcmp(name, "getxattr")) return getxattr(a[0], "user.a", page_buffer, 256);
  if (!strcmp(name, "seek")) return lseek(file, x, SEEK_DATA);
  if (!strcmp(name, "sleep")) return usleep((useconds_t)x * 1000);
  if (!strcmp(name, "mark")) return write(3, a[0], strlen(a[0]));
  if (!strcmp(name, "alarm")) return alarm((unsigned)x), 0;
  if (!strcmp(name, "readlink")) return readlink(a[0], page_buffer, 256);
  if (!strcmp(name, "statfs")) {
    struct statvfs about;
    return statvfs(".", &about);
  }
  if (!strcmp(name, "stat")) {
    struct stat about;
    return stat(a[0], &about) == 0 ? about.st_size : -1;
  }
  if (!strcmp(name, "readdir")) {
    DIR *folder = opendir(a[0]);
    if (!folder) return -1;
    long count = 0;
    errno = 0;
    while (readdir(folder)) count++;
    int error = errno;
    closedir(folder);
    errno = error;
    return error ? -1 : count;
  }
  if (!strcmp(name, "syncdir")) {
    int folder = open(a[0], O_RDONLY | O_DIRECTORY);
    if (folder < 0) return -1;
    int result = fsync(folder), error = errno;
    close(folder);
    errno = error;
    return result;
  }
  if (!strcmp(name, "mapwrite") || !strcmp(name, "mapstore")) {
    char *map = mmap(NULL, (size_t)(x + y), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (map == MAP_FAILED) return -1;
    memset(map + x, a[2][0], (size_t)y);
    if (!strcmp(name, "mapstore")) return munmap(map, (size_t)(x + y));
    int result = msync(map, (size_t)(x + y), MS_SYNC), error = errno;
    munmap(map, (size_t)(x + y));
    errno = error;
    return result;
  }
  printf("unknown step %s\n", name);
  exit(2);
}

static void on_alarm(int signal) { (void)signal; }

int run_steps(int count, char **steps) {
  // Without SA_RESTART: an interrupted call says so.
  struct sigaction action = {.sa_handler = on_alarm};
  OK(sigaction(SIGALRM, &action, NULL));
  CHECK(posix_memalign((void **)&page_buffer, 4096, 1 << 20) == 0);
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (int i = 0; i < count; i++) {
    char name[64] = "", a[4][256] = {"", "", "", ""};
    sscanf(steps[i], "%63s %255s %255s %255s %255s", name, a[0], a[1], a[2], a[3]);
    errno = 0;
    if (!strcmp(name, "read") || !strcmp(name, "mapread")) {
      long x = atol(a[0]), y = atol(a[1]);
      long got = *name == 'm' ? read_mapped(x, y) : pread(file, page_buffer, (size_t)y, x);
      printf("%s %s", name, got < 0 ? strerrorname_np(errno) : "ok");
      if (got >= 0) print_runs(page_buffer, got);
      printf("\n");
      continue;
    }
    long result = call(name, a);
    if (result < 0) printf("%s %s\n", name, strerrorname_np(errno));
    else printf("%s ok %ld\n", name, result);
  }
  return 0;
}

// `posix-cases --socket PATH`: sends its standard input to a socket and prints what comes back, for
// tests that send what no client of ours would; status 1 when the peer ends the connection.
int run_socket(const char *path) {
  static char bytes[1 << 21];
  size_t count = fread(bytes, 1, sizeof bytes, stdin);
  int peer = OK(socket(AF_UNIX, SOCK_STREAM, 0));
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  OK(connect(peer, (struct sockaddr *)&address, sizeof address));
  struct timeval patience = {.tv_usec = 300000};
  OK(setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience));
  for (size_t sent = 0; sent < count;) {
    ssize_t done = send(peer, bytes + sent, count - sent, MSG_NOSIGNAL);
    if (done < 0) break;
    sent += (size_t)done;
  }
  for (;;) {
    ssize_t got = read(peer, bytes, sizeof bytes);
    if (got <= 0) return got == 0 || errno != EAGAIN ? 1 : 0;
    fwrite(bytes, 1, (size_t)got, stdout);
  }
}
