public import VestaServiceInterop

/// One call of a REST API: the parts that are sent in addition to the identity of the caller.
public struct RESTCall: Sendable {
  /// The method.
  public var method: HTTPMethod

  /// The path and the query, percent-encoded.
  public var target: String

  /// The product's own fields.
  public var fields: HTTPFields

  /// The body: JSON unless ``fields`` have another type.
  public var body: [UInt8]

  /// Whether the same call may be made twice without a second effect.
  ///
  /// It decides the code for a connection that was lost after the request was sent: `UNAVAILABLE`, which callers repeat
  /// by themselves, or `DEADLINE_EXCEEDED`, which says that the outcome is not known.
  public var isRepeatable: Bool

  /// Whether the fields or the body have a token of the product, such as that of an installation; it is kept from
  /// machines that would receive it in clear text, as the tokens of the context are.
  public var hasToken = false

  /// The time for the call where its context has no deadline; that of the options unless given.
  public var timeout: Duration?

  /// The time for which a caller that is cancelled still waits for the answer.
  ///
  /// With zero it leaves at once, while the server may be at work on the call. A call that changes something needs the
  /// time: the next call of its caller could otherwise meet a later effect of this one.
  public var answerGrace = Duration.zero

  /// Whether an answer may be a page of HTML, as the content of an object may be one; otherwise it is taken for the
  /// answer of a network in between.
  public var acceptsPages = false

  /// Whether a refusal, of status 4xx, may be a page of HTML, as that of a function that does not exist; otherwise it
  /// is taken for the answer of a network in between, and nothing is concluded from it.
  public var acceptsPagesOfRefusals = false

  /// The statuses that are answers in addition to the statuses of success, such as 304.
  public var acceptedStatuses: Set<HTTPStatus> = []

  /// A call.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - target: The path and the query, percent-encoded.
  ///   - fields: The product's own fields.
  ///   - body: The body.
  ///   - isRepeatable: Whether the same call may be made twice without a second effect.
  public init(
    _ method: HTTPMethod, _ target: String, fields: HTTPFields = [:], body: [UInt8] = [], isRepeatable: Bool = true
  ) {
    self.method = method
    self.target = target
    self.fields = fields
    self.body = body
    self.isRepeatable = isRepeatable
  }
}

/// The head of an answer to a call of a REST API, and its body, which is read afterwards.
public struct RESTStream: Sendable {
  /// The status of HTTP.
  public let status: HTTPStatus

  /// The fields.
  public let fields: HTTPFields

  /// The number of bytes of the body; `nil` where the answer does not say.
  public let length: Int?

  /// The body, which a reader that leaves it cancels.
  public let body: ByteStream
}

/// The whole answer to a call of a REST API.
public struct RESTAnswer: Sendable {
  /// The status of HTTP.
  public let status: HTTPStatus

  /// The fields.
  public let fields: HTTPFields

  /// The body, decompressed.
  public let body: [UInt8]

  /// The failure that an answer which is no success states, by its body and then by its status.
  public var failure: ServiceStatus {
    ServiceStatus(httpStatus: status.code, body: body, retryAfter: fields.first("retry-after"))
  }

  /// The failure of an answer that cannot be the API's own: a redirection, a page of HTML, or a proxy's complaint.
  ///
  /// Networks of hotels and trains answer like this in the place of the service until their user has signed in.
  ///
  /// 304 and 308 are answers of some APIs.
  ///
  /// - Parameters:
  ///   - status: The status of HTTP.
  ///   - fields: The fields.
  ///   - call: The call, with the statuses that it accepts.
  ///   - isWhole: Whether the whole answer is read, which a page never is.
  static func foreign(_ status: HTTPStatus, _ fields: HTTPFields, to call: RESTCall, isWhole: Bool) -> ServiceStatus? {
    let isRedirection = (300..<400).contains(status.code) && status.code != 304 && status.code != 308
    let isOfProxy = isRedirection || status.code == 407 || status.code == 511
    guard isOfProxy || isForeignPage(status, fields, to: call, isWhole: isWhole) else { return nil }
    return ServiceStatus(
      .unavailable,
      "The answer (\(status)) is not the service's. The network may ask for a sign-in first, or a proxy is in between.")
  }

  private static func isForeignPage(
    _ status: HTTPStatus, _ fields: HTTPFields, to call: RESTCall, isWhole: Bool
  ) -> Bool {
    guard HTTPFields.isPage(fields) else { return false }
    if (400..<500).contains(status.code) { return !call.acceptsPagesOfRefusals }
    return isWhole || !call.acceptsPages
  }
}

extension HTTPFields {
  /// Whether the body is a page of HTML.
  static func isPage(_ fields: HTTPFields) -> Bool {
    fields.first(.contentType)?.lowercased().hasPrefix("text/html") ?? false
  }
}
