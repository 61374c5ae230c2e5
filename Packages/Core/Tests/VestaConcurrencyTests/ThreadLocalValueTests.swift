import Dispatch
import Testing
import VestaConcurrency
import VestaTesting

/// Every test has its own keys; a test's body stays on one thread, as nothing in it suspends.
@Suite struct ThreadLocalValueTests {
  @Test func `full key joins namespace and key`() {
    let named = ThreadLocalValue<Int>(namespace: "Logger", key: "dateFormatter")
    #expect(named.namespace == "Logger")
    #expect(named.key == "dateFormatter")
    #expect(named.fullKey == "Logger.dateFormatter")
    let bare = ThreadLocalValue<Int>(key: "dateFormatter")
    #expect(bare.namespace == nil)
    #expect(bare.fullKey == "dateFormatter")
  }

  @Test func `namespaces keep equal keys apart`() {
    let logger = ThreadLocalValue<String>(namespace: "ApartLogger", key: "k")
    let sale = ThreadLocalValue<String>(namespace: "ApartSale", key: "k")
    logger.setValue("a")
    sale.setValue("b")
    #expect(logger.value() == "a")
    #expect(sale.value() == "b")
  }

  @Test func `instances with one full key share the value`() {
    let first = ThreadLocalValue<Int>(namespace: "Share", key: "k.x")
    let second = ThreadLocalValue<Int>(namespace: "Share.k", key: "x")
    first.setValue(5)
    #expect(second.cachedValue() == 5)
  }

  @Test func `threads do not share values`() {
    let local = ThreadLocalValue<Int>(namespace: "Threads", key: "k")
    local.setValue(-1)
    let wrong = Log<Int>()
    onThreads(16) { index in
      if local.cachedValue() != nil { wrong.add(index) }
      local.setValue(index)
      if local.cachedValue() != index { wrong.add(index) }
    }
    #expect(wrong.entries.isEmpty)
    #expect(local.value() == -1)
  }

  @Test func `the instantiator is called by value only and once per thread`() {
    let calls = Log<String>()
    let local = ThreadLocalValue<Int>(namespace: "Instantiator", key: "k") { itself in
      calls.add(itself.fullKey)
      return 9
    }
    #expect(local.cachedValue() == nil)
    #expect(calls.entries.isEmpty)
    #expect(local.value() == 9)
    #expect(local.value() == 9)
    #expect(local.cachedValue() == 9)
    #expect(calls.entries == ["Instantiator.k"])
    startThread { _ = local.value() }.wait()
    #expect(calls.entries.count == 2)
  }

  @Test func `nil from the instantiator is not stored`() {
    let calls = Log<Int>()
    let local = ThreadLocalValue<Int>(namespace: "NilInstantiator", key: "k") { _ in
      calls.add(1)
      return calls.entries.count < 3 ? nil : 3
    }
    #expect(local.value() == nil)
    #expect(local.cachedValue() == nil)
    #expect(local.value() == nil)
    #expect(local.value() == 3)
    #expect(local.cachedValue() == 3)
  }

  @Test func `set value replaces and nil removes`() {
    let local = ThreadLocalValue<Int>(namespace: "Set", key: "k") { _ in 1 }
    local.setValue(2)
    #expect(local.value() == 2)
    local.setValue(nil)
    #expect(local.cachedValue() == nil)
    #expect(local.value() == 1)
  }

  @Test func `a value of another type reads as nil`() {
    let number = ThreadLocalValue<Int>(namespace: "Type", key: "k")
    let text = ThreadLocalValue<String>(namespace: "Type", key: "k")
    number.setValue(1)
    #expect(text.cachedValue() == nil)
    text.setValue("a")
    #expect(number.cachedValue() == nil)
    #expect(text.cachedValue() == "a")
    number.setValue(nil)
    #expect(text.cachedValue() == nil)
  }

  @Test func `values are released when replaced and when the thread ends`() {
    let released = Log<String>()
    let freed = DispatchSemaphore(value: 0)
    let local = ThreadLocalValue<Witness>(namespace: "Release", key: "k")
    startThread {
      local.setValue(Witness { released.add("first") })
      local.setValue(
        Witness {
          released.add("second")
          freed.signal()
        })
      released.add("replaced")
    }.wait()
    freed.wait()
    #expect(released.entries == ["first", "replaced", "second"])
  }

  @Test func `a value may use thread-local values from its deinit`() {
    let log = Log<Int?>()
    let freed = DispatchSemaphore(value: 0)
    let other = ThreadLocalValue<Witness>(namespace: "Deinit", key: "other")
    let local = ThreadLocalValue<Witness>(namespace: "Deinit", key: "k")
    startThread {
      // Runs when the thread ends, and leaves another value behind.
      local.setValue(Witness { other.setValue(Witness { freed.signal() }) })
    }.wait()
    freed.wait()
    // And one that accesses its own slot again while it is replaced.
    local.setValue(Witness { log.add(local.cachedValue() == nil ? nil : 1) })
    local.setValue(Witness())
    #expect(log.entries == [1])
  }

  @Test func `many keys fit on one thread`() {
    let locals = (0..<100).map { ThreadLocalValue<Int>(namespace: "Many", key: "\($0)") }
    for (index, local) in locals.enumerated().reversed() { local.setValue(index) }
    #expect(locals.map { $0.value() } == Array(0..<100))
  }
}
