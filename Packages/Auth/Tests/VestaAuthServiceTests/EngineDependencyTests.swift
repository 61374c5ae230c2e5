import Foundation
import Testing
import VestaAuthBackend
import VestaCore
import VestaCryptoInterop
import VestaCryptoInteropFakes
import VestaStoreInterop
import VestaStoreInteropFakes

@testable import VestaAuthService

/// An engine takes these from its app: a sender of codes, blocking functions, the keys of identity providers.
@Suite struct EngineDependencyTests {
  private final class Helper: CodeSender, AuthBlockingFunctions, IdentityProviderKeySource {
    func send(_ message: EmailMessage) async throws {}
    func send(_ message: TextMessage) async throws {}
    func answer(to question: BlockingQuestion) async throws(AuthServiceError) -> BlockingAnswer { BlockingAnswer() }
    func keys(of issuer: String) async throws(AuthServiceError) -> [UInt8] { [] }
  }

  private static let ofApp = Helper()
  private static let ofOptions = Helper()

  private struct Stores: StoreProvider {
    func openStore(
      named name: String, in directory: String, options: StoreOptions
    ) async throws -> any OrderedStore { ModelStore() }
  }

  private enum Needed: Library {
    static let name = "test-needed"
    static let version = "1.0.0"
    static func components() -> [Component] {
      [
        Component((any StoreProvider).self) { _, _ in Stores() },
        Component((any CryptoProvider).self) { _, _ in FakeCrypto() },
      ]
    }
  }

  private enum Helpers: Library {
    static let name = "test-helpers"
    static let version = "1.0.0"
    static func components() -> [Component] {
      [
        Component((any CodeSender).self) { _, _ in ofApp },
        Component((any AuthBlockingFunctions).self) { _, _ in ofApp },
        Component((any IdentityProviderKeySource).self) { _, _ in ofApp },
      ]
    }
  }

  private enum Options: Library {
    static let name = "test-options"
    static let version = "1.0.0"
    static func components() -> [Component] {
      [
        Component(AuthServiceOptions.self) { _, _ in
          var options = AuthServiceOptions()
          options.codeSender = ofOptions
          options.blockingFunctions = ofOptions
          options.identityProviderKeys = ofOptions
          return options
        }
      ]
    }
  }

  @Test func `what the app has is used, unless the options name another`() async throws {
    let cases: [(libraries: [any Library.Type], expected: Helper?)] = [
      ([], nil), ([Helpers.self], Self.ofApp), ([Options.self], Self.ofOptions),
      ([Helpers.self, Options.self], Self.ofOptions),
    ]
    for (libraries, expected) in cases {
      let options = VestaOptions(projectID: "demo-\(UUID().uuidString)", backend: .embedded())
      let app = try VestaApp.configure(
        name: "needs-\(UUID().uuidString)", options: options,
        libraries: [AuthServiceLibrary.self, Needed.self] + libraries)
      let engine = try #require(try app.container.require((any AuthBackend).self) as? AuthEngine)
      let taken = engine.core.options
      #expect(taken.codeSender as? Helper === expected)
      #expect(taken.blockingFunctions as? Helper === expected)
      #expect(taken.identityProviderKeys as? Helper === expected)
      await app.delete()
    }
  }
}
