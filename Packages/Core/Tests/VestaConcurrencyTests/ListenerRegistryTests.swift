import Dispatch
import Testing
import VestaConcurrency
import VestaTesting

@Suite struct ListenerRegistryTests {
  @Test func `listeners are called in order of addition`() {
    let (registry, log) = (ListenerRegistry<Int>(), Log<String>())
    for name in ["a", "b", "c"] { registry.add { log.add("\(name)\($0)") } }
    registry.emit(1)
    registry.emit(2)
    #expect(log.entries == ["a1", "b1", "c1", "a2", "b2", "c2"])
    #expect(registry.count == 3)
  }

  @Test func `cancel removes the listener once and for all`() {
    let (registry, log) = (ListenerRegistry<Int>(), Log<Int>())
    let first = registry.add { log.add($0) }
    let second = registry.add { log.add(-$0) }
    first.cancel()
    first.cancel()
    first.remove()
    #expect(registry.count == 1)
    registry.emit(1)
    second.remove()
    registry.emit(2)
    #expect(log.entries == [-1])
    #expect(registry.count == 0)
  }

  @Test func `a dropped registration leaves the listener`() {
    let (registry, log) = (ListenerRegistry<Int>(), Log<Int>())
    _ = registry.add { log.add($0) }
    registry.emit(1)
    #expect(log.entries == [1])
  }

  @Test func `a nested emit returns first and is delivered after the event under way`() {
    let (registry, log) = (ListenerRegistry<Int>(), Log<String>())
    registry.add { event in
      log.add("a\(event)")
      if event == 1 {
        registry.emit(2)
        log.add("nested emit returned")
      }
    }
    registry.add { log.add("b\($0)") }
    registry.emit(1)
    #expect(log.entries == ["a1", "nested emit returned", "b1", "a2", "b2"])
  }

  @Test func `concurrent events have one order for all listeners`() async {
    let registry = ListenerRegistry<Int>()
    let logs = (0..<3).map { _ in Log<Int>() }
    for log in logs { registry.add { log.add($0) } }
    onThreads(8) { thread in
      for number in 0..<200 { registry.emit(thread * 1_000 + number) }
    }
    // The thread that delivered last has delivered everything, or a queue continues.
    await logs[2].wait { $0.count == 1_600 }
    let heard = logs[0].entries
    #expect(heard.count == 1_600)
    #expect(logs[1].entries == heard && logs[2].entries == heard)
    for thread in 0..<8 {
      #expect(heard.filter { $0 / 1_000 == thread } == (0..<200).map { thread * 1_000 + $0 })
    }
  }

  @Test func `an emit while another thread delivers is delivered by that thread`() {
    let (registry, log) = (ListenerRegistry<Int>(), Log<Int>())
    let (inside, leave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    registry.add { event in
      log.add(event)
      if event == 1 {
        inside.signal()
        leave.wait()
      }
    }
    let delivering = startThread { registry.emit(1) }
    inside.wait()
    registry.emit(2)
    #expect(log.entries == [1])
    leave.signal()
    delivering.wait()
    #expect(log.entries == [1, 2])
  }

  @Test func `a listener removed during an emit is no longer called`() {
    let (registry, log) = (ListenerRegistry<Int>(), Log<String>())
    let later = Locked<ListenerRegistration?>(nil)
    let own = Locked<ListenerRegistration?>(nil)
    let first = registry.add { event in
      log.add("a\(event)")
      later.withLock { $0 }?.cancel()
      own.withLock { $0 }?.cancel()
    }
    own.withLock { $0 = first }
    let second = registry.add { log.add("b\($0)") }
    later.withLock { $0 = second }
    registry.emit(1)
    registry.emit(2)
    #expect(log.entries == ["a1"])
  }

  @Test func `a listener added during an emit receives later events only`() {
    let (registry, log) = (ListenerRegistry<Int>(), Log<String>())
    registry.add { event in
      log.add("a\(event)")
      guard event == 1 else { return }
      registry.emit(2)
      registry.add { log.add("late\($0)") }
      registry.emit(3)
    }
    registry.emit(1)
    #expect(log.entries == ["a1", "a2", "a3", "late3"])
  }

  @Test func `what a listener captured is released by cancel with no lock held`() {
    let (registry, log) = (ListenerRegistry<Int>(), Log<Int>())
    let registration: ListenerRegistration = {
      // Would deadlock if the registry were locked while its listener is released.
      let witness = Witness { log.add(registry.count) }
      return registry.add { _ in withExtendedLifetime(witness) {} }
    }()
    #expect(log.entries.isEmpty)
    registration.cancel()
    #expect(log.entries.count == 1)
  }

  @Test func `a listener is released by cancel even during the delivery`() {
    let (registry, log) = (ListenerRegistry<Int>(), Log<String>())
    let registration = Locked<ListenerRegistration?>(nil)
    registry.add { _ in
      registration.withLock { $0 }?.cancel()
      log.add("cancelled")
    }
    let second: ListenerRegistration = {
      let witness = Witness { log.add("released") }
      return registry.add { _ in withExtendedLifetime(witness) {} }
    }()
    registration.withLock { $0 = second }
    registry.emit(1)
    #expect(log.entries == ["released", "cancelled"])
  }

  @Test func `finish notifies every listener once, after the events`() {
    let (registry, log) = (ListenerRegistry<Int>(), Log<String>())
    registry.add(onEnd: { log.add("end \($0 as? Failure == Failure(3))") }) { event in
      registry.emit(event + 1)
      registry.finish(throwing: Failure(3))
      registry.emit(99)
      log.add("\(event)")
    }
    registry.add { log.add("b\($0)") }
    registry.emit(1)
    registry.finish()
    #expect(log.entries == ["1", "b1", "2", "b2", "end true"])
    #expect(registry.count == 0)
  }

  @Test func `a listener added after the end is notified of the end`() {
    let (registry, log) = (ListenerRegistry<Int>(), Log<String>())
    registry.finish(throwing: Failure(5))
    let registration = registry.add(onEnd: { log.add("\($0 as? Failure == Failure(5))") }) { _ in log.add("event") }
    registry.emit(1)
    registration.cancel()
    #expect(log.entries == ["true"])
  }

  @Test func `a cancelled listener is not notified of the end`() {
    let (registry, log) = (ListenerRegistry<Int>(), Log<String>())
    registry.add(onEnd: { _ in log.add("end") }) { _ in }.cancel()
    registry.finish()
    #expect(log.entries.isEmpty)
  }

  @Test func `listeners are notified of the end when the registry is released`() {
    let log = Log<String>()
    var registry: ListenerRegistry<Int>? = ListenerRegistry()
    let registration = registry?.add(onEnd: { _ in log.add("end") }) { _ in }
    registry = nil
    #expect(log.entries == ["end"])
    registration?.cancel()
  }

  @Test func `many listeners are removed in any order, and the right ones`() {
    let (registry, log) = (ListenerRegistry<Int>(), Log<Int>())
    var random = SplitMix(seed: 5)
    var kept: [(Int, ListenerRegistration)] = []
    for number in 0..<2_000 {
      kept.append((number, registry.add { _ in log.add(number) }))
      if random.oneIn(2) { kept.remove(at: random.below(kept.count)).1.cancel() }
    }
    registry.emit(0)
    #expect(log.entries == kept.map(\.0))
    #expect(registry.count == kept.count)
  }
}
