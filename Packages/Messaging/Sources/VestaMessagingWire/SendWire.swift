public import VestaBytes
public import VestaMessagingBackend

/// The bodies of `messages:send`, and back.
public enum SendWire {
  /// The bounds of bodies.
  public static let limits = JSONLimits(maximumDepth: 40, maximumSize: 1 << 17)

  /// A request to send.
  public struct Request: Sendable, Hashable {
    /// The message.
    public var message: PushMessage
    /// Whether the message is only checked.
    public var isValidateOnly: Bool

    /// A request.
    public init(_ message: PushMessage, isValidateOnly: Bool = false) {
      self.message = message
      self.isValidateOnly = isValidateOnly
    }
  }

  /// The body of a request.
  public static func body(of request: Request) -> [UInt8] {
    var object: JSONObject = ["message": .object(request.message.jsonObject)]
    if request.isValidateOnly { object["validate_only"] = true }
    return (try? object.json()) ?? []
  }

  /// Reads the body of a request; names in camel case and in snake case are both read.
  ///
  /// - Throws: `MessagingServiceError` with the field that is wrong.
  public static func request(_ body: [UInt8]) throws(MessagingServiceError) -> Request {
    let object: JSONObject
    do { object = try JSONObject(json: body, limits: limits) } catch { throw .invalid("body", "\(error)") }
    guard let message = object["message"]?.object else { throw .invalid("message", "It is missing.") }
    for name in object.names where !["message", "validate_only", "validateOnly"].contains(name) {
      throw .invalid(name, "There is no such field.")
    }
    let flag = object["validate_only"] ?? object["validateOnly"] ?? false
    guard let isValidateOnly = flag.bool else { throw .invalid("validate_only", "Expected true or false.") }
    return Request(try PushMessage(message), isValidateOnly: isValidateOnly)
  }

  /// The body of the answer.
  public static func body(ofName name: String) -> [UInt8] {
    (try? JSONObject(dictionaryLiteral: ("name", .string(name))).json()) ?? []
  }

  /// Reads the answer: the name of the message.
  public static func name(_ body: [UInt8]) throws(BytesError) -> String {
    guard let name = try JSONObject(json: body, limits: limits)["name"]?.string else {
      throw BytesError(.malformed, "the answer has no name")
    }
    return name
  }
}
