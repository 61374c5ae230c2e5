/// A file with content that is open for reading, for transports that let the system send files.
///
/// The file stays open, and keeps its bytes, for as long as a reference lives.
public protocol ContentFile: AnyObject, Sendable {
  /// The number by which the system knows the open file.
  var descriptor: Int32 { get }

  /// Reads bytes at a position.
  ///
  /// - Parameters:
  ///   - offset: The position of the first byte.
  ///   - count: The number of bytes.
  /// - Returns: The bytes, fewer only at the end of the file; `nil` after a failure.
  func read(at offset: Int64, count: Int) -> [UInt8]?
}

/// A part of a file with content.
public struct ContentSection: Sendable {
  /// The file.
  public let file: any ContentFile

  /// The position of the first byte.
  public let offset: Int64

  /// The number of bytes; the file has them all.
  public let length: Int64

  /// A part of a file.
  public init(_ file: any ContentFile, offset: Int64, length: Int64) {
    self.file = file
    self.offset = offset
    self.length = length
  }
}
