import Dispatch
import Testing
import VestaConcurrency
import VestaTesting

@Suite struct CriticalSectionTests {
  @Test func `execute returns what the closure returns`() {
    #expect(CriticalSection().execute { 42 } == 42)
  }

  @Test func `a thread may enter again`() {
    let section = CriticalSection()
    let depth = section.execute { section.execute { section.execute(timeout: .zero) { 3 } } }
    #expect(depth == 3)
  }

  @Test func `others wait until the outermost closure has returned`() {
    let section = CriticalSection()
    let log = Log<String>()
    let (inside, leave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let first = startThread {
      section.execute {
        section.execute { log.add("inner") }
        inside.signal()
        leave.wait()
        log.add("outer")
      }
    }
    inside.wait()
    #expect(section.execute(timeout: .zero) { true } == nil)
    leave.signal()
    section.execute { log.add("other") }
    first.wait()
    #expect(log.entries == ["inner", "outer", "other"])
  }

  @Test func `the section is open for others after a throw`() {
    let section = CriticalSection()
    #expect(throws: Failure(1)) {
      try section.execute { () throws(Failure) in try section.execute { () throws(Failure) in throw Failure(1) } }
    }
    #expect(throws: Failure(2)) { try section.execute(timeout: .seconds(1)) { throw Failure(2) } }
    #expect(throws: Failure(3)) { _ = try section.executeWithTimeout(1.0) { throw Failure(3) } }
    let entered = Log<Bool>()
    startThread { entered.add(section.executeWithTimeout(0) {}) }.wait()
    #expect(entered.entries == [true])
  }

  @Test func `on time-out execute returns nil and never runs the closure`() {
    let section = CriticalSection()
    let ran = Log<String>()
    let (inside, leave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let holder = startThread {
      section.execute {
        inside.signal()
        leave.wait()
      }
    }
    inside.wait()
    #expect(section.execute(timeout: .milliseconds(3)) { ran.add("a") } == nil)
    #expect(!section.executeWithTimeout(0.003) { ran.add("b") })
    for limit in [0, -1, -Double.infinity, Double.nan] {
      #expect(!section.executeWithTimeout(limit) { ran.add("c") })
    }
    leave.signal()
    holder.wait()
    section.execute {}
    #expect(ran.entries.isEmpty)
  }

  @Test func `waits for access within the limit`() {
    let section = CriticalSection()
    let (inside, leave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let holder = startThread {
      section.execute {
        inside.signal()
        leave.wait()
      }
    }
    inside.wait()
    let results = Log<Bool>()
    let about = DispatchSemaphore(value: 0)
    let waiters = [Double.infinity, 1e300, 600].map { limit in
      startThread {
        about.signal()
        results.add(section.executeWithTimeout(limit) {})
      }
    }
    for _ in waiters { about.wait() }
    leave.signal()
    for waiter in waiters { waiter.wait() }
    holder.wait()
    #expect(results.entries == [true, true, true])
    #expect(section.execute(timeout: .seconds(Int64.max)) { 1 } == 1)
  }

  @Test func `entering with a limit is reentrant too`() {
    let section = CriticalSection()
    let ran = section.executeWithTimeout(1.0) {
      #expect(section.executeWithTimeout(0) {})
    }
    #expect(ran)
  }
}
