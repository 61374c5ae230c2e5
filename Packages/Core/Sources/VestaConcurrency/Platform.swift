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
#elseif canImport(WinSDK)
  public import WinSDK
#endif

#if canImport(WinSDK)
  @usableFromInline
  typealias PlainMutex = SRWLOCK
  @usableFromInline
  typealias RecursiveMutex = CRITICAL_SECTION
#else
  @usableFromInline
  typealias PlainMutex = pthread_mutex_t
  @usableFromInline
  typealias RecursiveMutex = pthread_mutex_t
#endif

/// The operations of a plain mutex, given its address.
///
/// The address must not change between `initialize` and `destroy`.
@usableFromInline
enum PlatformMutex {
  /// The value at the place of a mutex until `initialize`.
  @usableFromInline
  static var blank: PlainMutex { PlainMutex() }

  @usableFromInline
  static func initialize(_ mutex: UnsafeMutablePointer<PlainMutex>) {
    #if canImport(WinSDK)
      mutex.initialize(to: SRWLOCK())
      InitializeSRWLock(mutex)
    #else
      initializePthreadMutex(mutex, kind: Int32(PTHREAD_MUTEX_NORMAL))
    #endif
  }

  @usableFromInline
  static func destroy(_ mutex: UnsafeMutablePointer<PlainMutex>) {
    #if !canImport(WinSDK)
      pthread_mutex_destroy(mutex)
    #endif
    mutex.deinitialize(count: 1)
  }

  @inlinable
  static func lock(_ mutex: UnsafeMutablePointer<PlainMutex>) {
    #if canImport(WinSDK)
      AcquireSRWLockExclusive(mutex)
    #else
      pthread_mutex_lock(mutex)
    #endif
  }

  @inlinable
  static func unlock(_ mutex: UnsafeMutablePointer<PlainMutex>) {
    #if canImport(WinSDK)
      ReleaseSRWLockExclusive(mutex)
    #else
      pthread_mutex_unlock(mutex)
    #endif
  }

  @inlinable
  static func tryLock(_ mutex: UnsafeMutablePointer<PlainMutex>) -> Bool {
    #if canImport(WinSDK)
      TryAcquireSRWLockExclusive(mutex) != 0
    #else
      pthread_mutex_trylock(mutex) == 0
    #endif
  }
}

/// The platform's re-entrant mutex, at an address that never changes.
// Sound as @unchecked Sendable: the pointer is never reassigned, and what it points to is made for many threads.
@usableFromInline
struct PlatformRecursiveMutex: @unchecked Sendable {
  @usableFromInline
  let handle: UnsafeMutablePointer<RecursiveMutex>  // allocated in init, freed by destroy()

  @usableFromInline
  init() {
    handle = .allocate(capacity: 1)
    #if canImport(WinSDK)
      handle.initialize(to: CRITICAL_SECTION())
      InitializeCriticalSection(handle)
    #else
      initializePthreadMutex(handle, kind: Int32(PTHREAD_MUTEX_RECURSIVE))
    #endif
  }

  @usableFromInline
  func destroy() {
    #if canImport(WinSDK)
      DeleteCriticalSection(handle)
    #else
      pthread_mutex_destroy(handle)
    #endif
    handle.deinitialize(count: 1)
    handle.deallocate()
  }

  @inlinable
  func lock() {
    #if canImport(WinSDK)
      EnterCriticalSection(handle)
    #else
      pthread_mutex_lock(handle)
    #endif
  }

  @inlinable
  func unlock() {
    #if canImport(WinSDK)
      LeaveCriticalSection(handle)
    #else
      pthread_mutex_unlock(handle)
    #endif
  }

  @inlinable
  func tryLock() -> Bool {
    #if canImport(WinSDK)
      TryEnterCriticalSection(handle)
    #else
      pthread_mutex_trylock(handle) == 0
    #endif
  }

  /// Waits for the mutex until `timeout` has passed; says whether the calling thread has it now.
  @usableFromInline
  func lock(within timeout: Duration) -> Bool {
    if tryLock() { return true }
    let clock = ContinuousClock()
    // A century is used for "for ever", so that no sum below can overflow.
    let deadline = clock.now + min(timeout, .seconds(3_155_760_000))
    while true {
      let left = deadline - clock.now
      guard left > .zero else { return false }
      if waitOnce(atMost: left) { return true }
    }
  }

  #if canImport(Darwin) || canImport(WinSDK)
    // These platforms have no timed lock: ask again every millisecond.
    private func waitOnce(atMost left: Duration) -> Bool {
      #if canImport(WinSDK)
        Sleep(1)
      #else
        usleep(1_000)
      #endif
      return tryLock()
    }
  #else
    // The timed lock counts in wall-clock time. The caller's loop asks a steady clock again, so a clock that is set
    // forward does not end the wait early.
    private func waitOnce(atMost left: Duration) -> Bool {
      withUnsafeTemporaryAllocation(of: timespec.self, capacity: 1) { until in
        guard let until = until.baseAddress, clock_gettime(CLOCK_REALTIME, until) == 0 else { return tryLock() }
        // Which module owns the members of timespec depends on the order of imports here, so they cannot be named.
        // Sound: on every system of this branch they are a time_t and, right behind it, a long.
        let seconds = UnsafeMutableRawPointer(until).assumingMemoryBound(to: time_t.self)
        let nanoseconds = UnsafeMutableRawPointer(seconds + 1).assumingMemoryBound(to: Int.self)
        let sum = nanoseconds.pointee + Int(left.components.attoseconds / 1_000_000_000)
        seconds.pointee += time_t(left.components.seconds) + time_t(sum / 1_000_000_000)
        nanoseconds.pointee = sum % 1_000_000_000
        return pthread_mutex_timedlock(handle, until) == 0
      }
    }
  #endif
}

/// One pointer per thread.
@usableFromInline
struct PlatformThreadSlot: Sendable {
  #if canImport(WinSDK)
    @usableFromInline
    let key: DWORD
  #else
    @usableFromInline
    let key: pthread_key_t
  #endif

  /// - Parameter atThreadExit: Called on a thread that ends, with its pointer, if that is not null.
  init(atThreadExit: (@convention(c) (UnsafeMutableRawPointer) -> Void)? = nil) {
    #if canImport(WinSDK)
      key = FlsAlloc(atThreadExit.map { unsafeBitCast($0, to: PFLS_CALLBACK_FUNCTION.self) })  // same C signature
      precondition(key != FLS_OUT_OF_INDEXES, "the system has no thread-local slot left")
    #else
      var key = pthread_key_t()
      // On Darwin the callback's argument is not optional, elsewhere it is; the C signature is the same.
      #if canImport(Darwin)
        let status = pthread_key_create(&key, atThreadExit)
      #else
        typealias Callback = @convention(c) (UnsafeMutableRawPointer?) -> Void
        // Sound: both are the C function type void (*)(void *), and the system never passes null.
        let status = pthread_key_create(&key, atThreadExit.map { unsafeBitCast($0, to: Callback.self) })
      #endif
      precondition(status == 0, "the system has no thread-local slot left (error \(status))")
      self.key = key
    #endif
  }

  /// The calling thread's pointer.
  @inlinable
  var pointer: UnsafeMutableRawPointer? {
    get {
      #if canImport(WinSDK)
        FlsGetValue(key)
      #else
        pthread_getspecific(key)
      #endif
    }
    nonmutating set {
      #if canImport(WinSDK)
        _ = FlsSetValue(key, newValue)
      #else
        let status = pthread_setspecific(key, newValue)
        precondition(status == 0, "the system refused a thread-local value (error \(status))")
      #endif
    }
  }
}

#if !canImport(WinSDK)
  private func initializePthreadMutex(_ mutex: UnsafeMutablePointer<pthread_mutex_t>, kind: Int32) {
    mutex.initialize(to: pthread_mutex_t())
    var attributes = pthread_mutexattr_t()
    pthread_mutexattr_init(&attributes)
    pthread_mutexattr_settype(&attributes, kind)
    let status = pthread_mutex_init(mutex, &attributes)
    precondition(status == 0, "the system could not make a mutex (error \(status))")
    pthread_mutexattr_destroy(&attributes)
  }
#endif

/// Threads of the operating system, for work that may block.
enum PlatformThread {
  /// The closure that a new thread takes over.
  private final class Body: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }

    static func take(_ pointer: UnsafeMutableRawPointer) {
      Unmanaged<Body>.fromOpaque(pointer).takeRetainedValue().run()
    }
  }

  /// Starts a thread that ends with `body`; it cannot be joined.
  ///
  /// - Returns: Whether the system had a thread left.
  static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    let retained = Unmanaged.passRetained(Body(body))
    let argument = retained.toOpaque()
    #if canImport(WinSDK)
      let thread = CreateThread(
        nil, 0,
        { argument in
          if let argument { Body.take(argument) }
          return 0
        }, argument, 0, nil)
      let isStarted = thread != nil
      if let thread { CloseHandle(thread) }
    #elseif canImport(Darwin)
      var thread: pthread_t?
      let status = pthread_create(
        &thread, nil,
        { argument in
          Body.take(argument)
          return nil
        }, argument)
      let isStarted = status == 0
      if isStarted, let thread { pthread_detach(thread) }
    #else
      var thread = pthread_t()
      let status = pthread_create(
        &thread, nil,
        { argument in
          if let argument { Body.take(argument) }
          return nil
        }, argument)
      let isStarted = status == 0
      if isStarted { pthread_detach(thread) }
    #endif
    if !isStarted { retained.release() }
    return isStarted
  }

  /// Gives precedence to other threads of the process from now on; a system that refuses it changes nothing.
  static func yieldToOthers() {
    #if canImport(WinSDK)
      _ = SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_BELOW_NORMAL)
    #elseif canImport(Darwin)
      _ = pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, 0)
    #else
      // On Linux zero is the calling thread, and not its process.
      _ = setpriority(.init(PRIO_PROCESS.rawValue), 0, 10)
    #endif
  }
}
