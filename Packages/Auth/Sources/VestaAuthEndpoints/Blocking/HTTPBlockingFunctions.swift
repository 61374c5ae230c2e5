public import VestaAuthBackend
import VestaAuthWire
import VestaBytes
public import VestaServiceInterop
public import VestaTransportInterop

/// Asks blocking functions by requests of HTTP, as the Firebase CLI's suite asks them; a server provides it to the
/// engine of each project.
///
/// A function gets an unsigned token with the account. Its answer changes the account; a status that is no success
/// refuses the sign-in, and its body reaches the client.
public struct HTTPBlockingFunctions: AuthBlockingFunctions {
  private let clock: ServiceClock
  private let tuning: BlockingTuning
  private let client: @Sendable () throws -> (any HTTPClient)?

  /// Functions.
  ///
  /// - Parameters:
  ///   - clock: The clock of tokens.
  ///   - tuning: The figures at which the behaviour changes.
  ///   - client: Returns the client of HTTP.
  public init(
    clock: ServiceClock, tuning: BlockingTuning = BlockingTuning(),
    client: @escaping @Sendable () throws -> (any HTTPClient)?
  ) {
    (self.clock, self.tuning, self.client) = (clock, tuning, client)
  }

  /// Asks a function.
  public func answer(to question: BlockingQuestion) async throws(AuthServiceError) -> BlockingAnswer {
    var question = question
    question.userAgent = question.userAgent ?? AskingClient.userAgent
    let (status, body) = try await response(to: question)
    guard status.isSuccess else {
      let text = String(decoding: body, as: UTF8.self)
      throw BlockingFunctionsWire.failure(
        "HTTP request to \(question.url) returned HTTP error \(status.code): \(text)")
    }
    return try BlockingFunctionsWire.answer(body, question.event)
  }

  private func response(to question: BlockingQuestion) async throws(AuthServiceError) -> (HTTPStatus, body: [UInt8]) {
    guard let url = HTTPURL(question.url), let client = try? client() else {
      throw BlockingFunctionsWire.failure("Failed to make request to \(question.url).")
    }
    do {
      let id = String(UInt64.random(in: 0..<UInt64.max), radix: 36)
      let sent = try BlockingFunctionsWire.body(of: question, id: id, now: clock.now() / 1_000_000)
      let request = HTTPRequest(.post, url, fields: [.contentType: "application/json"], body: .bytes(sent))
      let (head, body) = try await client.send(
        request, collecting: tuning.bodyLimit, within: tuning.timeout, by: clock)
      return (head.status, body)
    } catch let error as TransportError where error.code == .timedOut {
      throw BlockingFunctionsWire.failure("Deadline exceeded making request to \(question.url).")
    } catch {
      throw BlockingFunctionsWire.failure("Failed to make request to \(question.url).")
    }
  }
}

/// The client for whose call a function is asked.
///
/// The engine knows callers by a context that has no name of their program, and asks in the task of the call: the
/// endpoints leave the name there.
enum AskingClient {
  /// The `user-agent` of the request.
  @TaskLocal static var userAgent: String?
}

/// The figures of questions to blocking functions; small in tests.
public struct BlockingTuning: Sendable, Hashable {
  /// How long a function may take.
  public var timeout = Duration.seconds(60)

  /// The most bytes of an answer.
  public var bodyLimit = 1 << 20

  /// Figures that suit upstream's functions.
  public init() {}
}
