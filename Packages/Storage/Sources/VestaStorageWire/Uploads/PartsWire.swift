public import VestaBytes
public import VestaStorageBackend

/// The documents of uploads in parts by Google's XML, which are those of S3.
public enum PartsWire {
  /// A part as the end of an upload names it.
  public struct Named: Sendable, Hashable {
    /// The number, from 1.
    public var number: Int
    /// The tag, without quotation marks.
    public var tag: String

    /// A part.
    public init(number: Int, tag: String) {
      self.number = number
      self.tag = tag
    }
  }

  /// A page of the parts that have arrived.
  public struct Page: Sendable {
    /// The parts, in the order of their numbers.
    public var parts: [(number: Int, object: StorageObject)]
    /// The number after which the page begins.
    public var marker: Int
    /// The most parts of the page.
    public var limit: Int
    /// Whether there are more.
    public var isTruncated: Bool

    /// A page.
    public init(parts: [(number: Int, object: StorageObject)], marker: Int, limit: Int, isTruncated: Bool) {
      self.parts = parts
      self.marker = marker
      self.limit = limit
      self.isTruncated = isTruncated
    }
  }

  /// The answer to the start of an upload.
  public static func started(_ object: ObjectName, id: String) -> [UInt8] {
    document("InitiateMultipartUploadResult", place(object) + element("UploadId", id))
  }

  /// The answer to the end of an upload.
  public static func completed(_ object: StorageObject, location: String) -> [UInt8] {
    document(
      "CompleteMultipartUploadResult",
      element("Location", location) + place(object.name) + element("ETag", "\"\(tag(of: object))\""))
  }

  /// The answer to a form that asks for it.
  public static func posted(_ object: StorageObject, location: String) -> [UInt8] {
    let text = element("Location", location) + place(object.name) + element("ETag", "\"\(tag(of: object))\"")
    return Array("<?xml version='1.0' encoding='UTF-8'?><PostResponse>\(text)</PostResponse>".utf8)
  }

  /// The answer to the question for the parts.
  public static func list(_ page: Page, of object: ObjectName, id: String) -> [UInt8] {
    var text = place(object) + element("UploadId", id) + element("StorageClass", "STANDARD")
    text += element("PartNumberMarker", "\(page.marker)")
    if page.isTruncated { text += element("NextPartNumberMarker", "\(page.parts.last?.number ?? page.marker)") }
    text += element("MaxParts", "\(page.limit)") + element("IsTruncated", "\(page.isTruncated)")
    for (number, object) in page.parts {
      let time = RFC3339.text(microseconds: object.updated, digits: 3)
      text +=
        "<Part>" + element("PartNumber", "\(number)") + element("LastModified", time)
        + element("ETag", "\"\(tag(of: object))\"") + element("Size", "\(object.size)") + "</Part>"
    }
    return document("ListPartsResult", text)
  }

  /// The tag of a part: the MD5 of its content, or its checksum and size where there is none.
  public static func tag(of object: StorageObject) -> String {
    object.md5.map { Hex.encode($0) } ?? "\(object.crc32c)-\(object.size)"
  }

  /// Reads the parts of which an upload is to be made, in the order of the document.
  public static func parts(_ document: [UInt8]) throws(BytesError) -> [Named] {
    guard let text = String(validating: document, as: UTF8.self) else {
      throw BytesError(.malformed, "the document is no UTF-8")
    }
    var parts: [Named] = []
    var fields: [Substring: String] = [:]
    for piece in text.split(separator: "<").dropFirst(text.first == "<" ? 0 : 1) {
      guard let end = piece.firstIndex(of: ">") else { throw BytesError(.malformed, "the document is no XML") }
      let name = piece[..<end].prefix { !$0.isWhitespace }.split(separator: ":").last ?? ""
      switch name {
      case "Part": fields = [:]
      case "PartNumber", "ETag": fields[name] = unescaped(piece[piece.index(after: end)...])
      case "/Part":
        guard let number = fields["PartNumber"].flatMap({ Int($0) }), let tag = fields["ETag"] else {
          throw BytesError(.malformed, "a part has no number or no tag")
        }
        parts.append(Named(number: number, tag: tag))
      default: break
      }
    }
    return parts
  }

  // MARK: Parts of documents

  private static func unescaped(_ text: Substring) -> String {
    var plain = String(text)
    for (name, character) in [
      ("&quot;", "\""), ("&#34;", "\""), ("&#x22;", "\""), ("&apos;", "'"), ("&lt;", "<"), ("&gt;", ">"),
      ("&amp;", "&"),
    ] where plain.contains("&") {
      plain = plain.split(separator: name, omittingEmptySubsequences: false).joined(separator: character)
    }
    return plain.filter { !$0.isWhitespace && $0 != "\"" }
  }

  static func document(_ name: String, _ content: String) -> [UInt8] {
    Array(
      "<?xml version='1.0' encoding='UTF-8'?><\(name) xmlns='http://s3.amazonaws.com/doc/2006-03-01/'>\(content)</\(name)>"
        .utf8)
  }

  private static func place(_ object: ObjectName) -> String {
    element("Bucket", object.bucket) + element("Key", object.name)
  }

  static func element(_ name: String, _ text: String) -> String {
    "<\(name)>\(StorageErrorWire.escaped(text))</\(name)>"
  }
}
