/// Why a file could not be used, as the system says it.
public struct FileFailure: Error, CustomStringConvertible {
  /// The error number of the system, such as `ENOSPC`; zero where the system has none.
  public let code: Int32

  /// The file or directory.
  public let path: String

  /// The operation, the file, and why it failed.
  public let description: String

  /// A failure.
  ///
  /// - Parameters:
  ///   - code: The error number of the system.
  ///   - path: The file or directory.
  ///   - description: The operation and the cause of its failure.
  public init(code: Int32, path: String, _ description: String) {
    self.code = code
    self.path = path
    self.description = description
  }
}

/// Bytes to be written over a part of a file.
public struct FileChange: Sendable, Hashable {
  /// Where the bytes begin.
  public var offset: Int

  /// The bytes.
  public var bytes: [UInt8]

  /// A change.
  public init(offset: Int, bytes: [UInt8]) {
    self.offset = offset
    self.bytes = bytes
  }
}
