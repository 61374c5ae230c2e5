import Testing
import VestaCrypto
import VestaCryptoInterop
import VestaCryptoInteropContracts

@Suite struct CryptoImplementations {
  static let all: [Implementation<any CryptoProvider>] = [
    Implementation("OpenSSLCrypto") { OpenSSLCrypto() }
  ]

  @Test(arguments: all) func `an implementation keeps every promise`(
    _ implementation: Implementation<any CryptoProvider>
  ) async {
    await implementation.keeps(CryptoContracts.all)
  }
}
