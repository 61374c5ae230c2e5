public import VestaBytes
public import VestaStorageBackend

/// A command of a resumable upload of Firebase's API: the headers `x-goog-upload-*` of a request.
public enum ResumableCommand: Sendable, Hashable {
  /// The header by which a sender of a part asks `vesta` to refuse an offset that is not the number of bytes received.
  ///
  /// Without it, and at Firebase, the bytes of a part that are there already are dropped, whatever they are: senders
  /// that have lost an answer repeat their part.
  public static let exactOffset = "x-vesta-exact-offset"

  /// Starts an upload; the body is its metadata.
  case start(length: Int64?, contentType: String?)
  /// Appends the body at an offset, and ends the upload if it is the last part.
  case upload(offset: Int64, isLast: Bool)
  /// Ends the upload.
  case finalize
  /// Asks how much was received.
  case query
  /// Cancels the upload.
  case cancel

  /// Reads a command.
  ///
  /// - Parameter field: Returns the value of a header field by its name in lower case.
  /// - Returns: The command; `nil` for a request that is not of a resumable upload.
  /// - Throws: `BytesError` with `.malformed` for a command or an offset that there is not.
  public init?(field: (String) -> String?) throws(BytesError) {
    guard let command = field("x-goog-upload-command") else { return nil }
    let words = Set(command.lowercased().split { $0 == "," || $0 == " " }.map(String.init))
    func number(_ name: String) throws(BytesError) -> Int64? {
      guard let text = field(name) else { return nil }
      guard let number = ByteRangeWire.number(text) else {
        throw BytesError(.malformed, "the header \(name) is no number")
      }
      return number
    }
    switch words {
    case ["start"]:
      self = .start(
        length: try number("x-goog-upload-header-content-length"),
        contentType: field("x-goog-upload-header-content-type"))
    case ["upload"], ["upload", "finalize"]:
      self = .upload(offset: try number("x-goog-upload-offset") ?? 0, isLast: words.count == 2)
    case ["finalize"]: self = .finalize
    case ["query"]: self = .query
    case ["cancel"]: self = .cancel
    default: throw BytesError(.malformed, "the command of an upload is unknown")
    }
  }

  /// The header fields of a command, by their names in lower case.
  public var fields: [(name: String, value: String)] {
    switch self {
    case .start(let length, let contentType):
      var fields = [
        (name: "x-goog-upload-protocol", value: "resumable"), (name: "x-goog-upload-command", value: "start"),
      ]
      if let length { fields.append(("x-goog-upload-header-content-length", "\(length)")) }
      if let contentType { fields.append(("x-goog-upload-header-content-type", contentType)) }
      return fields
    case .upload(let offset, let isLast):
      return [("x-goog-upload-command", isLast ? "upload, finalize" : "upload"), ("x-goog-upload-offset", "\(offset)")]
    case .finalize: return [("x-goog-upload-command", "finalize")]
    case .query: return [("x-goog-upload-command", "query")]
    case .cancel: return [("x-goog-upload-command", "cancel")]
    }
  }
}

/// The headers of an answer to a command of a resumable upload.
///
/// Every answer has the status, errors too: without it clients give up with an unknown error.
public struct ResumableAnswer: Sendable, Hashable {
  /// Whether the upload continues.
  ///
  /// A cancelled upload is reported as final, because clients know no other status.
  public var isActive: Bool
  /// The URL to which parts are sent, absolute, with the host that the client reached; in the answer to a start.
  public var url: String?
  /// The id of the upload; in the answer to a start.
  public var uploadID: String?
  /// The length of which parts are multiples, but the last one; in the answer to a start.
  public var granularity: Int?
  /// The number of bytes received; in the answer to a query, and from `vesta` to a part.
  public var received: Int64?
  /// The checksum of these bytes; only `vesta` states it.
  public var crc32c: UInt32?

  /// An answer.
  public init(isActive: Bool, received: Int64? = nil) {
    self.isActive = isActive
    self.received = received
  }

  /// The answer to a query or a part.
  public init(_ status: UploadStatus) {
    self.init(isActive: status.state == .active, received: status.received)
    crc32c = isActive ? status.crc32c : nil
  }

  /// Reads an answer.
  ///
  /// - Parameter field: Returns the value of a header field by its name in lower case.
  /// - Throws: `BytesError` with `.malformed` for an answer without a status.
  public init(field: (String) -> String?) throws(BytesError) {
    switch field("x-goog-upload-status")?.lowercased() {
    case "active": isActive = true
    case "final", "cancelled": isActive = false
    default: throw BytesError(.malformed, "the answer has no status of the upload")
    }
    url = field("x-goog-upload-url")
    uploadID = field("x-gupload-uploadid")
    granularity = field("x-goog-upload-chunk-granularity").flatMap { Int($0) }
    received = field("x-goog-upload-size-received").flatMap { ByteRangeWire.number($0) }
    crc32c = field("x-goog-hash").flatMap { ObjectWire.digest(hash: $0).crc32c }
  }

  /// The header fields of an answer, by their names in lower case.
  public var fields: [(name: String, value: String)] {
    var fields = [(name: "x-goog-upload-status", value: isActive ? "active" : "final")]
    if let url {
      fields.append(("x-goog-upload-url", url))
      fields.append(("x-goog-upload-control-url", ""))
    }
    if let uploadID { fields.append(("x-gupload-uploadid", uploadID)) }
    if let granularity { fields.append(("x-goog-upload-chunk-granularity", "\(granularity)")) }
    if let received { fields.append(("x-goog-upload-size-received", "\(received)")) }
    if let crc32c { fields.append(("x-goog-hash", "crc32c=\(CRC32C.text(crc32c))")) }
    return fields
  }
}

/// The ranges of bytes of Google's resumable uploads.
public enum ByteRangeWire {
  /// The header `content-range` of a part of an upload.
  public struct Part: Sendable, Hashable {
    /// The first and the last byte; `nil` for a part without content, which asks how much was received.
    public var bounds: ClosedRange<Int64>?
    /// The length of the whole; `nil` when it is not known yet.
    public var total: Int64?

    /// A part.
    public init(bounds: ClosedRange<Int64>?, total: Int64?) {
      self.bounds = bounds
      self.total = total
    }

    /// Whether nothing follows.
    public var isLast: Bool { total.map { $0 == (bounds?.upperBound ?? -1) + 1 } ?? false }

    /// The value of the header.
    public var text: String {
      let range = bounds.map { "\($0.lowerBound)-\($0.upperBound)" } ?? "*"
      return "bytes \(range)/\(total.map { "\($0)" } ?? "*")"
    }
  }

  /// Reads the header `content-range`; `nil` for what is none.
  public static func part(_ header: String) -> Part? {
    guard header.lowercased().hasPrefix("bytes ") else { return nil }
    let parts = header.dropFirst(6).parts(at: "/", maxSplits: 1)
    guard parts.count == 2 else { return nil }
    let total = number(parts[1])
    guard total != nil || parts[1] == "*" else { return nil }
    if parts[0] == "*" { return Part(bounds: nil, total: total) }
    let ends = parts[0].split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard ends.count == 2, let first = number(ends[0]), let last = number(ends[1]), first <= last,
      total.map({ last < $0 }) ?? true
    else { return nil }
    return Part(bounds: first...last, total: total)
  }

  /// The header `range` of an answer with the status 308: the bytes received; `nil` for none.
  public static func received(_ count: Int64) -> String? { count > 0 ? "bytes=0-\(count - 1)" : nil }

  /// The number of bytes received, by the header `range` of an answer; 0 without one, `nil` for what is none.
  public static func received(header: String?) -> Int64? {
    guard let header else { return 0 }
    guard case .bounds(0, let last)? = ByteRangeField(header), last < .max else { return nil }
    return last + 1
  }

  /// A number of digits alone.
  static func number(_ text: some StringProtocol) -> Int64? {
    guard (1...19).contains(text.utf8.count), text.utf8.allSatisfy({ $0 &- 48 < 10 }) else { return nil }
    return Int64(text)
  }
}
