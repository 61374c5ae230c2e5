import Testing
import VestaCrypto
import VestaCryptoInterop
import VestaCryptoInteropContracts

@Suite struct CryptoImplementations {
  static let all: [Implementation<any CryptoProvider>] = [
    Implementation("OpenSSLCrypto") { OpenSSLCrypto() }
  ]

  @Test(arguments: all) func keepsEveryPromise(_ implementation: Implementation<any CryptoProvider>) async {
    await implementation.keeps(CryptoContracts.all)
  }
}
