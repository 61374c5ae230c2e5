public import VestaBytes

/// One page of a list.
public struct Page<Item: Sendable>: Sendable {
  /// The items, in order.
  public var items: [Item]

  /// The token of the next page; `nil` for the last page.
  public var nextPageToken: String?

  /// A page.
  public init(_ items: [Item], nextPageToken: String? = nil) {
    self.items = items
    self.nextPageToken = nextPageToken
  }

  /// The page with its items converted.
  public func map<Other: Sendable>(_ convert: (Item) throws -> Other) rethrows -> Page<Other> {
    Page<Other>(try items.map(convert), nextPageToken: nextPageToken)
  }
}

/// The position after the last item of a page, as a string that is valid in a URL.
///
/// A token belongs to one request: it carries a checksum of what the request asks for, so that a token that is sent
/// with another request is refused and does not return arbitrary items. It is not a secret and proves nothing.
public struct PageToken: Sendable, Hashable {
  private static let version: UInt8 = 1

  /// The position, such as the key of the last item.
  public let position: [UInt8]

  private let scope: UInt32

  /// A token.
  ///
  /// - Parameters:
  ///   - position: The position, such as the key of the last item.
  ///   - request: The request without its page size: collection, filter, order.
  public init(position: [UInt8], of request: [UInt8]) {
    self.position = position
    scope = Self.checksum(request)
  }

  /// Reads a token.
  ///
  /// - Parameters:
  ///   - text: A token as a string.
  ///   - request: The request without its page size.
  /// - Throws: `BytesError` with `.malformed` for a string that is no token, or the token of another request.
  public init(_ text: String, of request: [UInt8]) throws(BytesError) {
    var reader = ByteReader(try Base64.url.decode(text))
    guard try reader.byte() == Self.version, try reader.fixed32() == Self.checksum(request) else {
      throw BytesError(.malformed, "The page token is not of this request.")
    }
    self.init(position: Array(reader.rest), of: request)
  }

  /// The token as a string.
  public var text: String {
    var writer = ByteWriter(reserving: position.count + 5)
    writer.write(byte: Self.version)
    writer.write(fixed32: scope)
    writer.write(raw: position)
    return Base64.url.encode(writer.bytes)
  }

  /// A token of a list that is ordered by numbers.
  public init(number: Int64, of request: [UInt8]) { self.init(position: Array("\(number)".utf8), of: request) }

  /// The number of a token that was made of one.
  ///
  /// - Throws: `BytesError` with `.malformed` for another position.
  public func number() throws(BytesError) -> Int64 {
    guard let number = Int64(String(decoding: position, as: UTF8.self)) else {
      throw BytesError(.malformed, "The position of the page token is no number.")
    }
    return number
  }

  private static func checksum(_ request: [UInt8]) -> UInt32 {
    var checksum = CRC32C()
    checksum.update(request)
    return checksum.value
  }
}
