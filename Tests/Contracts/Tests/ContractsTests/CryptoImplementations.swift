import Testing
import VestaCrypto
import VestaCryptoInterop
import VestaCryptoInteropContracts
import VestaCryptoInteropFakes

/// Each call is to arrive at the same call of the other provider.
private struct Passing: PassingCrypto {
  let inner: any CryptoProvider = OpenSSLCrypto()
}

@Suite struct CryptoImplementations {
  static let all: [Implementation<any CryptoProvider>] = [
    Implementation("OpenSSLCrypto") { OpenSSLCrypto() },
    Implementation("PassingCrypto") { Passing() },
  ]

  @Test(arguments: all) func `an implementation keeps every promise`(
    _ implementation: Implementation<any CryptoProvider>
  ) async {
    await implementation.keeps(CryptoContracts.all)
  }
}
