public import VestaBytes
public import VestaRemoteConfigBackend

/// The request to be notified of newer templates, with what belongs to the call.
public struct ConfigStreamCall: Sendable, Hashable {
  /// The request.
  public var request: InvalidationsRequest
  /// The project: its id or its number.
  public var project: String
  /// The id of the app.
  public var appID: String?
  /// The id of the installation.
  public var installationID: String?
  /// The version of the client library.
  public var sdkVersion: String?

  /// A call.
  public init(
    _ request: InvalidationsRequest, project: String, appID: String? = nil, installationID: String? = nil,
    sdkVersion: String? = nil
  ) {
    self.request = request
    self.project = project
    self.appID = appID
    self.installationID = installationID
    self.sdkVersion = sdkVersion
  }
}

/// The stream of newer templates: its request, and the pieces of its body.
///
/// The body is a JSON array of flat objects that never ends by itself. Clients look for the first object of each piece
/// that they receive, so each message is one piece, and only the newest is sent.
public enum InvalidationWire {
  /// The first piece of a body.
  public static let opening: [UInt8] = [UInt8(ascii: "[")]
  /// The last piece of a body that ends in order.
  public static let closing: [UInt8] = [UInt8(ascii: "]")]

  /// The body of a request.
  public static func body(of call: ConfigStreamCall) throws(BytesError) -> [UInt8] {
    try StreamCallSchema.json(of: call)
  }

  /// Reads a request.
  ///
  /// - Parameters:
  ///   - body: JSON, or the relaxed form of Apple's clients; not compressed.
  ///   - namespace: The namespace of the path, which counts where the body names none.
  ///   - limits: The limits of the JSON.
  /// - Throws: `BytesError` with `.malformed` or `.limitExceeded`.
  public static func call(
    body: [UInt8], namespace: String, limits: JSONLimits = JSONLimits(maximumSize: 1 << 16)
  ) throws(BytesError) -> ConfigStreamCall {
    let json = JSONValue.object(try RelaxedJSON.object(body, limits: limits))
    var call = try StreamCallSchema.message(json: json, ignoresUnknownNames: true)
    if call.request.namespace.isEmpty { call.request.namespace = namespace }
    return call
  }

  /// The piece of a message.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - isFirst: Whether it is the first of the body.
  public static func piece(of message: ConfigInvalidation, isFirst: Bool) -> [UInt8] {
    let parts = Invalidation(
      version: message.latestVersion, isDisabled: message.isFeatureDisabled,
      interval: message.retryInterval.map(Int64.init))
    // Numbers, and whether a feature is off, can always be written.
    return (isFirst ? [] : Array(",\n".utf8)) + ((try? InvalidationSchema.json(of: parts)) ?? [])
  }
}

/// Reads the body of a stream of newer templates; pure, so it can be fed in any pieces.
public struct InvalidationMachine: Sendable {
  private let maximumObject: Int
  private var object: [UInt8] = []
  private var isInObject = false
  private var isInString = false
  private var isEscaped = false

  /// A machine at the beginning of a body.
  ///
  /// - Parameter maximumObject: The longest object, in bytes.
  public init(maximumObject: Int = 4_096) { self.maximumObject = maximumObject }

  /// Takes a piece of the body.
  ///
  /// - Returns: The messages that it ends. Objects without a version say nothing and are skipped.
  /// - Throws: `BytesError` with `.malformed` or `.limitExceeded`; the stream has to be closed then.
  public mutating func received(_ piece: some Sequence<UInt8>) throws(BytesError) -> [ConfigInvalidation] {
    var messages: [ConfigInvalidation] = []
    for byte in piece where isInObject || byte == UInt8(ascii: "{") {
      isInObject = true
      guard object.count < maximumObject else {
        throw BytesError(.limitExceeded, "an object is longer than \(maximumObject) bytes")
      }
      object.append(byte)
      guard ends(byte) else { continue }
      isInObject = false
      defer { object = [] }
      if let message = try Self.message(object) { messages.append(message) }
    }
    return messages
  }

  /// Whether a byte ends the object.
  private mutating func ends(_ byte: UInt8) -> Bool {
    if isEscaped {
      isEscaped = false
    } else if isInString, byte == UInt8(ascii: "\\") {
      isEscaped = true
    } else if byte == UInt8(ascii: "\"") {
      isInString.toggle()
    }
    return !isInString && byte == UInt8(ascii: "}")
  }

  private static func message(_ json: [UInt8]) throws(BytesError) -> ConfigInvalidation? {
    let parts = try InvalidationSchema.message(json: json, ignoresUnknownNames: true)
    guard parts.version != nil || parts.isDisabled else { return nil }
    return ConfigInvalidation(
      latestVersion: parts.version ?? 0, isFeatureDisabled: parts.isDisabled,
      retryInterval: parts.interval.flatMap { Int(exactly: $0) })
  }
}
