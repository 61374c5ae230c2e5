import CVestaOpenSSL
import VestaCryptoInterop

extension KeyHandle {
  /// A certificate of the key, signed by itself, as PEM.
  func certificate(_ facts: CertificateFacts) throws(CryptoError) -> String {
    guard (1...64).contains(facts.commonName.count), facts.serialNumber > 0 else {
      throw CryptoError(.invalidParameter, "certificate: a name of 1 to 64 characters and a serial number are needed")
    }
    guard let certificate = X509_new() else { throw libraryFailure("out of memory") }
    defer { X509_free(certificate) }
    let name = Array(facts.commonName.utf8)
    let subject = X509_get_subject_name(certificate)
    // Version 3 is number 2.
    guard X509_set_version(certificate, 2) == 1,
      ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), facts.serialNumber) == 1,
      ASN1_TIME_set(X509_getm_notBefore(certificate), Int(facts.validFrom)) != nil,
      ASN1_TIME_set(X509_getm_notAfter(certificate), Int(facts.validUntil)) != nil,
      X509_set_pubkey(certificate, pointer) == 1,
      X509_NAME_add_entry_by_txt(subject, "CN", Self.utf8Text, name, Int32(name.count), -1, 0) == 1,
      X509_set_issuer_name(certificate, subject) == 1,
      X509_sign(certificate, pointer, EVP_sha256()) > 0
    else { throw libraryFailure("the certificate cannot be made") }
    var bytes: UnsafeMutablePointer<UInt8>?
    let length = i2d_X509(certificate, &bytes)
    defer { CRYPTO_free(bytes, "", 0) }
    guard length > 0, let bytes else { throw libraryFailure("the certificate cannot be written") }
    return PEM(label: "CERTIFICATE", bytes: Array(UnsafeBufferPointer(start: bytes, count: Int(length)))).text
  }

  /// `MBSTRING_UTF8`, a macro that Swift does not see.
  private static let utf8Text: Int32 = 0x1000
}
