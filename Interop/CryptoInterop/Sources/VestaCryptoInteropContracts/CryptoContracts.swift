public import VestaCryptoInterop
public import VestaTesting

/// The promises of `CryptoProvider` as checks, most of them with published test vectors.
///
/// ```swift
/// for outcome in await CryptoContracts.all.run(against: { OpenSSLCrypto() }) where !outcome.isKept {
///   print(outcome)
/// }
/// ```
public enum CryptoContracts {
  /// Every promise.
  public static var all: [Contract<any CryptoProvider>] {
    digests + ciphers + agreements + keys + tokens + passwords
  }
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

func repeated(_ byte: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: count) }
