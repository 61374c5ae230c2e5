import VestaCrypto
import VestaCryptoInteropFakes

/// The keys of the engines that these tests serve, which are generated once.
let rsaKeys = KeptKeys(of: OpenSSLCrypto())
