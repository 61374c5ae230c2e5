public import VestaBytes
public import VestaRemoteConfigBackend

/// The request of an app for its values, with what belongs to the call and not to the instance.
public struct ConfigFetchCall: Sendable, Hashable {
  /// The request; its ETag travels in the header `if-none-match`.
  public var request: FetchConfigRequest
  /// The token that proves the installation.
  public var installationToken: String?

  /// A call.
  public init(_ request: FetchConfigRequest, installationToken: String? = nil) {
    self.request = request
    self.installationToken = installationToken
  }
}

/// Fetches as bodies of HTTP, and back.
///
/// The platform is that of the app's id, and the system has the name of the platform: the protocol has no members for
/// them, nor for audiences and the browser.
public enum FetchWire {
  /// The header with the ETag of the last response; `*` for none.
  public static let etagHeader = "if-none-match"
  /// The header of the response with its ETag.
  public static let answerETagHeader = "etag"
  /// The header with the token of the installation.
  public static let installationHeader = "x-goog-firebase-installations-auth"
  /// The header with the API key.
  public static let keyHeader = "x-goog-api-key"

  /// Whether a body is compressed, whatever its header says: browsers announce gzip and send JSON.
  public static func isGzip(_ body: [UInt8]) -> Bool { body.starts(with: [0x1F, 0x8B]) }

  /// The body of a request.
  public static func body(of call: ConfigFetchCall) throws(BytesError) -> [UInt8] {
    var call = call
    call.request.instance.platformVersion =
      call.request.instance.platformVersion ?? call.request.instance.operatingSystem?.version
    return try FetchCallSchema.json(of: call)
  }

  /// Reads a request.
  ///
  /// - Parameters:
  ///   - body: JSON, or the relaxed form of Apple's clients; not compressed.
  ///   - namespace: The namespace of the path.
  ///   - etag: The header `if-none-match`.
  ///   - limits: The limits of the JSON.
  /// - Throws: `BytesError` with `.malformed` or `.limitExceeded`.
  public static func call(
    body: [UInt8], namespace: String, etag: String?, limits: JSONLimits = JSONLimits(maximumSize: 1 << 20)
  ) throws(BytesError) -> ConfigFetchCall {
    let json = JSONValue.object(try RelaxedJSON.object(body, limits: limits))
    var call = try FetchCallSchema.message(json: json, ignoresUnknownNames: true)
    call.request.namespace = namespace
    call.request.etag = etag == "*" || etag?.isEmpty == true ? nil : etag
    call.request.instance.platform = call.request.instance.appID.flatMap { platform(ofApp: $0) }
    if let version = call.request.instance.platformVersion, let platform = call.request.instance.platform {
      call.request.instance.operatingSystem = ConfigInstance.System(name: system(platform), version: version)
    }
    return call
  }

  /// The body of a response; its ETag travels in the header `etag`.
  public static func body(of response: FetchConfigResponse) throws(BytesError) -> [UInt8] {
    try FetchResponseSchema.json(
      of: FetchResponse(
        entries: response.entries, state: response.state, templateVersion: response.templateVersion,
        rollouts: response.rollouts))
  }

  /// Reads a response.
  ///
  /// - Parameters:
  ///   - body: JSON.
  ///   - etag: The header `etag`.
  ///   - limits: The limits of the JSON.
  /// - Throws: `BytesError` with `.malformed` or `.limitExceeded`, also for a state that says nothing.
  public static func response(
    body: [UInt8], etag: String?, limits: JSONLimits = JSONLimits()
  ) throws(BytesError) -> FetchConfigResponse {
    let response = try FetchResponseSchema.message(json: body, limits: limits, ignoresUnknownNames: true)
    guard let state = response.state else { throw BytesError(.malformed, "the state of the values is missing") }
    return FetchConfigResponse(
      state: state, entries: response.entries, templateVersion: response.templateVersion, etag: etag ?? "",
      rollouts: response.rollouts)
  }

  /// The platform of an app's id such as `1:1234:ios:5678`.
  static func platform(ofApp id: String) -> String? {
    let parts = id.split(separator: ":", omittingEmptySubsequences: false)
    return parts.count == 4 && !parts[2].isEmpty ? String(parts[2]) : nil
  }

  private static func system(_ platform: String) -> String {
    switch platform {
    case "ios": "iOS"
    case "android": "Android"
    default: platform
    }
  }
}
