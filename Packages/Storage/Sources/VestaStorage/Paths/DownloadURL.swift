import Foundation
import VestaBytes

/// The address of the service of a `Storage`, for its download URLs; pure.
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
    let bucket = Self.path.encode(bucket)
    let name = Self.path.encode(name)
    let token = PercentEncoding.unreserved.encode(token)
    return URL(string: "\(scheme)://\(host):\(port)/v0/b/\(bucket)/o/\(name)?alt=media&token=\(token)")
  }

  private static let path = PercentEncoding(leaving: "-._~!$'()*,=:@")
}
