public import VestaBytes

/// The store of the object service for the bytes of objects: files, or an S3-compatible store.
///
/// A blob is written once, sealed, and never changed: the service gives each upload a new blob, and an object
/// points to the blob with its content. Names, metadata and generations are the service's, not the store's.
///
/// Promises of every implementation (`BlobContracts` checks them):
/// - A blob that is not sealed cannot be opened for reading. A sealed blob is there as a whole, also after a crash of
///   the system, as soon as ``BlobWriter/seal()`` has returned.
/// - An unsealed blob can be continued after a crash of the process, and has at least the bytes before the last
///   ``BlobWriter/sync()``.
/// - A reader that is open reads to the end, also when its blob is removed in between.
/// - Methods throw `BlobError`.
public protocol BlobStore: Sendable {
  /// Begins a blob, or continues one that was not sealed.
  ///
  /// - Parameters:
  ///   - id: The blob.
  ///   - size: How many bytes of it to keep: 0 to begin, the size of the last sync to continue.
  /// - Returns: The writer; one at a time for each blob.
  /// - Throws: `BlobError` with `notFound` when fewer bytes are there, `sealed` when the blob is sealed, `busy` while
  ///   another writer is open: in this process, and in others as far as the store can see that.
  func write(_ id: BlobID, keeping size: Int64) async throws -> any BlobWriter

  /// Opens a sealed blob for reading.
  ///
  /// - Parameter id: The blob.
  /// - Returns: The reader, which the caller closes.
  /// - Throws: `BlobError` with `notFound`.
  func read(_ id: BlobID) async throws -> any BlobReader

  /// Opens the bytes of an unsealed blob for reading.
  ///
  /// - Parameter id: The blob.
  /// - Returns: The reader, which the caller closes.
  /// - Throws: `BlobError` with `notFound`.
  func readUnsealed(_ id: BlobID) async throws -> any BlobReader

  /// Removes a blob, sealed or not; nothing happens when it is not there.
  ///
  /// - Parameter id: The blob.
  /// - Throws: `BlobError`.
  func remove(_ id: BlobID) async throws

  /// All blobs, sealed or not, in no order.
  ///
  /// - Returns: The ids.
  /// - Throws: `BlobError`.
  func list() async throws -> [BlobID]

  /// Frees what the store holds; calling it again does nothing.
  func close() async

  /// Keeps some room on the disk, for ``makeRoom()``; does nothing where there is none, or no disk.
  ///
  /// - Parameter bytes: How much.
  func keepRoom(_ bytes: Int) async

  /// Gives up the room that was kept, so that a deletion can be written on a full disk.
  ///
  /// - Returns: Whether there was some.
  func makeRoom() async -> Bool

  /// The number of bytes for which there is room; `nil` where the store does not know.
  func freeBytes() async -> Int64?
}

extension BlobStore {
  /// Does nothing.
  public func keepRoom(_ bytes: Int) async {}

  /// No room is kept.
  public func makeRoom() async -> Bool { false }

  /// `nil`: the room is not known.
  public func freeBytes() async -> Int64? { nil }
}

/// Writes a blob.
public protocol BlobWriter: Sendable {
  /// The number of bytes of the blob.
  var size: Int64 { get }

  /// Appends bytes.
  ///
  /// - Parameter bytes: The next bytes.
  /// - Throws: `BlobError`; the size is unchanged then.
  func append(_ bytes: [UInt8]) async throws

  /// Makes the bytes so far survive a crash of the system.
  ///
  /// - Throws: `BlobError`.
  func sync() async throws

  /// Makes the blob durable and readable, and ends the writer: a later append fails.
  ///
  /// - Throws: `BlobError`, also when the blob has not as many bytes as were appended; it is not readable then.
  func seal() async throws

  /// Ends the writer; the unsealed blob stays, and what is appended afterwards fails. Calling it again does nothing.
  func close()
}

/// Reads a blob.
public protocol BlobReader: Sendable {
  /// The number of bytes of the blob.
  var size: Int64 { get }

  /// Bytes from a position.
  ///
  /// - Parameters:
  ///   - offset: The position of the first byte.
  ///   - length: How many bytes at most; more than zero.
  /// - Returns: At least one byte; empty at the end.
  /// - Throws: `BlobError`.
  func read(at offset: Int64, length: Int) async throws -> [UInt8]

  /// The blob as a file that stays open when the reader has ended; `nil` where a blob is not a separate file.
  ///
  /// - Throws: `BlobError`.
  func openFile() throws -> (any ReadableFile)?

  /// Ends the reader, and what is read afterwards fails; calling it again does nothing.
  func close()
}

extension BlobReader {
  /// `nil`: the blob is no file.
  public func openFile() throws -> (any ReadableFile)? { nil }
}

/// The id of a blob: 1 to 64 lower-case letters and digits.
public struct BlobID: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
  /// The id.
  public let rawValue: String

  /// An id; `nil` when it has other characters.
  ///
  /// - Parameter rawValue: The id.
  public init?(rawValue: String) {
    let bytes = rawValue.utf8
    guard (1...64).contains(bytes.count) else { return nil }
    let isPlain = bytes.allSatisfy {
      ($0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z")) || ($0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9"))
    }
    guard isPlain else { return nil }
    self.rawValue = rawValue
  }

  /// The id.
  public var description: String { rawValue }
}

/// The failure of a blob store.
public struct BlobError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of failure.
  public enum Code: String, Sendable, Hashable {
    /// There is no such blob.
    case notFound
    /// The blob is sealed.
    case sealed
    /// The disk, or the quota on it, is full.
    case diskFull
    /// Another writer has the blob, in this process or another one.
    case busy
    /// The store, the reader or the writer was closed.
    case closed
    /// The system reported another failure of input or output.
    case inputOutput
  }

  /// The kind of failure.
  public let code: Code

  /// The cause and the remedy.
  public let message: String

  /// An error.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The code and the message.
  public var description: String { "\(code.rawValue): \(message)" }
}
