/// Bytes that never show up in a log: description, debugger text and mirror say only how many there are.
public struct SecretBytes: Sendable {
  /// The bytes themselves.
  public let bytes: [UInt8]

  /// Wraps bytes.
  ///
  /// - Parameter bytes: The secret.
  public init(_ bytes: [UInt8]) { self.bytes = bytes }
}

extension SecretBytes: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// How many bytes there are.
  public var description: String { "SecretBytes(\(bytes.count) bytes)" }
  /// How many bytes there are.
  public var debugDescription: String { description }
  /// A mirror without the bytes.
  public var customMirror: Mirror { Mirror(self, children: ["count": bytes.count]) }
}
