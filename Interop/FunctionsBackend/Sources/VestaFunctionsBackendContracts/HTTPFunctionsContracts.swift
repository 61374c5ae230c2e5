import VestaConcurrency
import VestaFunctionsBackend
public import VestaHTTPFunctionsBackend
import VestaServiceInterop
public import VestaTesting
import VestaTransportInterop

/// A backend with the functions that the contracts ask, in the region `us-central1`.
///
/// | function | does |
/// |---|---|
/// | `mirror` | answers 201 with the body of the request, and the method and the target in the field `x-mirror` |
/// | `crash` | throws an error that is no failure of a call |
/// | `wait` | waits until it is cancelled, and notes that in `cancellations` |
/// | `pieces` | answers with the body `one`, and after it, when the first piece was read, `two` |
/// | `echo` | is a callable function |
public struct HTTPFunctionsSubject: Sendable {
  /// The backend.
  public let backend: any HTTPFunctionsBackend

  /// Gets one entry for each request to `wait` that was cancelled.
  public let cancellations: Log<String>

  /// Gets one entry for each request to `wait` that has begun.
  public let beginnings: Log<String>

  /// The time that a check waits for an event before it fails.
  public let patience: Duration

  /// A subject.
  public init(
    backend: any HTTPFunctionsBackend, beginnings: Log<String>, cancellations: Log<String>,
    patience: Duration = .seconds(60)
  ) {
    self.backend = backend
    self.beginnings = beginnings
    self.cancellations = cancellations
    self.patience = patience
  }
}

/// The promises of `HTTPFunctionsBackend`, for any implementation.
public enum HTTPFunctionsContracts {
  /// All of them.
  public static let all: [Contract<HTTPFunctionsSubject>] = [
    Contract("a function gets the request as it came, and its response leaves as it made it") { subject in
      let sent = HTTPRequest(.put, "/a%20b?c=d", authority: "host", body: .text("body"))
      let answer = try await subject.backend.respond(to: sent, by: target("mirror"), context: CallContext())
      try expect(answer.status.code, equals: 201, "status")
      try expect(answer.fields.first("x-mirror"), equals: "PUT /a%20b?c=d", "field")
      try expect(try await answer.body.collect(upTo: 100), equals: Array("body".utf8), "body")
    },
    Contract("a streamed response arrives while it is written") { subject in
      let answer = try await subject.backend.respond(to: request, by: target("pieces"), context: CallContext())
      let stream = answer.body.stream
      try expect(try await stream.next(), equals: Array("one".utf8), "the first piece")
      try await expectEnd(within: subject.patience, of: "the rest") {
        try expect(try await stream.next(), equals: Array("two".utf8), "the second piece")
        try expect(try await stream.next(), equals: nil, "the end")
      }
    },
    Contract("functions that are called are told from those that answer requests") { subject in
      try expect(subject.backend.kind(of: target("mirror")), equals: .request, "mirror")
      try expect(subject.backend.kind(of: target("echo")), equals: .callable, "echo")
      try expect(subject.backend.kind(of: target("nobody")), equals: nil, "nobody")
      try expect(subject.backend.kind(of: .name("mirror", region: "europe-west1")), equals: nil, "another region")
    },
    Contract("an unknown function is not found") { subject in
      let error = try await expectThrows(FunctionsServiceError.self, "nobody") {
        try await subject.backend.respond(to: request, by: target("nobody"), context: CallContext())
      }
      try expect(error.code, equals: .notFound, "code")
    },
    Contract("an error that is no failure of a call is INTERNAL, and reveals nothing") { subject in
      let error = try await expectThrows(FunctionsServiceError.self, "crash") {
        try await subject.backend.respond(to: request, by: target("crash"), context: CallContext())
      }
      try expect(error, equals: FunctionsServiceError(.internal, "INTERNAL"), "failure")
    },
    Contract("a cancelled request ends at once, and the function is cancelled") { subject in
      let running = Task {
        try await subject.backend.respond(to: request, by: target("wait"), context: CallContext())
      }
      try await expectEnd(within: subject.patience, of: "the wait for a function that begins") {
        await subject.beginnings.wait { $0.count == 1 }
      }
      running.cancel()
      let error = try await expectThrows(FunctionsServiceError.self, "wait") {
        try await expectEnd(within: subject.patience, of: "the cancelled request") { _ = try await running.value }
      }
      try expect(error.code, equals: .cancelled, "code")
      try await expectEnd(within: subject.patience, of: "the wait for a function that is cancelled") {
        await subject.cancellations.wait { $0.count == 1 }
      }
    },
    Contract("a request whose deadline has passed does not begin") { subject in
      let late = CallContext(deadline: 1)
      let error = try await expectThrows(FunctionsServiceError.self, "wait") {
        try await expectEnd(within: subject.patience, of: "the late request") {
          _ = try await subject.backend.respond(to: request, by: target("wait"), context: late)
        }
      }
      try expect(error.code, equals: .deadlineExceeded, "code")
      try expect(subject.beginnings.entries.count, equals: 0, "requests that have begun")
    },
  ]

  private static let request = HTTPRequest(.get, "/", authority: "host")

  private static func target(_ name: String) -> FunctionTarget { .name(name, region: "us-central1") }
}
