import VestaBytes
public import VestaFunctionsBackend
import VestaServiceInterop
public import VestaTesting

/// A backend with the functions that the contracts call, in the region `us-central1`.
///
/// | function | does |
/// |---|---|
/// | `echo` | returns its data |
/// | `fail` | fails with `ALREADY_EXISTS`, the message "taken" and the details `{"by": "ada"}` |
/// | `crash` | throws an error that is no failure of a call |
/// | `wait` | waits until it is cancelled, and notes that in `cancellations` |
/// | `count` | streams the messages 1, 2, … up to its data, and returns "done" |
/// | `countAndFail` | streams the messages 1 and 2, then fails as `fail` does |
public struct FunctionsSubject: Sendable {
  /// The backend.
  public let backend: any FunctionsBackend

  /// Gets one entry for each call of `wait` that was cancelled.
  public let cancellations: Log<String>

  /// Gets one entry for each call of `wait` that has begun.
  public let beginnings: Log<String>

  /// The time that a check waits for an event before it fails.
  public let patience: Duration

  /// A subject.
  public init(
    backend: any FunctionsBackend, beginnings: Log<String>, cancellations: Log<String>,
    patience: Duration = .seconds(60)
  ) {
    self.backend = backend
    self.beginnings = beginnings
    self.cancellations = cancellations
    self.patience = patience
  }

  fileprivate func waitForBeginning() async throws {
    try await expectEnd(within: patience, of: "the wait for a call that begins") { [beginnings] in
      await beginnings.wait { $0.count == 1 }
    }
  }

  fileprivate func waitForCancellation() async throws {
    try await expectEnd(within: patience, of: "the wait for a function that is cancelled") {
      [cancellations] in await cancellations.wait { $0.count == 1 }
    }
  }
}

/// The promises of `FunctionsBackend`, for any implementation.
public enum FunctionsContracts {
  /// All of them.
  public static let all: [Contract<FunctionsSubject>] = [
    Contract("a call returns what the function returns") { subject in
      let data: JSONValue = ["a": [1, 2.5, nil, true, "ü"], "b": ["c": [:]]]
      try expect(try await subject.backend.call(call("echo", data), context: context), equals: data, "result")
    },
    Contract("a failure has the function's code, message and details") { subject in
      let error = try await expectThrows(FunctionsServiceError.self, "fail") {
        try await subject.backend.call(call("fail"), context: context)
      }
      try expect(
        error, equals: FunctionsServiceError(.alreadyExists, "taken", details: ["by": "ada"]), "failure")
    },
    Contract("an error that is no failure of a call is INTERNAL, and reveals nothing") { subject in
      let error = try await expectThrows(FunctionsServiceError.self, "crash") {
        try await subject.backend.call(call("crash"), context: context)
      }
      try expect(error, equals: FunctionsServiceError(.internal, "INTERNAL"), "failure")
    },
    Contract("an unknown function is not found, also in another region") { subject in
      for target in [FunctionTarget.name("nobody", region: "us-central1"), .name("echo", region: "europe-west1")] {
        let error = try await expectThrows(FunctionsServiceError.self, "\(target)") {
          try await subject.backend.call(FunctionCall(target), context: context)
        }
        try expect(error.code, equals: .notFound, "code for \(target)")
      }
    },
    Contract("a function is found by its URL") { subject in
      let target = FunctionTarget.url("https://us-central1-project.cloudfunctions.net/echo")
      try expect(
        try await subject.backend.call(FunctionCall(target, data: 7), context: context), equals: 7, "result")
    },
    Contract("a cancelled call ends at once, and the function is cancelled") { subject in
      let running = Task { try await subject.backend.call(call("wait"), context: context) }
      try await subject.waitForBeginning()
      running.cancel()
      let error = try await expectThrows(FunctionsServiceError.self, "wait") {
        try await expectEnd(within: subject.patience, of: "the cancelled call") { try await running.value }
      }
      try expect(error.code, equals: .cancelled, "code")
      try await subject.waitForCancellation()
    },
    Contract("a call whose deadline has passed does not begin") { subject in
      var late = context
      late.deadline = 1
      let error = try await expectThrows(FunctionsServiceError.self, "wait") {
        try await expectEnd(within: subject.patience, of: "the late call") { [late] in
          try await subject.backend.call(call("wait"), context: late)
        }
      }
      try expect(error.code, equals: .deadlineExceeded, "code")
      try expect(subject.beginnings.entries.count, equals: 0, "calls that have begun")
    },
    Contract("a stream has the messages in order, then the result, then the end") { subject in
      var events: [FunctionEvent] = []
      for try await event in subject.backend.stream(call("count", 100), context: context) { events.append(event) }
      try expect(
        events, equals: (1...100).map { .message(.integer($0)) } + [.result("done")], "events")
    },
    Contract("a stream throws the function's failure after the messages before it") { subject in
      var events: [FunctionEvent] = []
      do {
        for try await event in subject.backend.stream(call("countAndFail"), context: context) { events.append(event) }
        try expect(false, "the stream ended without an error")
      } catch let error as FunctionsServiceError {
        try expect(error.code, equals: .alreadyExists, "code")
      }
      try expect(events, equals: [.message(1), .message(2)], "events")
    },
    Contract("leaving a stream cancels the function") { subject in
      let reader = Task {
        for try await _ in subject.backend.stream(call("wait"), context: context) {}
      }
      try await subject.waitForBeginning()
      reader.cancel()
      try await subject.waitForCancellation()
      _ = await reader.result
    },
    Contract("a stream of a function that does not stream has its result alone") { subject in
      var events: [FunctionEvent] = []
      for try await event in subject.backend.stream(call("echo", 7), context: context) { events.append(event) }
      try expect(events, equals: [.result(7)], "events")
    },
    Contract("a call of a streaming function returns its result") { subject in
      try expect(
        try await subject.backend.call(call("count", 1000), context: context), equals: "done", "result")
    },
    Contract("a credential that cannot be verified is refused, and no function begins") { subject in
      for credential in [Credential.idToken("a.b.c"), .bearer("owner")] {
        let forged = CallContext(caller: .credential(credential))
        let refused = try await expectThrows(FunctionsServiceError.self, "a call with \(credential)") {
          try await subject.backend.call(call("echo"), context: forged)
        }
        try expect(refused.code, equals: .unauthenticated, "code of the call")
        let ended = try await expectThrows(FunctionsServiceError.self, "a stream with \(credential)") {
          for try await _ in subject.backend.stream(call("count", 1), context: forged) {}
        }
        try expect(ended.code, equals: .unauthenticated, "code of the stream")
      }
    },
  ]

  private static let context = CallContext()

  private static func call(_ name: String, _ data: JSONValue = .null) -> FunctionCall {
    FunctionCall(.name(name, region: "us-central1"), data: data)
  }
}
