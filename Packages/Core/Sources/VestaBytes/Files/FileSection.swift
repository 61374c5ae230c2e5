/// A file that is open for reading; closed with its last reference.
///
/// It keeps its bytes for as long as a reference lives, so that a transport may let the system send them.
public protocol ReadableFile: AnyObject, Sendable {
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

/// A part of a file.
public struct FileSection: Sendable {
  /// The file.
  public let file: any ReadableFile

  /// The position of the first byte.
  public let offset: Int64

  /// The number of bytes; the file has them all.
  public let count: Int

  /// A part of a file.
  public init(_ file: any ReadableFile, offset: Int64, count: Int) {
    self.file = file
    self.offset = offset
    self.count = count
  }
}
