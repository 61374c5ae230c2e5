import BenchmarkKit
import Foundation

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// A number that the measuring code keeps apart from other threads.
// Sound as @unchecked Sendable: it is touched under the lock that is measured, or by one thread.
final class Counter: @unchecked Sendable {
  var value = 0
}

/// The platform's mutex with nothing around it.
// Sound as @unchecked Sendable: the number is touched under the mutex only.
final class RawMutex: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>  // owned
  private let number: UnsafeMutablePointer<Int>  // owned

  init() {
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    number = .allocate(capacity: 1)
    number.initialize(to: 0)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
    number.deallocate()
  }

  @inline(__always)
  func increment() {
    pthread_mutex_lock(mutex)
    number.pointee &+= 1
    pthread_mutex_unlock(mutex)
  }
}

/// The platform's thread-local pointer with nothing around it.
struct RawThreadLocal {
  private let key: pthread_key_t

  init() {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    self.key = key
  }

  func set() { pthread_setspecific(key, UnsafeRawPointer(bitPattern: 8)) }

  @inline(__always)
  func get() -> UnsafeMutableRawPointer? { pthread_getspecific(key) }
}

/// Has `threads` threads do `count` operations each, at the same time.
///
/// - Returns: Nanoseconds per operation, of all threads together.
func contend(_ threads: Int, _ count: Int, _ operation: @escaping @Sendable () -> Void) -> Double {
  measure(threads * count) { total in
    let running = DispatchGroup()
    for _ in 0..<threads {
      running.enter()
      Thread.detachNewThread {
        for _ in 0..<total / threads { operation() }
        running.leave()
      }
    }
    running.wait()
  }
}
