// Part of the test program, whose calls of the system are these; and a library that a program loads first (LD_PRELOAD), where the
// environment says what fails: WEFT_FAULT="CALL NUMBER ERROR", for files in the folder WEFT_FAULT_BELOW where that is set, and
// WEFT_FAULT_HAPPENED is the file that is made when it does.
#include "tests/faults/call_fault.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace weft::faults {
namespace {

std::atomic<int> call{0}, error{0};
std::atomic<uint64_t> number{0}, seen{0};
std::atomic<bool> lasting{false};
std::atomic<int64_t> unsynced{0}, most_left{0};  // bytes

void Note() {
  if (const char* path = std::getenv("WEFT_FAULT_HAPPENED")) ::syscall(SYS_close, ::syscall(SYS_open, path, O_CREAT | O_WRONLY, 0666));
}

/// Whether a path, from an open folder on, is in the folder whose files are meant. Without memory of the heap.
bool Concerns(int folder, const char* path) {
  static const char* const below = std::getenv("WEFT_FAULT_BELOW");
  if (below == nullptr) return true;
  char link[64], whole[2 * PATH_MAX + 2] = "";
  std::snprintf(link, sizeof link, folder == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", folder);
  if (*path != '/' && ::syscall(SYS_readlinkat, AT_FDCWD, link, whole, PATH_MAX) < 0) return false;
  if (std::strcmp(whole, "/") == 0) *whole = '\0';
  if (*path != '\0' && *path != '/') std::strcat(whole, "/");
  std::strncat(whole, path, PATH_MAX);
  const size_t size = std::strlen(below);
  return std::strncmp(whole, below, size) == 0 && (whole[size] == '\0' || whole[size] == '/');
}

/// Whether this call is the one; errno is set then, but for a short one.
bool Fails(Call kind, int folder, const char* path) {
  if (call.load(std::memory_order_relaxed) != static_cast<int>(kind) || !Concerns(folder, path)) return false;
  const uint64_t now = seen.fetch_add(1) + 1, first = number.load();
  if (now != first && (now < first || !lasting.load())) return false;
  if (now == first) Note();
  if (error.load() > 0) errno = error.load();
  return true;
}
bool Fails(Call kind, const char* path) { return Fails(kind, AT_FDCWD, path); }
bool Fails(Call kind, int descriptor) { return descriptor > STDERR_FILENO && Fails(kind, descriptor, ""); }
bool IsShort() { return error.load() == kShort; }
size_t Part(size_t size) { return std::max<size_t>(size / 2, std::min<size_t>(size, 1)); }

template <class Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

void Arm(int kind, uint64_t which, int how, bool lasts) {
  seen.store(0);
  number.store(which);
  error.store(how);
  lasting.store(lasts);
  call.store(kind);
}

[[gnu::constructor]] void ReadEnvironment() {
  int kind = 0, how = 0;
  unsigned long which = 0;
  const char* text = std::getenv("WEFT_FAULT");
  if (text != nullptr && std::sscanf(text, "%d %lu %d", &kind, &which, &how) == 3) Arm(kind, which, how, false);
}

}  // namespace

const char* NameOf(Call kind) {
  constexpr const char* kNames[] = {"none",  "open",  "read",  "write", "fsync",    "rename",  "unlink", "stat",  "lseek",
                                    "mkdir", "flock", "close", "link",  "readlink", "readdir", "access", "fcntl", "chmod", "pthread_create"};
  return kNames[static_cast<int>(kind)];
}

CallFault::CallFault(Call kind, uint64_t which, int how, bool lasts) { Arm(static_cast<int>(kind), which, how, lasts); }
CallFault::~CallFault() { call.store(0); }
bool CallFault::happened() const { return seen.load() >= number.load(); }

int64_t MostLeftForSync() { return most_left.exchange(0); }

}  // namespace weft::faults

using weft::faults::Call;
using weft::faults::Fails;
using weft::faults::IsShort;
using weft::faults::Next;
using weft::faults::Part;

extern "C" {

int open(const char* path, int flags, ...) {
  static const auto next = Next<int(const char*, int, ...)>("open");
  va_list more;
  va_start(more, flags);
  const auto mode = static_cast<mode_t>((flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, int) : 0);
  va_end(more);
  return Fails(Call::kOpen, path) ? -1 : next(path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  static const auto next = Next<int(int, const char*, int, ...)>("openat");
  va_list more;
  va_start(more, flags);
  const auto mode = static_cast<mode_t>((flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, int) : 0);
  va_end(more);
  return Fails(Call::kOpen, folder, path) ? -1 : next(folder, path, flags, mode);
}

long syscall(long which, ...) noexcept {
  static const auto next = Next<long(long, ...)>("syscall");
  va_list more;
  va_start(more, which);
  long a[6];
  for (long& one : a) one = va_arg(more, long);
  va_end(more);
  if (which == SYS_openat2 && Fails(Call::kOpen, static_cast<int>(a[0]), reinterpret_cast<const char*>(a[1]))) return -1;
  return next(which, a[0], a[1], a[2], a[3], a[4], a[5]);
}

ssize_t read(int file, void* to, size_t size) {
  static const auto next = Next<ssize_t(int, void*, size_t)>("read");
  if (Fails(Call::kRead, file)) return IsShort() ? next(file, to, Part(size)) : -1;
  return next(file, to, size);
}

ssize_t pread(int file, void* to, size_t size, off_t at) {
  static const auto next = Next<ssize_t(int, void*, size_t, off_t)>("pread");
  if (Fails(Call::kRead, file)) return IsShort() ? next(file, to, Part(size), at) : -1;
  return next(file, to, size, at);
}

ssize_t write(int file, const void* from, size_t size) {
  static const auto next = Next<ssize_t(int, const void*, size_t)>("write");
  if (Fails(Call::kWrite, file)) return IsShort() ? next(file, from, Part(size)) : -1;
  const ssize_t done = next(file, from, size);
  if (done > 0) weft::faults::unsynced += done;
  return done;
}

ssize_t writev(int file, const struct iovec* parts, int count) {
  static const auto next = Next<ssize_t(int, const struct iovec*, int)>("writev");
  if (Fails(Call::kWrite, file)) return IsShort() ? next(file, parts, 1) : -1;
  return next(file, parts, count);
}

// (Nothing waits for the disk: no test cuts the power.)
int fsync(int file) {
  const int64_t left = weft::faults::unsynced.exchange(0);
  if (left > weft::faults::most_left) weft::faults::most_left = left;
  return Fails(Call::kSync, file) && !IsShort() ? -1 : 0;
}

int sync_file_range(int file, off_t, off_t size, unsigned flags) {
  if (Fails(Call::kSync, file) && !IsShort()) return -1;
  if ((flags & SYNC_FILE_RANGE_WAIT_AFTER) != 0) weft::faults::unsynced -= size;
  return 0;
}

int rename(const char* from, const char* to) noexcept {
  static const auto next = Next<int(const char*, const char*)>("rename");
  return Fails(Call::kRename, from) ? -1 : next(from, to);
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  static const auto next = Next<int(int, const char*, int, const char*)>("renameat");
  return Fails(Call::kRename, from_folder, from) ? -1 : next(from_folder, from, to_folder, to);
}

int unlink(const char* path) noexcept {
  static const auto next = Next<int(const char*)>("unlink");
  return Fails(Call::kRemove, path) ? -1 : next(path);
}

int unlinkat(int folder, const char* path, int flags) noexcept {
  static const auto next = Next<int(int, const char*, int)>("unlinkat");
  return Fails(Call::kRemove, folder, path) ? -1 : next(folder, path, flags);
}

int fstat(int file, struct stat* info) noexcept {
  static const auto next = Next<int(int, struct stat*)>("fstat");
  return Fails(Call::kStat, file) ? -1 : next(file, info);
}

int fstatat(int folder, const char* path, struct stat* info, int flags) noexcept {
  static const auto next = Next<int(int, const char*, struct stat*, int)>("fstatat");
  return Fails(Call::kStat, folder, path) ? -1 : next(folder, path, info, flags);
}

int lstat(const char* path, struct stat* info) noexcept {
  static const auto next = Next<int(const char*, struct stat*)>("lstat");
  return Fails(Call::kStat, path) ? -1 : next(path, info);
}

int stat(const char* path, struct stat* info) noexcept {
  static const auto next = Next<int(const char*, struct stat*)>("stat");
  return Fails(Call::kStat, path) ? -1 : next(path, info);
}

int access(const char* path, int how) noexcept {
  static const auto next = Next<int(const char*, int)>("access");
  return Fails(Call::kAccess, path) ? -1 : next(path, how);
}

int faccessat(int folder, const char* path, int how, int flags) noexcept {
  static const auto next = Next<int(int, const char*, int, int)>("faccessat");
  return Fails(Call::kAccess, folder, path) ? -1 : next(folder, path, how, flags);
}

int fchmod(int file, mode_t mode) noexcept {
  static const auto next = Next<int(int, mode_t)>("fchmod");
  return Fails(Call::kMode, file) ? -1 : next(file, mode);
}

int chmod(const char* path, mode_t mode) noexcept {
  static const auto next = Next<int(const char*, mode_t)>("chmod");
  return Fails(Call::kMode, path) ? -1 : next(path, mode);
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  static const auto next = Next<int(int, const char*, int, const char*, int)>("linkat");
  return Fails(Call::kLink, from_folder, from) ? -1 : next(from_folder, from, to_folder, to, flags);
}

ssize_t readlink(const char* path, char* to, size_t size) noexcept {
  static const auto next = Next<ssize_t(const char*, char*, size_t)>("readlink");
  return Fails(Call::kReadLink, path) ? -1 : next(path, to, size);
}

DIR* opendir(const char* path) {
  static const auto next = Next<DIR*(const char*)>("opendir");
  return Fails(Call::kList, path) ? nullptr : next(path);
}

DIR* fdopendir(int folder) {
  static const auto next = Next<DIR*(int)>("fdopendir");
  return Fails(Call::kList, folder) ? nullptr : next(folder);
}

struct dirent* readdir(DIR* folder) {
  static const auto next = Next<struct dirent*(DIR*)>("readdir");
  return Fails(Call::kList, dirfd(folder)) ? nullptr : next(folder);
}

// (Of its commands those that copy a descriptor, which have one argument.)
int fcntl(int file, int command, ...) {
  static const auto next = Next<int(int, int, ...)>("fcntl");
  va_list more;
  va_start(more, command);
  void* const argument = va_arg(more, void*);
  va_end(more);
  if ((command == F_DUPFD || command == F_DUPFD_CLOEXEC) && Fails(Call::kCopy, file)) return -1;
  return next(file, command, argument);
}

FILE* fopen64(const char* path, const char* how) {
  static const auto next = Next<FILE*(const char*, const char*)>("fopen64");
  return Fails(Call::kOpen, path) ? nullptr : next(path, how);
}

off_t lseek(int file, off_t offset, int whence) noexcept {
  static const auto next = Next<off_t(int, off_t, int)>("lseek");
  return Fails(Call::kSeek, file) ? -1 : next(file, offset, whence);
}

int mkdirat(int folder, const char* path, mode_t mode) noexcept {
  static const auto next = Next<int(int, const char*, mode_t)>("mkdirat");
  return Fails(Call::kFolder, folder, path) ? -1 : next(folder, path, mode);
}

int flock(int file, int how) noexcept {
  static const auto next = Next<int(int, int)>("flock");
  return Fails(Call::kLock, file) ? -1 : next(file, how);
}

int close(int file) {
  static const auto next = Next<int(int)>("close");
  if (!Fails(Call::kClose, file)) return next(file);
  const int failure = errno;
  next(file);
  errno = failure;
  return -1;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*work)(void*), void* argument) noexcept {
  static const auto next = Next<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  return Fails(Call::kThread, "") ? errno : next(thread, attributes, work, argument);
}

}  // extern "C"
