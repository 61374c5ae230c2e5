/// A file that is open for reading, as the source of bodies; closed with its last reference.
public protocol BodyFile: AnyObject, Sendable {
  /// The number by which the system knows the open file.
  var descriptor: Int32 { get }

  /// Reads bytes at a position.
  ///
  /// - Returns: The bytes, fewer only at the end of the file; `nil` after a failure.
  func read(at offset: Int64, count: Int) -> [UInt8]?
}

/// A part of a file.
public struct FileSection: Sendable {
  /// The file.
  public let file: any BodyFile

  /// The position of the first byte.
  public let offset: Int64

  /// The number of bytes.
  public let count: Int

  /// A part of a file.
  public init(_ file: any BodyFile, offset: Int64, count: Int) {
    self.file = file
    self.offset = offset
    self.count = count
  }
}
