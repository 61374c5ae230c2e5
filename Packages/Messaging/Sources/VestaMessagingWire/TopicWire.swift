public import VestaBytes
public import VestaMessagingBackend
import VestaServiceInterop

/// The bodies of `iid/v1:batchAdd` and `iid/v1:batchRemove`, and back.
public enum TopicWire {
  /// The bounds of bodies: a thousand tokens.
  public static let limits = JSONLimits(maximumDepth: 8, maximumSize: 1 << 20)

  /// Registrations and a topic.
  public struct Request: Sendable, Hashable {
    /// The topic, without its prefix.
    public var topic: String
    /// The registrations.
    public var tokens: [String]

    /// A request.
    public init(topic: String, tokens: [String]) {
      self.topic = topic
      self.tokens = tokens
    }
  }

  /// The body of a request.
  public static func body(of request: Request) -> [UInt8] {
    let object: JSONObject = [
      "to": .string("/topics/\(request.topic)"), "registration_tokens": .array(request.tokens.map { .string($0) }),
    ]
    return (try? object.json()) ?? []
  }

  /// Reads the body of a request.
  ///
  /// - Throws: `MessagingServiceError` with the field that is wrong.
  public static func request(_ body: [UInt8]) throws(MessagingServiceError) -> Request {
    let object: JSONObject
    do { object = try JSONObject(json: body, limits: limits) } catch { throw .invalid("body", "\(error)") }
    guard let to = object["to"]?.string else { throw .invalid("to", "The topic is missing.") }
    let list = object["registration_tokens"]?.array ?? []
    let tokens = list.compactMap(\.string)
    guard tokens.count == list.count else { throw .invalid("registration_tokens", "Tokens are texts.") }
    return Request(topic: try TopicName.checked(to, field: "to"), tokens: tokens)
  }

  /// The body of the answer.
  public static func body(of results: [MessagingServiceError?]) -> [UInt8] {
    let list = results.map { error -> JSONValue in
      .object(error.map { JSONObject(dictionaryLiteral: ("error", .string(word(of: $0)))) } ?? JSONObject())
    }
    return (try? JSONObject(dictionaryLiteral: ("results", .array(list))).json()) ?? []
  }

  /// The body of a refusal of the whole request.
  public static func body(ofFailure error: MessagingServiceError) -> [UInt8] {
    (try? JSONObject(dictionaryLiteral: ("error", .string(word(of: error)))).json()) ?? []
  }

  /// Reads the answer: for each registration `nil`, or why it was refused.
  ///
  /// - Parameters:
  ///   - body: The body.
  ///   - count: The number of registrations of the request.
  public static func results(_ body: [UInt8], of count: Int) throws(BytesError) -> [MessagingServiceError?] {
    guard let list = try JSONObject(json: body, limits: limits)["results"]?.array, list.count == count else {
      throw BytesError(.malformed, "the answer has no result for each registration")
    }
    return list.map { $0.object?["error"]?.string.map(failure) }
  }

  private static func failure(_ word: String) -> MessagingServiceError {
    switch word {
    case "NOT_FOUND": .unregistered
    case "TOO_MANY_TOPICS":
      MessagingServiceError(.resourceExhausted, "TOO_MANY_TOPICS: the registration has as many topics as it may have.")
    default: MessagingServiceError(ServiceCode(name: word) ?? .internal, "The service has answered \(word).")
    }
  }

  private static func word(of error: MessagingServiceError) -> String {
    switch error.code {
    case .notFound: "NOT_FOUND"
    case .invalidArgument: "INVALID_ARGUMENT"
    case .resourceExhausted: error.message.hasPrefix("TOO_MANY_TOPICS") ? "TOO_MANY_TOPICS" : "RESOURCE_EXHAUSTED"
    case .unauthenticated, .permissionDenied, .unavailable, .unimplemented: error.code.name
    default: "INTERNAL"
    }
  }
}
