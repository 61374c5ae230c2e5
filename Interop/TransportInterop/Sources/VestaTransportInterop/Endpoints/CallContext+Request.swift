import VestaBytes
public import VestaServiceInterop

/// Names that every call looks for.
private enum Names {
  static let appCheck: HTTPFieldName = "x-firebase-appcheck"
  static let apiKey: HTTPFieldName = "x-goog-api-key"
  static let locale: HTTPFieldName = "x-firebase-locale"
  static let trace: HTTPFieldName = "traceparent"
  static let firebaseClient: HTTPFieldName = "x-firebase-client"
  static let googleClient: HTTPFieldName = "x-goog-api-client"
  static let clientVersion: HTTPFieldName = "x-client-version"
  static let requestID: HTTPFieldName = "x-request-id"
  static let timeout: HTTPFieldName = "x-server-timeout"
}

extension CallContext {
  /// The context of a call that was made by a request of HTTP.
  ///
  /// | fact | from |
  /// |---|---|
  /// | `caller` | `authorization: Bearer …` or `Firebase …`: a credential that is not verified; otherwise none |
  /// | `appCheck` | `x-firebase-appcheck` |
  /// | `apiKey` | `x-goog-api-key`, or `key` of the query |
  /// | `locale` | `x-firebase-locale` |
  /// | `clientAddress` | the host of the peer, whatever fields say |
  /// | `deadline` | `grpc-timeout`, or `x-server-timeout` in seconds |
  /// | `requestID` | `x-request-id`, up to 128 printable characters |
  /// | `trace` | `traceparent` |
  /// | `client` | `x-firebase-client`, `x-goog-api-client` or `x-client-version`; read by `client` when it is asked for |
  ///
  /// A malformed field counts as absent, but for a credential: the verifier refuses it.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - project: The project that the request is about; `nil` for that of the service.
  ///   - clock: The clock by which the deadline counts.
  public init(_ request: HTTPRequest, project: String?, clock: ServiceClock) {
    let timeout = Self.timeout(request.fields)
    let (deadline, overflows) = clock.now().addingReportingOverflow(timeout?.microseconds ?? 0)
    self.init(
      fields: request.fields, query: request.query, peer: request.peer, project: project,
      deadline: timeout == nil || overflows ? nil : deadline)
  }

  /// The context of a call of gRPC, from its fields and its deadline.
  ///
  /// - Parameters:
  ///   - call: The call.
  ///   - project: The project that the call is about; `nil` for that of the service.
  public init(_ call: GRPCContext, project: String?) {
    self.init(fields: call.metadata, query: nil, peer: call.peer, project: project, deadline: call.deadline)
  }

  private init(fields: HTTPFields, query: Substring?, peer: TransportPeer?, project: String?, deadline: Int64?) {
    self.init(
      caller: Self.caller(fields), project: project, appCheck: AppCheckState(fields.first(Names.appCheck)),
      apiKey: fields.first(Names.apiKey) ?? Self.key(in: query), locale: fields.first(Names.locale),
      clientAddress: peer.map { Self.host(of: $0.address) }, deadline: deadline, requestID: Self.requestID(fields))
    if let text = fields.first(Names.trace) { trace = Self.trace(text) }
    clientFields = ClientFields(
      firebaseClient: fields.first(Names.firebaseClient), googleClient: fields.first(Names.googleClient),
      clientVersion: fields.first(Names.clientVersion))
  }

  /// The credential of a field; several fields make one that no verifier accepts.
  private static func caller(_ fields: HTTPFields) -> Caller {
    guard let value = fields[.authorization] else { return .nobody }
    guard let space = value.utf8.firstIndex(of: UInt8(ascii: " ")) else { return .nobody }
    switch value[..<space].lowercased() {
    case "bearer", "firebase":
      return .credential(.bearer(String(value[space...].drop { $0 == " " })))
    default: return .nobody
    }
  }

  private static func key(in query: Substring?) -> String? {
    guard let query, query.utf8.count <= 65_536 else { return nil }
    return (try? FormFields(query))?["key"]
  }

  private static func host(of address: TransportAddress) -> String {
    switch address {
    case .internet(let host, _): host
    case .unix: "unix"
    }
  }

  private static func requestID(_ fields: HTTPFields) -> String? {
    guard let id = fields.first(Names.requestID), (1...128).contains(id.utf8.count),
      id.utf8.allSatisfy({ $0 > 32 && $0 < 127 })
    else { return nil }
    return id
  }

  private static func timeout(_ fields: HTTPFields) -> Duration? {
    if let text = fields.first(GRPCWire.timeoutName) { return GRPCWire.timeout(text) }
    guard let text = fields.first(Names.timeout), text.utf8.count <= 16, let seconds = Double(text),
      seconds > 0, seconds < 1e9
    else { return nil }
    return .milliseconds(Int64(seconds * 1_000))
  }

  /// `00-<32 digits>-<16 digits>-<2 digits>`; later versions may add parts.
  private static func trace(_ text: String) -> TraceContext? {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count >= 4, parts[0].utf8.count == 2, parts[0] != "ff", parts[1].utf8.count == 32,
      parts[2].utf8.count == 16, parts[3].utf8.count == 2, parts[0] != "00" || parts.count == 4,
      parts[0...3].allSatisfy({ $0.utf8.allSatisfy(isLowercaseHex) }),
      parts[1].utf8.contains(where: { $0 != UInt8(ascii: "0") }),
      parts[2].utf8.contains(where: { $0 != UInt8(ascii: "0") }), let flags = UInt8(parts[3], radix: 16)
    else { return nil }
    return TraceContext(traceID: String(parts[1]), spanID: String(parts[2]), isSampled: flags & 1 == 1)
  }

  private static func isLowercaseHex(_ byte: UInt8) -> Bool { byte &- 48 < 10 || byte &- 97 < 6 }
}
