import Dispatch
import Foundation

/// Runs the benchmarks that a filter names, and prints a line for each.
///
/// Call it from a task that is not on the main actor: every call from there would hop.
///
/// - Parameters:
///   - benchmarks: All benchmarks.
///   - filters: Names, or parts of them; a whole name stands for that benchmark alone, none means everything.
public func runBenchmarks(_ benchmarks: [Benchmark], filters: [String]) async {
  let names = Set(benchmarks.map(\.name))
  let chosen = benchmarks.filter { benchmark in
    filters.isEmpty || filters.contains { names.contains($0) ? benchmark.name == $0 : benchmark.name.contains($0) }
  }
  // The C library takes shortcuts in a process of one thread, so there are some more.
  let company = LiveThreads(count: 2)
  print(row("name", "ours", "limit or peer", "ratio", "bar", ""))
  for benchmark in chosen {
    print(await line(for: benchmark))
    // A run takes many minutes: each line is to be seen, also in a file, when it is there.
    fflush(nil)
  }
  company.end()
}

private func line(for benchmark: Benchmark) async -> String {
  if let absence = benchmark.absence { return row(benchmark.name, absence) }
  var (ours, others) = ([Double](), [Double]())
  for round in 0..<benchmark.rounds {
    // In turns also within a round: the one that is first has the warmer or the colder caches.
    if round % 2 == 0 { ours.append(await benchmark.ours.run()) }
    others.append(await benchmark.other.run())
    if round % 2 == 1 { ours.append(await benchmark.ours.run()) }
  }
  let (our, other) = (median(ours), median(others))
  // The ratio of each round, as both sides of a round had the same company.
  let ratio = median(zip(ours, others).map { $0 / $1 })
  let unit = benchmark.unit
  return row(
    benchmark.name, "\(benchmark.ours.label) \(format(our, unit))\(await percentiles(benchmark.samples, unit))",
    "\(benchmark.other.label) \(format(other, unit))\(await percentiles(benchmark.otherSamples, unit))",
    format(ratio), barText(benchmark.bar, unit), verdict(benchmark.bar, our, ratio, unit))
}

/// The median and the 99th of a hundred single operations; nothing where they are not measured.
private func percentiles(_ samples: Benchmark.Samples?, _ unit: Benchmark.Unit) async -> String {
  guard let sorted = await samples?().sorted(), !sorted.isEmpty else { return "" }
  let (half, most) = (sorted[sorted.count / 2], sorted[min(sorted.count - 1, sorted.count * 99 / 100)])
  return " (p50 \(format(half, unit)), p99 \(format(most, unit)))"
}

private func barText(_ bar: Benchmark.Bar, _ unit: Benchmark.Unit) -> String {
  switch bar {
  case .ratio(let most): "<= \(format(most))x"
  case .figure(let most): "<= \(format(most)) \(unit.rawValue)"
  case .both(let figure, let ratio): "<= \(format(figure)) \(unit.rawValue), \(format(ratio))x"
  case .none: "-"
  }
}

private func verdict(_ bar: Benchmark.Bar, _ our: Double, _ ratio: Double, _ unit: Benchmark.Unit) -> String {
  switch bar {
  case .ratio(let most): ratio <= most ? "met" : "missed"
  case .figure(let most): scaled(our, unit) <= most ? "met" : "missed"
  case .both(let figure, let most): scaled(our, unit) <= figure && ratio <= most ? "met" : "missed"
  case .none: ""
  }
}

private func scaled(_ cost: Double, _ unit: Benchmark.Unit) -> Double {
  switch unit {
  case .nanoseconds: cost
  case .microseconds: cost / 1_000
  case .kibibytes: cost / 1_024
  case .allocations: cost
  }
}

private func format(_ cost: Double, _ unit: Benchmark.Unit) -> String {
  "\(format(scaled(cost, unit))) \(unit.rawValue)"
}

/// Two digits behind the point.
private func format(_ number: Double) -> String {
  // Where the other column is nothing, there is no ratio.
  guard number.isFinite else { return "-" }
  let hundredths = Int((number * 100).rounded())
  let rest = hundredths % 100
  return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
}

private func median(_ figures: [Double]) -> Double { figures.sorted()[figures.count / 2] }

private func row(_ columns: String...) -> String {
  zip(columns, [30, 38, 42, 7, 14, 6]).map { column, width in
    column + String(repeating: " ", count: max(0, width - column.count))
  }.joined(separator: "| ")
}

/// Threads that are there and do nothing.
private struct LiveThreads {
  private let leave = DispatchSemaphore(value: 0)
  private let count: Int

  init(count: Int) {
    self.count = count
    let arrived = DispatchSemaphore(value: 0)
    for number in 0..<count {
      DispatchQueue(label: "company \(number)").async { [leave] in
        arrived.signal()
        leave.wait()
      }
    }
    for _ in 0..<count { arrived.wait() }
  }

  func end() { for _ in 0..<count { leave.signal() } }
}
