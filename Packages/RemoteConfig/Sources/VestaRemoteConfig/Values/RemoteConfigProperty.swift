/// A property that has the value of a key of the default app's ``RemoteConfig``, decoded.
///
/// It reads the active value, or the default, each time; a fallback where there is neither, or where it does not
/// decode. Unlike upstream's, it is no property of SwiftUI that updates views: read it again after an activation.
///
/// ```swift
/// @RemoteConfigProperty(key: "welcome", fallback: "Hello") var welcome: String
/// ```
@propertyWrapper
public struct RemoteConfigProperty<T: Decodable> {
  /// The key.
  public let key: String

  private let fallback: T

  /// A property.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - fallback: The value where there is no other one.
  public init(key: String, fallback: T) {
    self.key = key
    self.fallback = fallback
  }

  /// The value now.
  public var wrappedValue: T { RemoteConfig.remoteConfig().value(forKey: key, fallback: fallback) }
}

extension RemoteConfigProperty: Sendable where T: Sendable {}

extension RemoteConfig {
  func value<T: Decodable>(forKey key: String, fallback: T) -> T {
    let value = configValue(forKey: key)
    guard value.source != .static else { return fallback }
    return (try? value.decoded(asType: T.self)) ?? fallback
  }
}
