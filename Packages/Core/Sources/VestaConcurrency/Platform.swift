// The one file of this package that knows the platform. The import is public because the lock path is inlined into
// callers; no public name mentions anything of it.
#if canImport(Darwin)
  public import Darwin
#elseif canImport(Glibc)
  public import Glibc
#elseif canImport(Musl)
  public import Musl
#elseif canImport(Android)
  public import Android
#endif

/// The platform's mutex, at an address that never changes.
@usableFromInline
struct PlatformMutex {
  @usableFromInline
  let handle: UnsafeMutablePointer<pthread_mutex_t>

  @usableFromInline
  init(recursive: Bool) {
    handle = .allocate(capacity: 1)
    handle.initialize(to: pthread_mutex_t())
    var attributes = pthread_mutexattr_t()
    pthread_mutexattr_init(&attributes)
    pthread_mutexattr_settype(&attributes, Int32(recursive ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL))
    let status = pthread_mutex_init(handle, &attributes)
    precondition(status == 0, "the system could not make a mutex (error \(status))")
    pthread_mutexattr_destroy(&attributes)
  }

  @inlinable
  func lock() { pthread_mutex_lock(handle) }

  @inlinable
  func unlock() { pthread_mutex_unlock(handle) }

  @inlinable
  func tryLock() -> Bool { pthread_mutex_trylock(handle) == 0 }

  @usableFromInline
  func destroy() {
    pthread_mutex_destroy(handle)
    handle.deallocate()
  }
}
