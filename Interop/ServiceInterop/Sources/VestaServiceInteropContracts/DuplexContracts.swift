import VestaConcurrency
public import VestaServiceInterop
public import VestaTesting

/// A duplex call whose backend takes requests when the check says so.
public struct DuplexSubject: Sendable {
  let call: DuplexCall<Int, Int>
  let take: @Sendable (_ count: Int) -> Void
  let end: @Sendable () -> Void

  /// A subject.
  ///
  /// - Parameters:
  ///   - call: The call.
  ///   - take: Has the backend take a number of requests.
  ///   - end: Has the backend end the call.
  public init(
    _ call: DuplexCall<Int, Int>, take: @escaping @Sendable (_ count: Int) -> Void, end: @escaping @Sendable () -> Void
  ) {
    self.call = call
    self.take = take
    self.end = end
  }
}

/// The promises of a duplex call on requests that its backend does not take.
public enum DuplexContracts {
  /// All promises.
  public static let all: [Contract<DuplexSubject>] = [
    Contract("requests that the backend does not take are counted") { subject in
      for number in 0..<10 { subject.call.send(number) }
      try expect(subject.call.pendingRequests, equals: 10, "the pending requests")
      subject.take(4)
      try expect(subject.call.pendingRequests, equals: 6, "the pending requests, after four were taken")
    },
    Contract("a sender that waits is held back, and continues when requests are taken") { subject in
      for number in 0..<10 { subject.call.send(number) }
      try await subject.call.ready(below: 11)
      let passed = Locked(false)
      let sender = Task {
        try await subject.call.ready(below: 8)
        passed.withLock { $0 = true }
      }
      subject.take(2)
      for _ in 0..<200 { await Task.yield() }
      try expect(!passed.withLock { $0 }, "the sender continued with 8 pending requests")
      subject.take(1)
      try await sender.value
    },
    Contract("a sender that keeps to the window holds memory flat") { subject in
      let highest = Locked(0)
      let sender = Task {
        for number in 0..<1_000 {
          try await subject.call.ready(below: 4)
          subject.call.send(number)
          let pending = subject.call.pendingRequests
          highest.withLock { $0 = max($0, pending) }
        }
      }
      let taker = Task {
        while !Task.isCancelled {
          subject.take(1)
          await Task.yield()
        }
      }
      try await sender.value
      taker.cancel()
      try expect(highest.withLock { $0 } <= 4, "more requests were pending than the window has")
    },
    Contract("the end of the call and a cancellation end the wait") { subject in
      for number in 0..<4 { subject.call.send(number) }
      let cancelled = Task { try await subject.call.ready(below: 1) }
      cancelled.cancel()
      let outcome = await cancelled.result
      if case .success = outcome { throw ContractViolation("a cancelled wait returned as if requests were taken") }
      let waiting = Task { try await subject.call.ready(below: 1) }
      for _ in 0..<50 { await Task.yield() }
      subject.end()
      try await waiting.value
      try await subject.call.ready(below: 1)
    },
  ]
}
