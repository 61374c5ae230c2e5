import VestaAuthService
import VestaCore
import VestaFirestoreService

/// Registers what a server for development believes: unsigned tokens, and the word "owner".
enum DevelopmentLibrary: Library {
  static let name = "vesta-server-development"

  static func components() -> [Component] {
    [
      Component(AuthServiceOptions.self, caching: .shared) { _ in
        var options = AuthServiceOptions()
        (options.isDevelopment, options.usesDevelopmentTokens) = (true, true)
        return options
      }
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
