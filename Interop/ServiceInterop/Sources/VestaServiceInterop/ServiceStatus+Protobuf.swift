public import VestaBytes

extension ServiceStatus {
  /// The failure as `google.rpc.Status`, with its details.
  public var protobuf: ProtobufStatus {
    ProtobufStatus(code: Int32(code.rawValue), message: message, details: RPCDetails(details).all)
  }

  /// The failure of a `google.rpc.Status`; details of other types and malformed ones are skipped.
  ///
  /// - Parameter status: The status; a number that is no code is `UNKNOWN`.
  public init(_ status: ProtobufStatus) {
    self.init(
      ServiceCode(wire: Int(status.code)), status.message, details: status.details.flatMap { RPCDetails.details($0) })
  }
}

/// The details of a failure as messages of `google.rpc`.
private struct RPCDetails {
  private static let types = "type.googleapis.com/google.rpc."

  private(set) var all: [ProtobufAny] = []

  /// The messages: wrong fields share one, and so do links.
  init(_ details: [ErrorDetail]) {
    var (violations, links): ([TextPair], [TextPair]) = ([], [])
    for detail in details {
      switch detail {
      case .retryInfo(let after): add("RetryInfo", RetryInfoSchema.self, WireDuration(after))
      case .errorInfo(let reason, let domain, let metadata):
        add("ErrorInfo", ErrorInfoSchema.self, ErrorInfo(reason: reason, domain: domain, metadata: metadata))
      case .badRequest(let field, let description): violations.append(TextPair(field, description))
      case .help(let url, let description): links.append(TextPair(description, url))
      }
    }
    if !violations.isEmpty { add("BadRequest", TextPairsSchema.self, violations) }
    if !links.isEmpty { add("Help", TextPairsSchema.self, links) }
  }

  private mutating func add<Schema: ProtobufSchema>(_ name: String, _ schema: Schema.Type, _ message: Schema.Message) {
    // A message that cannot be written, as one that is too large, is left out: the code and the text say enough.
    guard let bytes = try? Schema.bytes(of: message) else { return }
    all.append(ProtobufAny(typeURL: Self.types + name, value: bytes))
  }

  /// The details that a message has.
  static func details(_ any: ProtobufAny) -> [ErrorDetail] {
    // JSON has the fields of a detail where binary has its bytes: one without bytes was read from there.
    guard any.typeURL.hasPrefix(types), !any.value.isEmpty else { return [] }
    switch any.typeURL.dropFirst(types.count) {
    case "RetryInfo":
      let wait = (try? RetryInfoSchema.message(from: any.value))?.duration
      return wait.map { [.retryInfo(after: $0)] } ?? []
    case "ErrorInfo":
      let info = try? ErrorInfoSchema.message(from: any.value)
      return info.map { [.errorInfo(reason: $0.reason, domain: $0.domain, metadata: $0.metadata)] } ?? []
    case "BadRequest": return pairs(any).map { .badRequest(field: $0.first, description: $0.second) }
    case "Help": return pairs(any).map { .help(url: $0.second, description: $0.first) }
    default: return []
    }
  }

  private static func pairs(_ any: ProtobufAny) -> [TextPair] { (try? TextPairsSchema.message(from: any.value)) ?? [] }
}

/// `BadRequest.FieldViolation`, a field and a description, or `Help.Link`, a description and a URL.
private struct TextPair {
  var first: String
  var second: String

  init(_ first: String, _ second: String) { (self.first, self.second) = (first, second) }
}

private enum TextPairSchema: ProtobufSchema {
  static var empty: TextPair { TextPair("", "") }

  static func visit(_ pair: inout TextPair, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "first", &pair.first, ProtobufString.self)
    try visitor.field(2, "second", &pair.second, ProtobufString.self)
  }
}

private enum TextPairsSchema: ProtobufSchema {
  static var empty: [TextPair] { [] }

  static func visit(_ pairs: inout [TextPair], _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.repeated(1, "pairs", &pairs, ProtobufMessage<TextPairSchema>.self)
  }
}

private struct ErrorInfo {
  var reason = ""
  var domain = ""
  var metadata: [String: String] = [:]
}

private enum ErrorInfoSchema: ProtobufSchema {
  static var empty: ErrorInfo { ErrorInfo() }

  static func visit(_ info: inout ErrorInfo, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "reason", &info.reason, ProtobufString.self)
    try visitor.field(2, "domain", &info.domain, ProtobufString.self)
    try visitor.map(3, "metadata", &info.metadata, ProtobufString.self)
  }
}

/// `RetryInfo`, whose one field is a `google.protobuf.Duration`.
private enum RetryInfoSchema: ProtobufSchema {
  static var empty: WireDuration { WireDuration() }

  static func visit(_ wait: inout WireDuration, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "retryDelay", &wait, ProtobufMessage<DurationSchema>.self)
  }
}

/// `google.protobuf.Duration`, as any peer may send it.
private struct WireDuration {
  /// Some thirty years: a `Duration` that is much longer cannot be divided into its parts.
  private static let longest: Int64 = 1_000_000_000

  var seconds: Int64 = 0
  var nanoseconds: Int32 = 0

  init() {}

  init(_ duration: Duration) {
    let (seconds, attoseconds) = min(max(duration, .zero), .seconds(Self.longest)).components
    (self.seconds, nanoseconds) = (seconds, Int32(attoseconds / 1_000_000_000))
  }

  /// The duration; `nil` for one that is negative or too long.
  var duration: Duration? {
    guard (0...Self.longest).contains(seconds), (0..<1_000_000_000).contains(nanoseconds) else { return nil }
    return .seconds(seconds) + .nanoseconds(Int64(nanoseconds))
  }
}

private enum DurationSchema: ProtobufSchema {
  static var empty: WireDuration { WireDuration() }

  static func visit(_ duration: inout WireDuration, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "seconds", &duration.seconds, ProtobufInt64.self)
    try visitor.field(2, "nanos", &duration.nanoseconds, ProtobufInt32.self)
  }
}
