import VestaBytes
public import VestaEventsInterop
public import VestaTesting

/// A delivery to functions of another program, with the program in the hands of the checks.
public struct EventTriggerDeliverySubject: Sendable {
  /// One call of a function.
  public struct Call: Sendable, Hashable {
    /// The id of the event.
    public var event: String
    /// The name of the function.
    public var function: String
    /// The project.
    public var project: String

    /// A call.
    public init(event: String, function: String, project: String) {
      (self.event, self.function, self.project) = (event, function, project)
    }
  }

  /// The program's answer to a call.
  public enum Answer: Sendable {
    /// The function has succeeded.
    case success
    /// The function has failed.
    case failure
    /// The program cannot be reached.
    case unreachable
    /// There is no answer.
    case silence
  }

  /// The delivery.
  public let delivery: any EventTriggerDelivery
  /// The calls that have reached the program, the failed ones included.
  public let calls: @Sendable () -> [Call]
  /// Sets what the program does from now on; it succeeds at first.
  public let answer: @Sendable (Answer) -> Void

  /// A delivery whose program is as the checks set it.
  public init(
    _ delivery: any EventTriggerDelivery, calls: @escaping @Sendable () -> [Call],
    answer: @escaping @Sendable (Answer) -> Void
  ) {
    self.delivery = delivery
    self.calls = calls
    self.answer = answer
  }

  fileprivate func deliver(_ id: String, to function: String = "f", of project: String = "p") async throws {
    let event = Event(
      id: id, type: .documentCreated, source: "//firestore.googleapis.com/(default)", scope: "(default)",
      path: "rooms/\(id)", time: 1, data: ["n": 1])
    let trigger = EventTrigger(
      key: function, eventType: "google.cloud.firestore.document.v1.created", generation: .cloudEvent,
      types: [.documentCreated], scope: "(default)")
    try await delivery.deliver(event, to: trigger, of: project)
  }
}

/// The promises of `EventTriggerDelivery`.
public enum EventTriggerDeliveryContracts {
  /// Every promise; each is checked on a fresh subject.
  public static let all: [Contract<EventTriggerDeliverySubject>] = [
    Contract("a delivery that has returned has called the function of its project, once") { subject in
      for (event, function, project) in [("1", "f", "p"), ("2", "g", "p"), ("3", "f", "q")] {
        try await subject.deliver(event, to: function, of: project)
      }
      try expect(
        subject.calls(),
        equals: [
          .init(event: "1", function: "f", project: "p"), .init(event: "2", function: "g", project: "p"),
          .init(event: "3", function: "f", project: "q"),
        ], "calls")
    },
    Contract("a function that fails, and a program that cannot be reached, are errors") { subject in
      for answer in [EventTriggerDeliverySubject.Answer.failure, .unreachable] {
        subject.answer(answer)
        _ = try await expectThrows((any Error).self, "a delivery with the answer \(answer)") {
          try await subject.deliver("1")
        }
      }
    },
    Contract("a delivery that is made again has the same id, and one after a failure succeeds") { subject in
      subject.answer(.failure)
      _ = try? await subject.deliver("1")
      subject.answer(.success)
      try await subject.deliver("1")
      let calls = subject.calls()
      try expect(Set(calls.map(\.event)), equals: ["1"], "ids")
      try expect(calls.count, equals: 2, "the number of calls")
    },
    Contract("a cancelled delivery ends, and the next one is made") { subject in
      subject.answer(.silence)
      let task = Task { try await subject.deliver("1") }
      while subject.calls().isEmpty { await Task.yield() }
      task.cancel()
      guard case .failure = await task.result else { throw ContractViolation("a cancelled delivery has succeeded") }
      subject.answer(.success)
      try await subject.deliver("2")
      try expect(subject.calls().map(\.event), equals: ["1", "2"], "calls")
    },
    Contract("deliveries at the same time are all made") { subject in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<32 { group.addTask { try await subject.deliver("\(number)", to: "f\(number % 4)") } }
        try await group.waitForAll()
      }
      let expected = Set(
        (0..<32).map { EventTriggerDeliverySubject.Call(event: "\($0)", function: "f\($0 % 4)", project: "p") })
      try expect(subject.calls().count, equals: 32, "the number of calls")
      try expect(Set(subject.calls()), equals: expected, "calls")
    },
    Contract("standing triggers have a name each, and types") { subject in
      let standing = subject.delivery.standing
      try expect(Set(standing.map(\.key)).count, equals: standing.count, "the number of names")
      try expect(standing.allSatisfy { !$0.key.isEmpty && !$0.types.isEmpty }, "a trigger has no name or no types")
      try expect(subject.delivery.standing.map(\.key), equals: standing.map(\.key), "triggers that are asked for again")
    },
  ]
}
