/// The implementation of the rules languages that decisions follow.
///
/// This is the one place that knows how they differ.
public enum RulesDialect: Sendable, Hashable {
  /// The production service.
  case production
  /// The official emulators, for rules tests that rely on them, and for `debug()`, which production does not know.
  case emulator

  /// Whether `debug(x)` exists: the emulator returns x, production's test API does not know the function.
  var hasDebug: Bool { self == .emulator }

  /// Whether `request.method` exists: in production everywhere, in the emulators in Firestore's only.
  func hasMethod(_ service: RulesService) -> Bool { self == .production || service == .firestore }

  /// The number of documents that one decision of a service looks up: live Storage counts two, its emulator does not
  /// count.
  func accesses(_ service: RulesService, _ limits: RulesLimits) -> Int {
    switch (self, service) {
    case (_, .firestore): limits.accesses
    case (.production, .storage): limits.storageAccesses
    case (.emulator, .storage): .max
    }
  }
}
