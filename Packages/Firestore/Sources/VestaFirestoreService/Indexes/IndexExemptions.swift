/// The fields that are to have no index of their own.
struct IndexExemptions: Equatable, Sendable {
  /// Whether an index must not be made: one of a single field that is exempt.
  func hold(_ shape: IndexShape) -> Bool { false }
}
