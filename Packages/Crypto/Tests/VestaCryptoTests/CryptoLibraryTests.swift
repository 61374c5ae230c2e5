import Testing
import VestaCore
import VestaCrypto
import VestaCryptoInterop

@Suite struct CryptoLibraryTests {
  @Test func `an app finds its cryptography by its protocol`() async throws {
    let app = try VestaApp.configure(name: "crypto-library", options: VestaOptions(), libraries: [CryptoLibrary.self])
    let crypto = try app.container.require((any CryptoProvider).self)
    #expect(Hex.encode(try crypto.digest(.sha256, of: [])).hasPrefix("e3b0c442"))
    #expect(await app.delete())
  }
}
