import Foundation

/// Where the service of a `Storage` is reached, for the URLs that it hands out; pure.
struct ServiceAddress: Sendable, Hashable {
  var scheme = "https"
  var host = "firebasestorage.googleapis.com"
  var port = 443

  /// The download URL of an object.
  ///
  /// - Parameters:
  ///   - bucket: The bucket.
  ///   - name: The object's name.
  ///   - token: A download token.
  /// - Returns: The URL; `nil` when the parts make none.
  func downloadURL(bucket: String, name: String, token: String) -> URL? {
    let bucket = Self.escaped(bucket, keeping: Self.pathBytes)
    let name = Self.escaped(name, keeping: Self.pathBytes)
    let token = Self.escaped(token, keeping: Self.queryBytes)
    return URL(string: "\(scheme)://\(host):\(port)/v0/b/\(bucket)/o/\(name)?alt=media&token=\(token)")
  }

  private static let alphanumerics = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
  private static let pathBytes = alphanumerics.union("-._~!$'()*,=:@".utf8)
  private static let queryBytes = alphanumerics.union("-._~".utf8)

  static func escaped(_ text: String, keeping plain: Set<UInt8>) -> String {
    var escaped = ""
    for byte in text.utf8 {
      if plain.contains(byte) {
        escaped.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        escaped += byte < 16 ? "%0" : "%"
        escaped += String(byte, radix: 16, uppercase: true)
      }
    }
    return escaped
  }
}
