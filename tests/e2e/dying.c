/* Put before libc (LD_PRELOAD): counts what changes regular files and folders, and strikes at one of these changes.
 *
 * `fate` says what happens and when. KILL: the process is killed before the change. HALF: it is killed when a write has
 * been done by half, and anything else wholly. FULL: from there on nothing can be written; the first write comes to
 * half of it, as on a disk that becomes full. NO_ROOM: nothing can be made either, and files end as they are.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { NOTHING, KILL, HALF, FULL, NO_ROOM };
enum outcome { DONE, HALVED, REFUSED };
#define MOST 1000000
#define REAL(name) ({ static __typeof__(&name) real; if (!real) real = dlsym(RTLD_NEXT, #name); real; })

static int fault;
static long when;
static atomic_long made;
static atomic_int full, halved;
static char sorts[MOST + 1];

void fate(int what, long at) { fault = what; when = at; made = full = halved = 0; }
const char *fate_sorts(void) { sorts[made < MOST ? made : MOST] = 0; return sorts; }
void fate_over(void) { fault = NOTHING; full = 0; }

static void die(void) { kill(getpid(), SIGKILL); }

static enum outcome change(char sort, int grows, int makes) {
    long number = atomic_fetch_add(&made, 1);
    if (number < MOST) sorts[number] = sort;
    if (fault == NOTHING || number < when) return DONE;
    if (fault == KILL) die();
    if (fault == HALF) return number == when ? HALVED : DONE;
    full = 1;
    if (grows && fault == FULL && !atomic_exchange(&halved, 1)) return HALVED;
    if (grows || (makes && fault == NO_ROOM)) { errno = ENOSPC; return REFUSED; }
    return DONE;
}

static int regular(int file) {
    struct stat found;
    return fstat(file, &found) == 0 && (S_ISREG(found.st_mode) || S_ISDIR(found.st_mode));
}

static int absent(int folder, const char *path) { return faccessat(folder, path, F_OK, AT_SYMLINK_NOFOLLOW) != 0; }

/* A call that writes `size` bytes of a file. */
#define WRITES(file, call)                                       \
    if (!regular(file)) return call;                             \
    enum outcome outcome = change('w', 1, 0);                    \
    if (outcome == REFUSED) return -1;                           \
    if (outcome == HALVED && size > 1) size /= 2;                \
    ssize_t done = call;                                         \
    if (outcome == HALVED && fault == HALF) die();               \
    return done;

/* Any other call, which is done wholly or not at all. */
#define CHANGES(sort, makes, call)                               \
    enum outcome outcome = change(sort, 0, makes);               \
    if (outcome == REFUSED) return -1;                           \
    int done = call;                                             \
    if (outcome == HALVED) die();                                \
    return done;

ssize_t write(int file, const void *data, size_t size) { WRITES(file, REAL(write)(file, data, size)) }
ssize_t pwrite64(int file, const void *data, size_t size, off64_t at) { WRITES(file, REAL(pwrite64)(file, data, size, at)) }
ssize_t pwrite(int file, const void *data, size_t size, off_t at) { WRITES(file, REAL(pwrite)(file, data, size, at)) }
ssize_t sendfile64(int to, int from, off64_t *at, size_t size) { WRITES(to, REAL(sendfile64)(to, from, at, size)) }
ssize_t copy_file_range(int from, off64_t *a, int to, off64_t *b, size_t size, unsigned flags) {
    WRITES(to, REAL(copy_file_range)(from, a, to, b, size, flags))
}

int ftruncate64(int file, off64_t size) { CHANGES('t', 0, REAL(ftruncate64)(file, size)) }
int ftruncate(int file, off_t size) { CHANGES('t', 0, REAL(ftruncate)(file, size)) }
int truncate64(const char *path, off64_t size) { CHANGES('t', 0, REAL(truncate64)(path, size)) }
int fsync(int file) { CHANGES('s', 0, REAL(fsync)(file)) }
int fdatasync(int file) { CHANGES('s', 0, REAL(fdatasync)(file)) }
int unlink(const char *path) { CHANGES('u', 0, REAL(unlink)(path)) }
int unlinkat(int folder, const char *path, int flags) { CHANGES('u', 0, REAL(unlinkat)(folder, path, flags)) }
int rmdir(const char *path) { CHANGES('u', 0, REAL(rmdir)(path)) }
int rename(const char *from, const char *to) { CHANGES('r', 0, REAL(rename)(from, to)) }
int renameat(int a, const char *from, int b, const char *to) { CHANGES('r', 0, REAL(renameat)(a, from, b, to)) }
int link(const char *from, const char *to) { CHANGES('l', 1, REAL(link)(from, to)) }
int symlink(const char *from, const char *to) { CHANGES('l', 1, REAL(symlink)(from, to)) }
int mkdir(const char *path, mode_t mode) {
    if (!absent(AT_FDCWD, path)) return REAL(mkdir)(path, mode);
    CHANGES('d', 1, REAL(mkdir)(path, mode))
}

#define OPENS(folder, path, flags, call)                                      \
    va_list more;                                                             \
    va_start(more, flags);                                                    \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;   \
    va_end(more);                                                             \
    if (!(flags & O_CREAT) || !absent(folder, path)) {                        \
        if (!(flags & O_TRUNC)) return call;                                  \
        CHANGES('t', 0, call)                                                 \
    }                                                                         \
    CHANGES('o', 1, call)

int open64(const char *path, int flags, ...) { OPENS(AT_FDCWD, path, flags, REAL(open64)(path, flags, mode)) }
int open(const char *path, int flags, ...) { OPENS(AT_FDCWD, path, flags, REAL(open)(path, flags, mode)) }
int openat64(int folder, const char *path, int flags, ...) {
    OPENS(folder, path, flags, REAL(openat64)(folder, path, flags, mode))
}
int openat(int folder, const char *path, int flags, ...) {
    OPENS(folder, path, flags, REAL(openat)(folder, path, flags, mode))
}

/* How much room there is, as `shutil.disk_usage` asks. */
static int emptied(int status, struct statvfs64 *found) {
    if (!status && full) found->f_bfree = found->f_bavail = 0;
    return status;
}

int statvfs64(const char *path, struct statvfs64 *found) { return emptied(REAL(statvfs64)(path, found), found); }
int fstatvfs64(int file, struct statvfs64 *found) { return emptied(REAL(fstatvfs64)(file, found), found); }
