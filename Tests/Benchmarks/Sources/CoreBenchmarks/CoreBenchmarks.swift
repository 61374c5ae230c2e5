public import BenchmarkKit
import Dispatch
import Foundation
import Synchronization
import VestaConcurrency
import VestaCore

/// The cost of apps and components.
public func coreBenchmarks() -> [Benchmark] {
  [resolve, resolveClass, resolveOnEightThreads, coreTimeOnEightThreads, requireCached, configure, quietLog]
}

private var resolve: Benchmark {
  let (container, table) = (makeApp().container, MutexTable())
  return Benchmark(
    name: "container-resolve", bar: .figure(atMost: 40),
    ours: ("resolve (any P)", { sum(5_000_000) { container.resolve((any Service).self)?.number ?? 0 } }),
    other: ("dictionary under a mutex", { sum(5_000_000) { table.service?.number ?? 0 } }))
}

private var resolveClass: Benchmark {
  let (container, table) = (makeApp().container, MutexTable())
  return Benchmark(
    name: "container-resolve-class", bar: .figure(atMost: 40),
    ours: ("resolve (class)", { sum(5_000_000) { container.resolve(ServiceImplementation.self)?.number ?? 0 } }),
    other: ("dictionary under a mutex", { sum(5_000_000) { table.service?.number ?? 0 } }))
}

private var requireCached: Benchmark {
  let container = makeApp().container
  return Benchmark(
    name: "container-require", bar: .none,
    ours: ("require (any P)", { sum(5_000_000) { (try? container.require((any Service).self))?.number ?? 0 } }),
    other: ("resolve (any P)", { sum(5_000_000) { container.resolve((any Service).self)?.number ?? 0 } }))
}

/// Look-ups by eight threads at once: the time that passes for each.
private var resolveOnEightThreads: Benchmark {
  let container = makeApp().container
  return Benchmark(
    name: "container-resolve-8-threads", bar: .ratio(atMost: 3),
    ours: ("resolve, 8 threads", { timeOnEightThreads(container) }),
    other: ("resolve, 1 thread", { sum(1_000_000) { container.resolve((any Service).self)?.number ?? 0 } }))
}

/// The same in time of one core: what is left are the references to one instance that all cores count.
private var coreTimeOnEightThreads: Benchmark {
  let container = makeApp().container
  let cores = Double(min(8, ProcessInfo.processInfo.activeProcessorCount))
  return Benchmark(
    name: "container-resolve-core-time", bar: .none,
    ours: ("resolve, 8 threads, core time", { timeOnEightThreads(container) * cores }),
    other: ("resolve, 1 thread", { sum(1_000_000) { container.resolve((any Service).self)?.number ?? 0 } }))
}

private func timeOnEightThreads(_ container: ComponentContainer) -> Double {
  let (threads, each) = (8, 1_000_000)
  let elapsed = ContinuousClock().measure {
    DispatchQueue.concurrentPerform(iterations: threads) { _ in
      keep(sum(each) { container.resolve((any Service).self)?.number ?? 0 })
    }
  }
  return elapsed / .nanoseconds(1) / Double(threads * each) / 1.1  // `sum` warms up for a tenth
}

private var configure: Benchmark {
  let libraries = manyLibraries(20)
  let number = Level()
  return Benchmark(
    name: "configure-20-libraries", unit: .microseconds, bar: .figure(atMost: 1_000),
    ours: (
      "configure",
      {
        measure(200) { count in
          for _ in 0..<count {
            let name = "bench-\(number.value.add(1, ordering: .relaxed).newValue)"
            keep(try? VestaApp.configure(name: name, options: VestaOptions(), libraries: libraries))
          }
        }
      }
    ),
    other: (
      "asking 20 libraries for components",
      { measure(200) { count in for _ in 0..<count { keep(libraries.flatMap { $0.components() }.count) } } }
    ))
}

private var quietLog: Benchmark {
  let log = Logger(service: "bench")
  let level = Level()
  return Benchmark(
    name: "log-below-level", bar: .none,
    ours: ("debug", { measure(5_000_000) { for number in 0..<$0 { log.debug("I-BEN000001", "number \(number)") } } }),
    other: ("atomic load", { sum(5_000_000) { level.value.load(ordering: .relaxed) } }))
}

/// An atomic number that closures can share.
private final class Level: Sendable {
  let value = Atomic<Int>(5)
}
