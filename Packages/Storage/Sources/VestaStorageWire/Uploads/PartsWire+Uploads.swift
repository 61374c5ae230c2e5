import VestaBytes
public import VestaStorageBackend

/// The list of uploads in parts, and the answer to a copied part.
extension PartsWire {
  /// An upload that is under way.
  public struct Upload: Sendable, Hashable {
    /// The name of the object.
    public var key: String
    /// The id.
    public var id: String
    /// When it was started, in microseconds since 1970.
    public var start: Int64

    /// An upload.
    public init(key: String, id: String, start: Int64) {
      self.key = key
      self.id = id
      self.start = start
    }
  }

  /// The question for uploads.
  public struct UploadsRequest: Sendable, Hashable {
    /// The bucket.
    public var bucket: String
    /// The beginning of the names of objects.
    public var prefix: String
    /// The text that ends a common prefix; `nil` for none.
    public var delimiter: String?
    /// The name after which the page begins.
    public var keyMarker: String
    /// The id after which it begins among the uploads of that name; empty for none of them.
    public var idMarker: String
    /// The most uploads and prefixes of the page.
    public var limit: Int
    /// Whether names are percent-encoded.
    public var encodesNames: Bool

    /// A question.
    public init(
      bucket: String, prefix: String = "", delimiter: String? = nil, keyMarker: String = "", idMarker: String = "",
      limit: Int = 1_000, encodesNames: Bool = false
    ) {
      self.bucket = bucket
      self.prefix = prefix
      self.delimiter = delimiter
      self.keyMarker = keyMarker
      self.idMarker = idMarker
      self.limit = limit
      self.encodesNames = encodesNames
    }
  }

  /// The answer to the question for uploads, in the order of the names of their objects.
  public static func list(_ uploads: [Upload], by request: UploadsRequest) -> [UInt8] {
    let name = { (text: String) in request.encodesNames ? PercentEncoding.unreserved.encode(text) : text }
    var items = ""
    var prefixes: [String] = []
    var (count, isTruncated) = (0, false)
    var last = (key: request.keyMarker, id: request.idMarker)
    for upload in sorted(uploads) where isWanted(upload, request) {
      let common = commonPrefix(upload.key, request)
      // A prefix that the page before has ended with is not listed again.
      if let common, common == prefixes.last || common == request.keyMarker {
        if common == prefixes.last { last = (common, "") }
        continue
      }
      guard count < request.limit else {
        isTruncated = true
        break
      }
      count += 1
      if let common {
        prefixes.append(common)
        last = (common, "")
      } else {
        last = (upload.key, upload.id)
        items +=
          "<Upload>" + element("Key", name(upload.key)) + element("UploadId", upload.id)
          + element("StorageClass", "STANDARD")
          + element("Initiated", RFC3339.text(microseconds: upload.start, digits: 3)) + "</Upload>"
      }
    }
    var text = element("Bucket", request.bucket) + element("KeyMarker", name(request.keyMarker))
    text += element("UploadIdMarker", request.idMarker)
    if isTruncated { text += element("NextKeyMarker", name(last.key)) + element("NextUploadIdMarker", last.id) }
    if !request.prefix.isEmpty { text += element("Prefix", name(request.prefix)) }
    if let delimiter = request.delimiter { text += element("Delimiter", name(delimiter)) }
    if request.encodesNames { text += element("EncodingType", "url") }
    text += element("MaxUploads", "\(request.limit)") + element("IsTruncated", "\(isTruncated)") + items
    for prefix in prefixes { text += "<CommonPrefixes>" + element("Prefix", name(prefix)) + "</CommonPrefixes>" }
    return document("ListMultipartUploadsResult", text)
  }

  /// The answer to a part that was copied.
  public static func copied(_ part: StorageObject) -> [UInt8] {
    document(
      "CopyPartResult",
      element("LastModified", RFC3339.text(microseconds: part.updated, digits: 3))
        + element("ETag", "\"\(tag(of: part))\""))
  }

  private static func sorted(_ uploads: [Upload]) -> [Upload] {
    uploads.sorted { left, right in
      UTF8Order.equal(left.key, right.key)
        ? UTF8Order.precedes(left.id, right.id) : UTF8Order.precedes(left.key, right.key)
    }
  }

  /// Whether an upload is after the markers and has the prefix.
  private static func isWanted(_ upload: Upload, _ request: UploadsRequest) -> Bool {
    guard upload.key.utf8.starts(with: request.prefix.utf8) else { return false }
    if UTF8Order.equal(upload.key, request.keyMarker) {
      return !request.idMarker.isEmpty && UTF8Order.precedes(request.idMarker, upload.id)
    }
    return UTF8Order.precedes(request.keyMarker, upload.key)
  }

  /// The part of a name up to the delimiter after the prefix.
  private static func commonPrefix(_ key: String, _ request: UploadsRequest) -> String? {
    guard let delimiter = request.delimiter, !delimiter.isEmpty else { return nil }
    let (bytes, end) = (Array(key.utf8), Array(delimiter.utf8))
    var start = request.prefix.utf8.count
    while start + end.count <= bytes.count {
      if bytes[start..<start + end.count].elementsEqual(end) {
        return String(decoding: bytes[..<(start + end.count)], as: UTF8.self)
      }
      start += 1
    }
    return nil
  }
}
