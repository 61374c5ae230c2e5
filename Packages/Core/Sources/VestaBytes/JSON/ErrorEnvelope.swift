/// The JSON in which Google's APIs state an error: `{"error":{"code":404,"message":"…","status":"NOT_FOUND"}}`.
///
/// Reading is lenient, because proxies and older services write parts of it only: the error may also be a string.
public struct ErrorEnvelope: Sendable, Hashable {
  /// The HTTP status; `nil` when the body does not have it.
  public var code: Int?
  /// The description.
  public var message: String
  /// The canonical status, such as `NOT_FOUND`.
  public var status: String?
  /// The reason of the first element of the list that older APIs have, such as `notFound`.
  public var reason: String?
  /// The details, in their order.
  public var details: [JSONValue]

  /// An error.
  public init(
    code: Int?, message: String, status: String? = nil, reason: String? = nil, details: [JSONValue] = []
  ) {
    self.code = code
    self.message = message
    self.status = status
    self.reason = reason
    self.details = details
  }

  /// Reads an error from a body; `nil` for a body that states none.
  public init?(json: [UInt8], limits: JSONLimits = JSONLimits()) {
    guard let object = try? JSONObject(json: json, limits: limits) else { return nil }
    self.init(object)
  }

  /// Reads an error from an object with the member `error`; `nil` without one.
  public init?(_ object: JSONObject) {
    switch object["error"] {
    case .string(let message): self.init(code: nil, message: message)
    case .object(let error):
      self.init(
        code: error["code"]?.integer.flatMap { Int(exactly: $0) }, message: error["message"]?.string ?? "",
        status: error["status"]?.string, reason: error["errors"]?.array?.first?.object?["reason"]?.string,
        details: error["details"]?.array ?? [])
    default: return nil
    }
  }

  /// The error as the body of a response.
  public var object: JSONObject {
    var error = JSONObject()
    error["code"] = code.map { .integer(Int64($0)) }
    error["message"] = .string(message)
    error["status"] = status.map(JSONValue.string)
    if let reason {
      error["errors"] = [["message": .string(message), "domain": "global", "reason": .string(reason)]]
    }
    if !details.isEmpty { error["details"] = .array(details) }
    return ["error": .object(error)]
  }
}
