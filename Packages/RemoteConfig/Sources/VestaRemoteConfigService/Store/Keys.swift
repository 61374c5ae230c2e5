import VestaBytes

/// The rows of the store.
///
/// | key | value |
/// |---|---|
/// | `"current"`, namespace | ``CurrentRecord``: which version is current |
/// | `"template"`, namespace, version | ``TemplateRecord``: the template in Firebase's JSON, without its version |
/// | `"version"`, namespace, version | ``VersionRecord``: the notes of its publish |
/// | `"events"`, … | events; see `EventOutbox` |
///
/// Versions are ordered by number, so a list of them is one scan from the end.
enum Keys {
  static let outbox = KeyEncoder(.string("events")).bytes

  static func current(_ namespace: String) -> [UInt8] {
    KeyEncoder(.string("current"), .string(namespace)).bytes
  }

  static func template(_ namespace: String, _ version: Int64) -> [UInt8] {
    KeyEncoder(.string("template"), .string(namespace), .int(version)).bytes
  }

  static func version(_ namespace: String, _ version: Int64) -> [UInt8] {
    KeyEncoder(.string("version"), .string(namespace), .int(version)).bytes
  }

  /// The number of the version that ends a key.
  static func version(of key: [UInt8]) throws -> Int64 {
    guard case .int(let version)? = try KeyDecoder.elements(of: key).last else {
      throw BytesError(.malformed, "The key \(KeyPrinter.text(for: key)) does not end with a version.")
    }
    return version
  }

  /// The rows of the versions up to one, that one included.
  static func templates(_ namespace: String, upTo version: Int64) -> KeyRange {
    KeyRange(from: KeyEncoder(.string("template"), .string(namespace)).bytes, to: template(namespace, version + 1))
  }

  /// The rows of the versions up to one, that one included.
  static func versions(_ namespace: String, upTo version: Int64) -> KeyRange {
    KeyRange(from: KeyEncoder(.string("version"), .string(namespace)).bytes, to: Self.version(namespace, version + 1))
  }
}
