import Dispatch
import Testing
import VestaConcurrency
import VestaTesting

@Suite struct LockedTests {
  @Test func `withLock returns what the body returns`() {
    let count = Locked(41)
    let next = count.withLock { value in
      value += 1
      return value
    }
    #expect(next == 42)
  }

  @Test func `copies share one value`() {
    let count = Locked(1)
    let copy = count
    copy.withLock { $0 = 7 }
    #expect(count.withLock { $0 } == 7)
  }

  @Test func `the lock is open after a throw and keeps what was changed`() {
    let count = Locked(0)
    #expect(throws: Failure(3)) {
      try count.withLock { value throws(Failure) in
        value = 5
        throw Failure(3)
      }
    }
    #expect(count.withLock { $0 } == 5)
  }

  @Test func `withLockIfAvailable does not wait`() {
    let count = Locked(0)
    let (inside, leave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let done = startThread {
      count.withLock { _ in
        inside.signal()
        leave.wait()
      }
    }
    inside.wait()
    #expect(count.withLockIfAvailable { $0 } == nil)
    leave.signal()
    done.wait()
    #expect(count.withLockIfAvailable { $0 } == 0)
  }

  @Test func `a released lock releases its value`() {
    let released = Locked(false)
    var holder: Locked<Witness>? = Locked(Witness { released.withLock { $0 = true } })
    #expect(holder?.withLock { _ in released.withLock { $0 } } == false)
    holder = nil
    #expect(released.withLock { $0 })
  }

  @Test func `a lock holds values of any size and alignment`() {
    let empty = Locked(())
    empty.withLock { $0 = () }
    let wide = Locked((UInt8(1), SIMD16<Float>(repeating: 2)))
    wide.withLock { $0.1[15] = 9 }
    #expect(wide.withLock { $0.1[15] } == 9)
    #expect(wide.withLock { $0.0 } == 1)
  }
}
