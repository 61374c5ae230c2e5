// Objects that Firebase's SDK compares by identity, being `NSObject`s, are compared so here.

extension User: Hashable {
  /// Whether it is one and the same object; two objects may describe the same account, see ``uid``.
  public static func == (left: User, right: User) -> Bool { left === right }

  /// Feeds the object's identity to a hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension Auth: Hashable {
  /// Whether it is one and the same object.
  public static func == (left: Auth, right: Auth) -> Bool { left === right }

  /// Feeds the object's identity to a hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
