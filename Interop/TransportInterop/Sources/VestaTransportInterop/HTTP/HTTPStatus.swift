/// The status of a response, such as 200.
public struct HTTPStatus: Sendable, Hashable, CustomStringConvertible, ExpressibleByIntegerLiteral {
  /// The number, 100 to 999.
  public let code: Int

  /// A status.
  ///
  /// - Parameter code: The number; one outside of 100 to 999 becomes 500, because nothing else can be sent for it.
  @inlinable
  public init(_ code: Int) { self.code = code >= 100 && code <= 999 ? code : 500 }

  /// A status written as a literal.
  @inlinable
  public init(integerLiteral code: Int) { self.init(code) }

  /// The number and the usual phrase: "404 Not Found".
  public var description: String { reason.isEmpty ? "\(code)" : "\(code) \(reason)" }

  /// Whether the response precedes the final one.
  public var isInterim: Bool { code < 200 }

  /// Whether the request succeeded.
  public var isSuccess: Bool { code >= 200 && code < 300 }

  /// Whether a response with this status never has a body: 1xx, 204 and 304.
  public var forbidsBody: Bool { code < 200 || code == 204 || code == 304 }

  /// The usual phrase for the number; empty for one without.
  public var reason: String { Self.reasons[code] ?? "" }

  /// 200: the request succeeded.
  public static let ok: HTTPStatus = 200
  /// 204: the request succeeded and there is no body.
  public static let noContent: HTTPStatus = 204
  /// 400: the request is malformed.
  public static let badRequest: HTTPStatus = 400
  /// 404: there is nothing under the target.
  public static let notFound: HTTPStatus = 404
  /// 408: the request did not arrive in time.
  public static let requestTimeout: HTTPStatus = 408
  /// 413: the body is larger than the limit.
  public static let contentTooLarge: HTTPStatus = 413
  /// 431: the head is larger than the limit.
  public static let fieldsTooLarge: HTTPStatus = 431
  /// 500: the handler failed.
  public static let internalServerError: HTTPStatus = 500
  /// 503: the server cannot serve the request now.
  public static let serviceUnavailable: HTTPStatus = 503

  private static let reasons: [Int: String] = [
    100: "Continue", 101: "Switching Protocols", 103: "Early Hints", 200: "OK", 201: "Created", 202: "Accepted",
    204: "No Content", 205: "Reset Content", 206: "Partial Content", 301: "Moved Permanently", 302: "Found",
    303: "See Other", 304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request",
    401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 406: "Not Acceptable",
    408: "Request Timeout", 409: "Conflict", 410: "Gone", 411: "Length Required", 412: "Precondition Failed",
    413: "Content Too Large", 414: "URI Too Long", 415: "Unsupported Media Type", 416: "Range Not Satisfiable",
    417: "Expectation Failed", 421: "Misdirected Request", 422: "Unprocessable Content", 426: "Upgrade Required",
    429: "Too Many Requests", 431: "Request Header Fields Too Large", 499: "Client Closed Request",
    500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
    504: "Gateway Timeout", 505: "HTTP Version Not Supported",
  ]
}
