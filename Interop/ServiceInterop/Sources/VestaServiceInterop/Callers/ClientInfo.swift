import VestaBytes

/// The client library that sent a call.
public struct ClientInfo: Sendable, Hashable {
  /// The platform, such as "linux" or "ios".
  public var platform: String

  /// The name of the library, such as "vesta-firestore" or "fire-fst".
  public var sdk: String

  /// The version of the library.
  public var version: String

  /// A client.
  ///
  /// - Parameters:
  ///   - platform: The platform, such as "linux".
  ///   - sdk: The name of the library.
  ///   - version: The version of the library.
  public init(platform: String, sdk: String, version: String) {
    self.platform = platform
    self.sdk = sdk
    self.version = version
  }
}

/// The fields of a request that name the client library which sent it, as they were received.
///
/// They are read when ``CallContext/client`` is asked for, which few calls do.
public struct ClientFields: Sendable, Hashable {
  /// The field `x-firebase-client`.
  public var firebaseClient: String?

  /// The field `x-goog-api-client`.
  public var googleClient: String?

  /// The field `x-client-version`.
  public var clientVersion: String?

  /// The fields of a request; `nil` where it has none of them.
  public init?(firebaseClient: String? = nil, googleClient: String? = nil, clientVersion: String? = nil) {
    // Kept as long as the call or connection: long ones are not.
    func short(_ text: String?) -> String? { text.flatMap { $0.utf8.count <= 4_096 ? $0 : nil } }
    self.firebaseClient = short(firebaseClient)
    self.googleClient = short(googleClient)
    self.clientVersion = short(clientVersion)
    guard self.firebaseClient != nil || self.googleClient != nil || self.clientVersion != nil else { return nil }
  }
}

extension ClientInfo {
  /// The client library that a request names; `nil` where it names none.
  ///
  /// | field | example | sdk, version, platform |
  /// |---|---|---|
  /// | `x-firebase-client` | `apple-platform/ios fire-ios/11.0 fire-fst/11.0` | the last library, "ios" |
  /// | `x-goog-api-client` | `gl-swift/6.2 fire/11.0 grpc/` | "fire", "swift" |
  /// | `x-client-version` | `iOS/FirebaseSDK/11.0/FirebaseCore-iOS` | "FirebaseCore-iOS", "iOS" |
  ///
  /// The first field that names a library counts. Only printable characters do, up to 128 for each part: a client may
  /// send anything.
  ///
  /// - Parameter fields: The fields of the request.
  public init?(_ fields: ClientFields) {
    guard
      let info = fields.firebaseClient.flatMap(Self.pairs) ?? fields.googleClient.flatMap(Self.pairs)
        ?? fields.clientVersion.flatMap(Self.path)
    else { return nil }
    self = info
  }

  /// The names of devices, systems and build tools, which are no libraries.
  private static let surroundings = [
    "apple-", "android-", "device-", "swift", "deploy", "kotlin", "grpc", "gccl", "fire-android", "fire-core",
  ]

  /// Words such as `name/version`.
  private static func pairs(_ text: String) -> ClientInfo? {
    var info: ClientInfo?
    var platform = ""
    for word in text.split(separator: " ") {
      let parts = word.parts(at: "/", maxSplits: 1).map(String.init)
      guard parts.count == 2, parts.allSatisfy(isPlain), !parts[0].isEmpty else { continue }
      if parts[0].hasPrefix("gl-") {
        platform = String(parts[0].dropFirst(3))
      } else if parts[0] == "apple-platform" {
        platform = parts[1]
      } else if info == nil || !surroundings.contains(where: { parts[0].hasPrefix($0) }) {
        info = ClientInfo(platform: "", sdk: parts[0], version: parts[1])
      }
    }
    info?.platform = platform
    return info
  }

  /// `platform/FirebaseSDK/version/library`, and `platform/version/library` of the web.
  private static func path(_ text: String) -> ClientInfo? {
    let parts = text.parts(at: "/").map(String.init)
    guard (3...5).contains(parts.count), parts.allSatisfy({ isPlain($0) && !$0.isEmpty }) else { return nil }
    let version = parts.dropFirst().first { $0.utf8.first.map { $0 >= 48 && $0 <= 57 } ?? false }
    guard let version else { return nil }
    return ClientInfo(platform: parts[0], sdk: parts.last ?? "", version: version)
  }

  private static func isPlain(_ text: String) -> Bool {
    text.utf8.count <= 128 && text.utf8.allSatisfy { $0 > 32 && $0 < 127 }
  }
}
