/// One line of the table: something of ours next to the limit or the peer that it is compared with.
///
/// ```swift
/// Benchmark(
///   name: "locked", unit: .nanoseconds, bar: .ratio(atMost: 1.3),
///   ours: ("Locked", { measure(1_000_000) { count in for _ in 0..<count { locked.withLock { $0 += 1 } } } }),
///   other: ("pthread mutex", { … }))
/// ```
public struct Benchmark: Sendable {
  /// The unit of a figure.
  public enum Unit: String, Sendable {
    /// Time per operation; less is better.
    case nanoseconds = "ns"
    /// Time per operation; less is better.
    case microseconds = "us"
    /// Memory, in bytes; less is better.
    case kibibytes = "KiB"
    /// Calls of the allocator per operation; fewer is better.
    case allocations
  }

  /// The bar: the ratio to reach.
  public enum Bar: Sendable {
    /// Ours costs at most a multiple of the other.
    case ratio(atMost: Double)
    /// Ours costs at most so much, whatever the other costs.
    case figure(atMost: Double)
    /// Ours costs at most a figure, and at most a multiple of the other.
    case both(figure: Double, ratio: Double)
    /// Nothing: the line informs.
    case none
  }

  /// A way to measure: returns the cost of one operation, in nanoseconds, bytes or calls.
  public typealias Run = @Sendable () async -> Double

  /// A way to measure many operations one by one: returns the nanoseconds of each.
  public typealias Samples = @Sendable () async -> [Double]

  /// The name by which the line is chosen and compared; it stays as it is.
  public let name: String

  /// The unit of the figures.
  public let unit: Unit

  /// The bar: the ratio to reach.
  public let bar: Bar

  /// The name of Vesta's line, and its measurement.
  public let ours: (label: String, run: Run)

  /// The name of the line that it is compared with, and its measurement.
  public let other: (label: String, run: Run)

  /// Measures single operations of ours, in nanoseconds: their percentiles stand in the line.
  public let samples: Samples?

  /// Measures single operations of the other.
  public let otherSamples: Samples?

  /// How often both are measured, in turns; the figures are medians.
  public let rounds: Int

  /// The reason why there is nothing to measure, which stands in place of the figures.
  public let absence: String?

  /// Describes a line.
  ///
  /// - Parameters:
  ///   - name: The name by which it is chosen and compared.
  ///   - unit: The unit of the figures.
  ///   - bar: The bound of the result.
  ///   - ours: The name of ours, and its measurement.
  ///   - other: The name of the other, and its measurement.
  ///   - rounds: How often both are measured, in turns. Where the ratio of similar costs counts, many short rounds say
  ///     more than few long ones: the clock of a processor changes within seconds.
  ///   - samples: Measures single operations of ours, for percentiles.
  ///   - otherSamples: Measures single operations of the other.
  public init(
    name: String, unit: Unit = .nanoseconds, bar: Bar, ours: (label: String, run: Run),
    other: (label: String, run: Run), rounds: Int = 5, samples: Samples? = nil, otherSamples: Samples? = nil
  ) {
    self.name = name
    self.unit = unit
    self.bar = bar
    self.ours = ours
    self.other = other
    self.rounds = rounds
    self.samples = samples
    self.otherSamples = otherSamples
    absence = nil
  }

  /// A line that has no figures here, with the reason.
  public init(name: String, absence: String) {
    self.name = name
    unit = .nanoseconds
    bar = .none
    ours = ("", { 0 })
    other = ("", { 0 })
    rounds = 0
    samples = nil
    otherSamples = nil
    self.absence = absence
  }
}

/// Times `body`, after a short warm-up.
///
/// - Parameters:
///   - count: How many operations to do.
///   - body: Does the given number of operations.
/// - Returns: Nanoseconds per operation.
@inlinable
public func measure(_ count: Int, _ body: (Int) -> Void) -> Double {
  body(max(1, count / 10))
  let clock = ContinuousClock()
  return (clock.measure { body(count) } / .nanoseconds(1)) / Double(count)
}

/// Times an operation that yields a number; the sum is kept, so that the optimiser cannot drop the operation.
///
/// - Parameters:
///   - count: How often to do it.
///   - operation: The operation.
/// - Returns: Nanoseconds per operation.
@inlinable
public func sum(_ count: Int, _ operation: () -> Int) -> Double {
  var total = 0
  defer { keep(total) }
  return measure(count) { for _ in 0..<$0 { total &+= operation() } }
}

/// Times each of many operations by itself; the cost of reading the clock is in every figure.
///
/// - Parameters:
///   - count: How many operations to time.
///   - operation: One operation.
/// - Returns: Nanoseconds of each.
@inlinable
public func samples(_ count: Int, _ operation: () -> Int) -> [Double] {
  var total = 0
  defer { keep(total) }
  for _ in 0..<(count / 10) { total &+= operation() }
  let clock = ContinuousClock()
  return (0..<count).map { _ in
    let start = clock.now
    total &+= operation()
    return (clock.now - start) / .nanoseconds(1)
  }
}

/// Times an asynchronous `body`, after a short warm-up.
///
/// - Parameters:
///   - count: How many operations to do.
///   - body: Does the given number of operations.
/// - Returns: Nanoseconds per operation.
@inlinable
public func measure(_ count: Int, _ body: (Int) async -> Void) async -> Double {
  await body(max(1, count / 10))
  let clock = ContinuousClock()
  let start = clock.now
  await body(count)
  return ((clock.now - start) / .nanoseconds(1)) / Double(count)
}

/// Keeps the optimiser from dropping what was computed.
///
/// - Parameter value: The computed value.
@inline(never)
public func keep<Value>(_ value: Value) {}
