/// A request to the identity service, or its response.
///
/// Many of them carry passwords, codes and tokens. So descriptions and mirrors show the type and nothing of the
/// content, wherever a message may be logged.
public protocol AuthMessage: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{}

extension AuthMessage {
  /// The name of the type.
  public var description: String { String(describing: Self.self) }

  /// The name of the type.
  public var debugDescription: String { description }

  /// A mirror without content.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
