import VestaBytes

/// A tenant as keys, tickets and tokens name it: its id, or the empty string for the project's own users.
///
/// Two of them are equal when their bytes are, as keys are. Swift's `==` of strings compares by canonical equivalence,
/// and would take two tenants for one.
struct TenantKey: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  private let name: UTF8String

  /// The project itself, which is no tenant.
  static let project = TenantKey(nil)

  /// The key of a tenant.
  ///
  /// - Parameter id: The tenant's id; `nil` and empty are the project itself.
  init(_ id: String?) { name = UTF8String(id ?? "") }

  init(rawValue: String) { self.init(rawValue) }

  init(stringLiteral value: String) { self.init(value) }

  /// The string in keys and records.
  var rawValue: String { name.string }

  /// The tenant's id; `nil` for the project itself.
  var id: String? { rawValue.isEmpty ? nil : rawValue }

  var description: String { rawValue }

  // Written out: the operators that the standard library has for raw values compare strings.
  static func == (left: TenantKey, right: TenantKey) -> Bool { left.name == right.name }

  func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
