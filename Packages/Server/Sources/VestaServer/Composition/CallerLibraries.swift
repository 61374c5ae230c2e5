import VestaCore
import VestaFirestoreService
import VestaServiceInterop

/// Registers what a server for development accepts: unsigned tokens, and the word "owner".
enum DevelopmentLibrary: Library {
  static let name = "vesta-server-development"

  static func components() -> [Component] {
    [
      Component((any CallerVerifierDecorator).self, caching: .shared) { _ in DevelopmentCallers() }
    ]
  }
}

/// Registers what another server has: the engine serves nobody but verified owners for as long as it has no rules.
enum ProductionLibrary: Library {
  static let name = "vesta-server-production"

  static func components() -> [Component] {
    [
      Component(FirestoreServiceOptions.self, caching: .shared) { _ in
        var options = FirestoreServiceOptions()
        options.access = .owner
        return options
      }
    ]
  }
}
