public import VestaBytes

/// A request to read an object or a part of it.
public struct ReadRequest: Sendable, Hashable {
  /// The object.
  public var object: ObjectName

  /// The first byte.
  public var offset: Int64

  /// The largest number of bytes; `nil` for all up to the end.
  public var length: Int64?

  /// The number of bytes before the end, in place of an offset and a length; all bytes where there are fewer.
  public var suffix: Int64?

  /// The conditions on the object.
  public var preconditions: Preconditions

  /// A download token: a token of the object allows the read to every caller.
  public var downloadToken: String?

  /// A request.
  public init(
    object: ObjectName, offset: Int64 = 0, length: Int64? = nil, suffix: Int64? = nil,
    preconditions: Preconditions = .none, downloadToken: String? = nil
  ) {
    self.object = object
    self.offset = offset
    self.length = length
    self.suffix = suffix
    self.preconditions = preconditions
    self.downloadToken = downloadToken
  }
}

/// An open object.
public struct ObjectDownload: Sendable {
  /// The object as it was when it was opened.
  public let object: StorageObject

  /// The bytes of the requested part.
  public let content: any ObjectContent

  /// An open object.
  public init(object: StorageObject, content: any ObjectContent) {
    self.object = object
    self.content = content
  }
}

/// The bytes of an open object, fetched when the reader asks for them.
public protocol ObjectContent: Sendable {
  /// The next bytes.
  ///
  /// One task at a time may read.
  ///
  /// - Parameter maximumLength: How many bytes at most; more than zero.
  /// - Returns: At least one byte; empty at the end.
  /// - Throws: `StorageServiceError`; `CancellationError`.
  func read(maximumLength: Int) async throws -> [UInt8]

  /// The bytes that have not been read yet, where they are a part of one file; `nil` for any other content.
  ///
  /// The section stays valid after ``close()``, and does not move the position of reading.
  func section() -> FileSection?

  /// Frees what reading holds; calling it again does nothing.
  func close()
}

extension ObjectContent {
  /// `nil`: the content is no file.
  public func section() -> FileSection? { nil }
}
