public import BenchmarkKit
import Dispatch
import Foundation
import VestaConcurrency

/// The cost of the concurrency toolkit.
public func concurrencyBenchmarks() -> [Benchmark] {
  [
    locked, lockedCreation, criticalSection, criticalSectionNested, criticalSectionContended, read, readContended,
    write, cachedValue, value, workQueueSync, workQueueRun, singleFlight, emit, emitFew, eventStream, snapshotStream,
  ]
}

// MARK: - Locks

private var locked: Benchmark {
  let (locked, raw) = (Locked(0), RawMutex())
  return Benchmark(
    name: "locked", bar: .ratio(atMost: 1.3),
    ours: ("Locked", { measure(5_000_000) { for _ in 0..<$0 { locked.withLock { $0 &+= 1 } } } }),
    other: ("pthread mutex", { measure(5_000_000) { for _ in 0..<$0 { raw.increment() } } }))
}

private var lockedCreation: Benchmark {
  Benchmark(
    name: "locked-creation", bar: .none,
    ours: ("Locked", { measure(1_000_000) { for number in 0..<$0 { keep(Locked(number)) } } }),
    other: ("NSLock", { measure(1_000_000) { for _ in 0..<$0 { keep(NSLock()) } } }))
}

private var criticalSection: Benchmark {
  let (section, peer) = (CriticalSection(), NSRecursiveLock())
  let (ours, other) = (Counter(), Counter())
  return Benchmark(
    name: "critical-section", bar: .ratio(atMost: 1.2),
    ours: ("execute", { measure(5_000_000) { for _ in 0..<$0 { section.execute { ours.value &+= 1 } } } }),
    other: ("NSRecursiveLock", { measure(5_000_000) { for _ in 0..<$0 { peer.withLock { other.value &+= 1 } } } }))
}

private var criticalSectionNested: Benchmark {
  let (section, peer) = (CriticalSection(), NSRecursiveLock())
  let (ours, other) = (Counter(), Counter())
  return Benchmark(
    name: "critical-section-nested", bar: .ratio(atMost: 1.5),
    ours: (
      "execute in execute",
      { measure(5_000_000) { for _ in 0..<$0 { section.execute { section.execute { ours.value &+= 1 } } } } }
    ),
    other: (
      "NSRecursiveLock twice",
      { measure(5_000_000) { for _ in 0..<$0 { peer.withLock { peer.withLock { other.value &+= 1 } } } } }
    ))
}

private var criticalSectionContended: Benchmark {
  let (section, peer) = (CriticalSection(), NSRecursiveLock())
  let (ours, other) = (Counter(), Counter())
  return Benchmark(
    name: "critical-section-contended", bar: .none,
    ours: ("execute, 2 threads", { contend(2, 500_000) { section.execute { ours.value &+= 1 } } }),
    other: ("NSRecursiveLock, 2 threads", { contend(2, 500_000) { peer.withLock { other.value &+= 1 } } }))
}

// MARK: - Reading and writing

private var read: Benchmark {
  let coordinator = ReadWriteCoordinator()
  let queue = DispatchQueue(label: "peer", attributes: .concurrent)
  let (ours, other) = (Counter(), Counter())
  return Benchmark(
    name: "coordinator-read", bar: .ratio(atMost: 0.5),
    ours: ("read", { sum(2_000_000) { coordinator.read { ours.value } } }),
    other: ("concurrent queue sync", { sum(2_000_000) { queue.sync { other.value } } }))
}

private var readContended: Benchmark {
  let coordinator = ReadWriteCoordinator()
  let queue = DispatchQueue(label: "peer", attributes: .concurrent)
  let (ours, other) = (Counter(), Counter())
  return Benchmark(
    name: "coordinator-read-contended", bar: .ratio(atMost: 0.5),
    ours: ("read, 2 threads", { contend(2, 500_000) { _ = coordinator.read { ours.value } } }),
    other: ("concurrent queue sync, 2 threads", { contend(2, 500_000) { _ = queue.sync { other.value } } }))
}

private var write: Benchmark {
  let coordinator = ReadWriteCoordinator()
  let queue = DispatchQueue(label: "peer", attributes: .concurrent)
  let (ours, other) = (Counter(), Counter())
  return Benchmark(
    name: "coordinator-write", bar: .none,
    ours: (
      "enqueueWrite and drain",
      {
        measure(200_000) { count in
          for _ in 0..<count { coordinator.enqueueWrite { ours.value &+= 1 } }
          coordinator.read {}
        }
      }
    ),
    other: (
      "async barrier and drain",
      {
        measure(200_000) { count in
          for _ in 0..<count { queue.async(flags: .barrier) { other.value &+= 1 } }
          queue.sync {}
        }
      }
    ))
}

// MARK: - Thread-local values

private var cachedValue: Benchmark {
  let (local, raw) = (ThreadLocalValue<Int>(namespace: "Bench", key: "cached"), RawThreadLocal())
  return Benchmark(
    name: "thread-local-cached-value", bar: .ratio(atMost: 10),
    ours: (
      "cachedValue",
      {
        local.setValue(1)
        return sum(10_000_000) { local.cachedValue() ?? 0 }
      }
    ),
    other: (
      "pthread_getspecific",
      {
        raw.set()
        return sum(10_000_000) { Int(bitPattern: raw.get()) }
      }
    ))
}

private var value: Benchmark {
  let local = ThreadLocalValue<Int>(namespace: "Bench", key: "value") { _ in 1 }
  return Benchmark(
    name: "thread-local-value", bar: .none,
    ours: ("value", { sum(5_000_000) { local.value() ?? 0 } }),
    other: ("threadDictionary", readThreadDictionary))
}

// A separate function, as `Thread.current` cannot be named in an asynchronous closure.
private func readThreadDictionary() -> Double {
  Thread.current.threadDictionary["Bench.value"] = 1
  return sum(200_000) { Thread.current.threadDictionary["Bench.value"] as? Int ?? 0 }
}

// MARK: - Queues and flights

private var workQueueSync: Benchmark {
  let (queue, peer) = (WorkQueue(label: "ours"), DispatchQueue(label: "peer"))
  return Benchmark(
    name: "work-queue-sync", bar: .none,
    ours: ("WorkQueue.sync", { measure(1_000_000) { for number in 0..<$0 { keep(queue.sync { number }) } } }),
    other: ("DispatchQueue.sync", { measure(1_000_000) { for number in 0..<$0 { keep(peer.sync { number }) } } }))
}

private var workQueueRun: Benchmark {
  let (queue, peer) = (WorkQueue(label: "ours"), DispatchQueue(label: "peer"))
  return Benchmark(
    name: "work-queue-run", unit: .microseconds, bar: .none,
    ours: (
      "WorkQueue.run",
      { await measure(20_000) { count in for number in 0..<count { keep(try? await queue.run { number }) } } }
    ),
    other: (
      "a continuation and DispatchQueue.async",
      {
        await measure(20_000) { count in
          for _ in 0..<count { await withCheckedContinuation { waiter in peer.async { waiter.resume() } } }
        }
      }
    ))
}

private var singleFlight: Benchmark {
  let (flights, peer) = (SingleFlight<String, Int>(), NSLock())
  return Benchmark(
    name: "single-flight-join", bar: .none,
    ours: (
      "join, alone",
      { measure(500_000) { for number in 0..<$0 { flights.join("k", start: { $0(.success(number)) }) { keep($0) } } } }
    ),
    other: ("NSLock twice", { measure(500_000) { for _ in 0..<$0 { for _ in 0..<2 { peer.withLock { keep(1) } } } } }))
}

// MARK: - Listeners and streams

private var emit: Benchmark { emitBenchmark(name: "registry-emit-1000", listeners: 1_000, bar: .figure(atMost: 100)) }

private var emitFew: Benchmark { emitBenchmark(name: "registry-emit-1", listeners: 1, bar: .none) }

private func emitBenchmark(name: String, listeners: Int, bar: Benchmark.Bar) -> Benchmark {
  let (registry, ours, other) = (ListenerRegistry<Int>(), Counter(), Counter())
  for _ in 0..<listeners { registry.add { ours.value &+= $0 } }
  let closures: [@Sendable (Int) -> Void] = (0..<listeners).map { _ in { other.value &+= $0 } }
  let events = 2_000_000 / listeners
  return Benchmark(
    name: name, bar: bar,
    ours: (
      "emit, per listener", { measure(events) { for number in 0..<$0 { registry.emit(number) } } / Double(listeners) }
    ),
    other: (
      "an array of closures",
      { measure(events) { for number in 0..<$0 { for closure in closures { closure(number) } } } / Double(listeners) }
    ))
}

private var eventStream: Benchmark {
  Benchmark(
    name: "stream-events", bar: .none,
    ours: (
      "registry.events",
      {
        await measure(100_000) { count in
          let registry = ListenerRegistry<Int>()
          let stream = registry.events
          for number in 0..<count { registry.emit(number) }
          registry.finish()
          for await number in stream { keep(number) }
        }
      }
    ), other: ("AsyncStream", bareStream))
}

private var snapshotStream: Benchmark {
  Benchmark(
    name: "stream-snapshots", bar: .none,
    ours: (
      "registry.snapshots",
      {
        await measure(100_000) { count in
          let registry = ListenerRegistry<Int>()
          var iterator = registry.snapshots { $1 }.makeAsyncIterator()
          for number in 0..<count {
            registry.emit(number)
            keep(try? await iterator.next())
          }
        }
      }
    ), other: ("AsyncStream", bareStream))
}

private let bareStream: Benchmark.Run = {
  await measure(100_000) { count in
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
    for number in 0..<count { continuation.yield(number) }
    continuation.finish()
    for await number in stream { keep(number) }
  }
}
