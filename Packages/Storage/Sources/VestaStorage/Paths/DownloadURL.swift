import Foundation
import VestaBytes
import VestaCore

/// The address of the service of a `Storage`, for its download URLs; pure.
struct ServiceAddress: Sendable, Hashable {
  var scheme = "https"
  var host = "firebasestorage.googleapis.com"
  var port = 443

  /// Firebase's address.
  init() {}

  /// An address.
  init(scheme: String, host: String, port: Int) { (self.scheme, self.host, self.port) = (scheme, host, port) }

  /// The address at which a backend hands objects out; Firebase's for the embedded one, which has none.
  init(of backend: VestaOptions.Backend) {
    guard backend.kind != .embedded, let origin = try? backend.origin(of: "storage", firebase: ""),
      let url = URL(string: origin), let scheme = url.scheme, let host = url.host
    else {
      self.init()
      return
    }
    self.init(scheme: scheme, host: host, port: url.port ?? (scheme == "https" ? 443 : 80))
  }

  /// The download URL of an object.
  ///
  /// - Parameters:
  ///   - bucket: The bucket.
  ///   - name: The object's name.
  ///   - token: A download token.
  /// - Returns: The URL; `nil` when the parts make none.
  func downloadURL(bucket: String, name: String, token: String) -> URL? {
    let bucket = Self.path.encode(bucket)
    let name = Self.path.encode(name)
    let token = PercentEncoding.unreserved.encode(token)
    return URL(string: "\(scheme)://\(host):\(port)/v0/b/\(bucket)/o/\(name)?alt=media&token=\(token)")
  }

  private static let path = PercentEncoding(leaving: "-._~!$'()*,=:@")
}
