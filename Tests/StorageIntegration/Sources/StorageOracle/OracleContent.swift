public import Foundation

/// The content of a version of an object: a random sequence that its number determines, of any length.
///
/// A shorter content of the same number is the beginning of a longer one, so a file that grows stays a content, and
/// half a file is told from a whole one.
public struct OracleContent: Codable, Hashable, Sendable {
  /// The number of the sequence; below 256 where the content has fewer than eight bytes, and 0 where it has none.
  public let number: UInt64

  /// The number of bytes.
  public let length: Int

  /// Creates a content.
  public init(number: UInt64, length: Int) {
    self.length = length
    self.number = length >= 8 ? number : length == 0 ? 0 : number & 0xFF
  }

  /// The longest content that there is.
  public static let longest = 1_000_000

  // The bytes of all contents, which begin at different places of it.
  private static let base: Data = {
    var state: UInt64 = 7
    var data = Data(count: longest + 8_192)
    data.withUnsafeMutableBytes { (bytes: UnsafeMutableRawBufferPointer) in
      for index in stride(from: 0, to: bytes.count, by: 8) {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        bytes.storeBytes(of: state ^ (state >> 29), toByteOffset: index, as: UInt64.self)
      }
    }
    return data
  }()

  /// The bytes.
  public var data: Data {
    guard length >= 8 else { return Data(repeating: UInt8(truncatingIfNeeded: number), count: length) }
    let start = Int(number % 8_000)
    return withUnsafeBytes(of: number) { Data($0) } + Self.base[start..<(start + length - 8)]
  }

  /// The content that some bytes are, or `nil` if they are none.
  public init?(_ data: Data) {
    guard data.count >= 8 else {
      self.init(number: UInt64(data.first ?? 0), length: data.count)
      guard data.allSatisfy({ $0 == data.first }) else { return nil }
      return
    }
    guard data.count <= Self.longest else { return nil }
    var number: UInt64 = 0
    withUnsafeMutableBytes(of: &number) { _ = data.copyBytes(to: $0, count: 8) }
    self.init(number: number, length: data.count)
    guard self.data == data else { return nil }
  }

  /// The content of a file; `nil` if there is none.
  public init?(fileAt path: String) {
    guard let data = FileManager.default.contents(atPath: path), let content = OracleContent(data) else { return nil }
    self = content
  }
}
