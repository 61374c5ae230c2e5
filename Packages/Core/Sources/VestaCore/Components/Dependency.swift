/// Something a component needs from another one, known by its protocol alone.
public struct Dependency: Sendable {
  let type: Any.Type
  let isRequired: Bool
  let providers: String?

  var key: ObjectIdentifier { ObjectIdentifier(type) }

  /// A dependency without which the component cannot work: configuring stops when nothing provides it.
  ///
  /// - Parameters:
  ///   - type: The protocol, as in `(any StoreProvider).self`.
  ///   - providers: Which packages provide it and what speaks for each; it ends up in the error message, which is how a
  ///     newcomer learns what to add. Such as "VestaSQLite (keeps everything in a file)".
  public static func required<Interface>(_ type: Interface.Type, providedBy providers: String? = nil) -> Dependency {
    Dependency(type: type, isRequired: true, providers: providers)
  }

  /// A dependency that the component can do without: `resolve` gives `nil` when nothing provides it.
  ///
  /// - Parameter type: The protocol, as in `(any AuthInterop).self`.
  public static func optional<Interface>(_ type: Interface.Type) -> Dependency {
    Dependency(type: type, isRequired: false, providers: nil)
  }
}
