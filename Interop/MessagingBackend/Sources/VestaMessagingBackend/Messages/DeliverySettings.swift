import VestaBytes

/// The delivery settings of a message on one platform.
public struct DeliverySettings: Sendable, Hashable {
  /// The time that the message waits for a registration that is away, in seconds; 0 for an immediate message.
  public var timeToLive: Double
  /// Whether it is delivered before messages of normal priority.
  public var isHighPriority: Bool
  /// A later message with the same key replaces this one while it waits.
  public var collapseKey: String?

  /// Four weeks, in seconds: the longest time that a message waits, and the default.
  public static let maximumTimeToLive: Double = 2_419_200

  /// The settings of a message.
  ///
  /// - Parameters:
  ///   - message: A message that was checked.
  ///   - platform: `ios` and the other systems of Apple have those for APNs, `web` those for web push, all others those
  ///     for Android.
  ///   - now: The time in seconds since 1970, for the expiry that APNs counts from then.
  public init(_ message: PushMessage, platform: String, now: Double) {
    switch platform {
    case "ios", "macos", "tvos", "watchos", "visionos":
      let headers = message.apns?["headers"]?.object
      let expiry = headers?["apns-expiration"]?.string.flatMap(Double.init)
      timeToLive = Self.bounded(expiry.map { $0 == 0 ? 0 : $0 - now })
      isHighPriority = (headers?["apns-priority"]?.string ?? "10") == "10"
      collapseKey = headers?["apns-collapse-id"]?.string
    case "web":
      let headers = message.webpush?["headers"]?.object
      timeToLive = Self.bounded((headers?["TTL"] ?? headers?["ttl"])?.string.flatMap(Double.init))
      isHighPriority = (headers?["Urgency"] ?? headers?["urgency"])?.string == "high"
      collapseKey = (headers?["Topic"] ?? headers?["topic"])?.string
    default:
      timeToLive = Self.bounded((message.android?["ttl"]?.string).flatMap(MessageSchema.seconds))
      isHighPriority = message.android?["priority"]?.string?.lowercased() == "high"
      collapseKey = message.android?["collapse_key"]?.string
    }
  }

  private static func bounded(_ seconds: Double?) -> Double {
    guard let seconds, seconds.isFinite else { return maximumTimeToLive }
    return min(max(0, seconds), maximumTimeToLive)
  }
}
