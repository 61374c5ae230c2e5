import VestaCore

extension ComponentContainer {
  /// The instance behind an optional dependency.
  ///
  /// - Parameter type: The protocol.
  /// - Returns: The instance; `nil` only when nothing provides it.
  /// - Throws: `VestaError` when something provides it and could not be made: absent and failed are two things.
  func found<Interface: Sendable>(_ type: Interface.Type) throws(VestaError) -> Interface? {
    do {
      return try require(type)
    } catch {
      if error.code == .notProvided { return nil }
      throw error
    }
  }
}
