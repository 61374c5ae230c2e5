import CVestaOpenSSL
import VestaCryptoInterop

extension KeyHandle {
  private typealias Parameter = JSONWebKey.Parameter

  // Some names are macros of macros, which Swift does not see; these are their values.
  private static let rsaNames: [(Parameter, String)] = [
    (.n, OSSL_PKEY_PARAM_RSA_N), (.e, OSSL_PKEY_PARAM_RSA_E), (.d, OSSL_PKEY_PARAM_RSA_D),
    (.p, "rsa-factor1"), (.q, "rsa-factor2"),
    (.dp, "rsa-exponent1"), (.dq, "rsa-exponent2"),
    (.qi, "rsa-coefficient1"),
  ]
  private static let p256Names: [(Parameter, String)] = [
    (.x, OSSL_PKEY_PARAM_EC_PUB_X), (.y, OSSL_PKEY_PARAM_EC_PUB_Y), (.d, OSSL_PKEY_PARAM_PRIV_KEY),
  ]

  /// A key of the numbers of a JSON Web Key.
  ///
  /// The numbers go to libcrypto as DER, so that there is one way in: the one that PEM takes too.
  static func key(_ jwk: JSONWebKey) throws(CryptoError) -> KeyHandle {
    let bytes = WipedBytes(der(jwk))
    let key = decoded(UnsafeBufferPointer(start: bytes.pointer, count: bytes.count)) {
      jwk.isPrivate ? d2i_AutoPrivateKey(nil, &$0, $1) : d2i_PUBKEY(nil, &$0, $1)
    }
    guard let key else { throw libraryFailure("the numbers do not make a key", code: .invalidKey) }
    return try KeyHandle(owning: key, algorithm: jwk.keyType == .rsa ? .rs256 : .es256, isPrivate: jwk.isPrivate)
  }

  /// The numbers of a key.
  func jsonWebKey(keyID: String?, withPrivate: Bool) throws(CryptoError) -> JSONWebKey {
    var parameters: [Parameter: [UInt8]] = [:]
    for (parameter, name) in algorithm == .rs256 ? Self.rsaNames : Self.p256Names {
      guard withPrivate || [.n, .e, .x, .y].contains(parameter) else { continue }
      parameters[parameter] = try number(name)
    }
    return try JSONWebKey(
      keyType: algorithm == .rs256 ? .rsa : .p256, keyID: keyID, algorithm: algorithm, parameters: parameters
    )
  }

  private func number(_ name: String) throws(CryptoError) -> [UInt8] {
    var number: OpaquePointer?
    guard EVP_PKEY_get_bn_param(pointer, name, &number) == 1, let number else {
      throw libraryFailure("a number of the key cannot be read")
    }
    defer { BN_clear_free(number) }
    // RFC 7518: RSA numbers have no leading zeros, P-256 numbers always have 32 bytes.
    let length = algorithm == .es256 ? 32 : (BN_num_bits(number) + 7) / 8
    return try filled(Int(length), "reading a number of the key") {
      BN_bn2binpad(number, $0, length) == length ? 1 : 0
    }
  }

  private static func der(_ jwk: JSONWebKey) -> [UInt8] {
    // `JSONWebKey` has checked that all numbers of its kind are there.
    func number(_ parameter: Parameter) -> [UInt8] { jwk[parameter] ?? [] }
    return switch (jwk.keyType, jwk.isPrivate) {
    case (.rsa, false): DER.rsaPublicKey(n: number(.n), e: number(.e))
    case (.rsa, true): DER.rsaPrivateKey(rsaNames.map { number($0.0) })
    case (.p256, false): DER.p256PublicKey(x: number(.x), y: number(.y))
    case (.p256, true): DER.p256PrivateKey(d: number(.d), x: number(.x), y: number(.y))
    }
  }
}
