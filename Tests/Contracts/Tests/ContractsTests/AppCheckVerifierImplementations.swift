import Foundation
import Testing
import VestaAppCheckBackend
import VestaAppCheckService
import VestaConcurrency
import VestaCore
import VestaCrypto
import VestaMemoryStore
import VestaServiceInterop
import VestaServiceInteropContracts
import VestaServiceInteropFakes
import VestaTesting

/// The verifiers of App Check tokens.
@Suite(.timeLimit(.minutes(5))) struct AppCheckVerifierImplementations {
  @Test func `the engine of App Check keeps every promise about tokens that are used once`() async throws {
    let app = try VestaApp.configure(
      name: "verifier-\(UUID().uuidString)",
      options: VestaOptions(projectID: "demo-\(UUID().uuidString)", backend: .embedded(directory: nil)),
      libraries: [AppCheckServiceLibrary.self, CryptoLibrary.self, MemoryStoreLibrary.self])
    let backend = try app.container.require((any AppCheckBackend).self)
    let verifier = try app.container.require((any AppCheckVerifier).self)
    let appID = "1:2:web:3"
    let secret = "00000000-0000-4000-8000-000000000000"
    try await backend.addDebugSecret(secret, appID: appID, context: .owner)
    await Implementation("AppCheckEngine") {
      AppCheckVerifierSubject(verifier) {
        let token = try await backend.exchange(.debug(secret), appID: appID, context: CallContext())
        return (token.text, appID)
      }
    }.keeps(AppCheckVerifierContracts.all)
    await app.delete()
  }
}
