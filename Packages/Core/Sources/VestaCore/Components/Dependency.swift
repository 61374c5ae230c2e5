/// A protocol that a component needs from another component.
public struct Dependency: Sendable {
  let type: Any.Type
  let isRequired: Bool
  let providers: String?
  var isDeferred = false

  var key: ObjectIdentifier { ObjectIdentifier(type) }

  /// A dependency without which the component cannot work: configuring stops when nothing provides it.
  ///
  /// - Parameters:
  ///   - type: The protocol, as in `(any StoreProvider).self`.
  ///   - providers: The providers, for the error message, each as "library of module (remark; folder)", divided by
  ///     " or ", the embedded engine first. Such as "SQLiteLibrary of VestaSQLite (keeps everything in a file;
  ///     Packages/SQLite)". The message ends with a list of libraries made of these names.
  public static func required<Interface>(_ type: Interface.Type, providedBy providers: String? = nil) -> Dependency {
    Dependency(type: type, isRequired: true, providers: providers)
  }

  /// A dependency that the component can do without.
  ///
  /// Resolve it with ``ComponentContainer/find(_:)``, which distinguishes an absent dependency from one that failed.
  ///
  /// - Parameter type: The protocol, as in `(any AuthInterop).self`.
  public static func optional<Interface>(_ type: Interface.Type) -> Dependency {
    Dependency(type: type, isRequired: false, providers: nil)
  }

  /// The same dependency, resolved when the component uses it and not while it is being created.
  ///
  /// Deferred dependencies form no cycle: two products may know each other this way.
  ///
  /// ```swift
  /// .optional((any AuthInterop).self).deferred
  /// ```
  public var deferred: Dependency {
    var copy = self
    copy.isDeferred = true
    return copy
  }
}
