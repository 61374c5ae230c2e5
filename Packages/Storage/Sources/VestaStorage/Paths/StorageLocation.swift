import Foundation
import VestaBytes

/// A bucket and a path in it, parsed and in canonical form; pure.
///
/// `gs://photos/cats//tom.jpg/` is the bucket `photos` and the path `cats/tom.jpg`. The root has the path "".
struct StorageLocation: Sendable, Hashable {
  let bucket: String

  /// Components separated by single slashes; none at either end.
  let path: String

  init(bucket: String, path: String) {
    self.bucket = bucket
    self.path = Self.canonical(path)
  }

  /// The path without empty components.
  static func canonical(_ path: String) -> String {
    path.parts(at: "/", omittingEmpty: true).joined(separator: "/")
  }

  /// The last component; "" at the root.
  var name: String {
    path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.utf8.index(after: $0)...]) } ?? path
  }

  /// The location above; `nil` at the root.
  var parent: StorageLocation? {
    guard !path.isEmpty else { return nil }
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    return StorageLocation(bucket: bucket, path: slash.map { String(path[..<$0]) } ?? "")
  }

  /// A location below.
  func child(_ child: String) -> StorageLocation { StorageLocation(bucket: bucket, path: path + "/" + child) }

  /// The `gs://` URL.
  var gsURL: String { "gs://\(bucket)/\(path)" }

  /// Whether bucket and path have the same bytes; the service takes names that look alike for different ones.
  static func == (left: StorageLocation, right: StorageLocation) -> Bool {
    UTF8Order.equal(left.bucket, right.bucket) && UTF8Order.equal(left.path, right.path)
  }

  func hash(into hasher: inout Hasher) {
    UTF8Order.hash(bucket, into: &hasher)
    UTF8Order.hash(path, into: &hasher)
  }

  // MARK: Parsing

  /// Reads a `gs://`, `http://` or `https://` URL.
  ///
  /// - Throws: `StorageError.pathError`.
  static func parse(_ text: String) throws(StorageError) -> StorageLocation {
    if let rest = text.dropPrefix("gs://") { return try parse(gs: rest) }
    guard let url = URL(string: text), let scheme = url.scheme?.lowercased() else { throw scheme() }
    guard scheme == "http" || scheme == "https" else { throw self.scheme() }
    return try parse(http: url)
  }

  private static func parse(gs rest: Substring) throws(StorageError) -> StorageLocation {
    let slash = rest.utf8.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
    guard slash > rest.startIndex else {
      throw .pathError(message: "Internal error: URI must be in the form of gs://<bucket>/<path/to/object>")
    }
    return StorageLocation(bucket: String(rest[..<slash]), path: String(rest[slash...]))
  }

  /// `/v0/b/<bucket>[/o[/<object>]]`; the object's slashes may be escaped or not.
  private static func parse(http url: URL) throws(StorageError) -> StorageLocation {
    let parts = url.path(percentEncoded: true).parts(at: "/", omittingEmpty: true)
    guard parts.count >= 3, parts[0] == "v0", parts[1] == "b", parts.count == 3 || parts[3] == "o",
      let bucket = try? PercentEncoding.decode(parts[2])
    else { throw httpForm() }
    var path: [String] = []
    for part in parts.dropFirst(4) {
      // Byte by byte: Foundation's decoding leaves out a byte order mark.
      guard let decoded = try? PercentEncoding.decode(part) else { throw httpForm() }
      path.append(decoded)
    }
    return StorageLocation(bucket: bucket, path: path.joined(separator: "/"))
  }

  private static func scheme() -> StorageError {
    .pathError(message: "Internal error: URL scheme must be one of gs://, http://, or https://")
  }

  private static func httpForm() -> StorageError {
    .pathError(
      message: """
        Internal error: URL must be in the form of \
        http[s]://<host>/v0/b/<bucket>/o/<path/to/object>[?token=signed_url_params]
        """
    )
  }

  /// Checks that a URL's bucket is the bucket of the instance; an instance without one accepts any.
  func check(bucketOfInstance bucket: String) throws(StorageError) {
    guard !bucket.isEmpty, bucket != self.bucket else { return }
    throw .bucketMismatch(
      message: """
        Provided bucket: `\(self.bucket)` does not match the Storage bucket of the current instance: `\(bucket)`
        """
    )
  }
}

extension URL {
  /// The path of a file of this machine; `nil` for another URL, and for one whose path the system would cut at a zero.
  var localPath: String? {
    guard isFileURL, !path.isEmpty, !absoluteString.contains("%00") else { return nil }
    return path
  }
}

extension String {
  fileprivate func dropPrefix(_ prefix: String) -> Substring? {
    utf8.starts(with: prefix.utf8) ? self[utf8.index(utf8.startIndex, offsetBy: prefix.utf8.count)...] : nil
  }
}
