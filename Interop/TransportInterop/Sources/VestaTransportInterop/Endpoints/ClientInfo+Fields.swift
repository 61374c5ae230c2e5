public import VestaServiceInterop

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
  public init?(_ fields: HTTPFields) {
    if let text = fields.first("x-firebase-client"), let info = Self.pairs(text) {
      self = info
    } else if let text = fields.first("x-goog-api-client"), let info = Self.pairs(text) {
      self = info
    } else if let text = fields.first("x-client-version"), let info = Self.path(text) {
      self = info
    } else {
      return nil
    }
  }

  /// The names of devices, systems and build tools, which are no libraries.
  private static let surroundings = [
    "apple-", "android-", "device-", "swift", "deploy", "kotlin", "grpc", "gccl", "fire-android", "fire-core",
  ]

  /// Words such as `name/version`.
  private static func pairs(_ text: String) -> ClientInfo? {
    guard text.utf8.count <= 4_096 else { return nil }
    var info: ClientInfo?
    var platform = ""
    for word in text.split(separator: " ") {
      let parts = word.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
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
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard (3...5).contains(parts.count), parts.allSatisfy({ isPlain($0) && !$0.isEmpty }) else { return nil }
    let version = parts.dropFirst().first { $0.utf8.first.map { $0 >= 48 && $0 <= 57 } ?? false }
    guard let version else { return nil }
    return ClientInfo(platform: parts[0], sdk: parts.last ?? "", version: version)
  }

  private static func isPlain(_ text: String) -> Bool {
    text.utf8.count <= 128 && text.utf8.allSatisfy { $0 > 32 && $0 < 127 }
  }
}
