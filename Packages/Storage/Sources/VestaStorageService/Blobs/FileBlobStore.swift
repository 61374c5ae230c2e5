import VestaBytes
import VestaConcurrency
import VestaFiles
import VestaServiceInterop
public import VestaStorageBackend

/// Blobs as files of a directory.
///
/// A blob is written as `partial/<id>`. Sealing it syncs the file, renames it to `blobs/<first two characters>/<id>`
/// and syncs the directory; so a file under `blobs` is a whole one. A reader keeps its file open and is not disturbed
/// when the file is removed.
public final class FileBlobStore: BlobStore {
  private let root: String
  private let directories = Locked<Set<String>>([])

  /// A store in a directory, which is made with the first blob.
  ///
  /// - Parameter directory: The path of the directory, without other writers.
  public init(directory: String) { root = directory }

  /// Begins a blob, or continues one.
  public func write(_ id: BlobID, keeping size: Int64) async throws -> any BlobWriter {
    try translated { () throws(FileFailure) in
      if DurableFile.exists(sealed(id)) { throw FileFailure.existing(sealed(id)) }
      let file = try inDirectory("\(root)/partial") { () throws(FileFailure) in
        try OpenFile(writing: partial(id), size == 0 ? .ifMissing : .never)
      }
      guard try file.lockIfFree() else { throw FileFailure.locked(partial(id)) }
      guard try file.size() >= size else { throw FileFailure.missing(partial(id)) }
      try file.truncate(to: size)
      return FileBlobWriter(file, size: size, store: self, id: id)
    }
  }

  /// Opens a sealed blob.
  public func read(_ id: BlobID) async throws -> any BlobReader {
    try translated { () throws(FileFailure) in try FileBlobReader(OpenFile(reading: sealed(id))) }
  }

  /// Opens an unsealed blob.
  public func readUnsealed(_ id: BlobID) async throws -> any BlobReader {
    try translated { () throws(FileFailure) in try FileBlobReader(OpenFile(reading: partial(id))) }
  }

  /// Removes a blob.
  public func remove(_ id: BlobID) async throws {
    try translated { () throws(FileFailure) in
      try DurableFile.unlink(sealed(id))
      try DurableFile.unlink(partial(id))
    }
  }

  /// All blobs.
  public func list() async throws -> [BlobID] {
    try translated { () throws(FileFailure) in
      var names = try DurableFile.names(in: "\(root)/partial")
      for folder in try DurableFile.names(in: "\(root)/blobs") {
        names += try DurableFile.names(in: "\(root)/blobs/\(folder)")
      }
      return names.compactMap { BlobID(rawValue: $0) }
    }
  }

  /// Does nothing: files are closed by their readers and writers.
  public func close() async {}

  // MARK: Files

  func seal(_ id: BlobID, _ file: OpenFile, size: Int64) throws(FileFailure) {
    let present = try file.size()
    guard present == size else {
      throw FileFailure(
        code: 0, path: partial(id), "The file has \(present) bytes and not the \(size) that were written to it.")
    }
    try inDirectory(folder(of: id)) { () throws(FileFailure) in
      try DurableFile.publish(file, from: partial(id), as: sealed(id))
    }
  }

  private func partial(_ id: BlobID) -> String { "\(root)/partial/\(id)" }
  private func folder(of id: BlobID) -> String { "\(root)/blobs/\(id.rawValue.prefix(2))" }
  private func sealed(_ id: BlobID) -> String { "\(folder(of: id))/\(id)" }

  /// Uses a directory, which is made where it is missing.
  ///
  /// That it was there once proves nothing: it may have been removed since.
  private func inDirectory<Result>(
    _ path: String, _ body: () throws(FileFailure) -> Result
  ) throws(FileFailure) -> Result {
    let isKnown = directories.withLock { $0.contains(path) }
    if !isKnown {
      try DurableFile.makeDirectory(path)
      directories.withLock { _ = $0.insert(path) }
    }
    do {
      return try body()
    } catch {
      guard isKnown, error.isMissing, !DurableFile.exists(path) else { throw error }
      try DurableFile.makeDirectory(path)
      return try body()
    }
  }

  // MARK: Room

  private var reserve: String { "\(root)/reserve" }

  /// Gives up the room that was kept.
  public func makeRoom() async -> Bool {
    guard let file = try? OpenFile(writing: reserve, .never), let size = try? file.size(), size > 0 else {
      return false
    }
    defer { file.close() }
    return (try? file.truncate(to: 0)) != nil
  }

  /// Keeps room in a file that has nothing else.
  public func keepRoom(_ bytes: Int) async {
    try? await offPool { [root, reserve] () throws(FileFailure) in
      try DurableFile.makeDirectory(root)
      let file = try OpenFile(writing: reserve, .ifMissing)
      defer { file.close() }
      guard try file.size() < bytes else { return }
      do throws(FileFailure) {
        // Ones and not zeros, as some file systems keep no room for those.
        try file.write([UInt8](repeating: 1, count: bytes), at: 0)
      } catch {
        try file.truncate(to: 0)
      }
    }
  }

  /// The room on the disk of the directory.
  public func freeBytes() async -> Int64? {
    DurableFile.freeBytes(at: root) ?? DurableFile.freeBytes(at: FilePath.parent(of: root))
  }

  // MARK: The folder

  /// The id of the folder, by which processes find out that they have the same one.
  func folderID(_ clock: ServiceClock) async throws -> [UInt8] {
    let path = "\(root)/folder-id"
    try translated { () throws(FileFailure) in try DurableFile.makeDirectory(root) }
    for attempt in 0..<100 {
      if let id = try translated({ () throws(FileFailure) in try readID(path) }) { return id }
      // Another process is about to write it, or was killed before it could.
      if attempt > 0 { try await clock.sleep(for: .milliseconds(20)) }
    }
    return try translated { () throws(FileFailure) in
      try DurableFile.replace(path, with: Self.newID())
      return try readID(path) ?? []
    }
  }

  private func readID(_ path: String) throws(FileFailure) -> [UInt8]? {
    do throws(FileFailure) {
      let file = try OpenFile(writing: path, .always)
      defer { file.close() }
      let id = Self.newID()
      try file.write(id, at: 0)
      try file.sync()
      return id
    } catch {
      guard error.isExisting else { throw error }
    }
    let file = try OpenFile(reading: path)
    defer { file.close() }
    let id = try file.read(at: 0, length: Self.lengthOfID)
    return id.count == Self.lengthOfID ? id : nil
  }

  private static let lengthOfID = 16

  private static func newID() -> [UInt8] { SystemRandom.bytes(lengthOfID) }
}

/// Appends to the file of an unsealed blob.
final class FileBlobWriter: BlobWriter {
  private let file: OpenFile
  private let store: FileBlobStore
  private let id: BlobID
  private let written: Locked<(size: Int64, behind: WriteBehind)>

  init(_ file: OpenFile, size: Int64, store: FileBlobStore, id: BlobID) {
    self.file = file
    self.store = store
    self.id = id
    written = Locked((size, WriteBehind()))
  }

  var size: Int64 { written.withLock { $0.size } }

  func append(_ bytes: [UInt8]) async throws {
    let start = size
    let end = start + Int64(bytes.count)
    do throws(BlobError) {
      try translated { () throws(FileFailure) in try file.write(bytes, at: start) }
    } catch {
      // The size is unchanged, as far as the disk lets it be.
      try? file.truncate(to: start)
      throw error
    }
    let parts = written.withLock { written in
      written.size = end
      return written.behind.written(upTo: end)
    }
    for part in parts { file.leave(from: part.lowerBound, to: part.upperBound) }
  }

  func sync() async throws { try await offPool { [file] () throws(FileFailure) in try file.sync() } }

  func seal() async throws {
    try await offPool { [store, id, file, size] () throws(FileFailure) in try store.seal(id, file, size: size) }
    close()
  }

  func close() { file.close() }
}

/// Reads the file of a blob.
final class FileBlobReader: BlobReader {
  /// The size at the time of opening: a size that cannot be had is an error, and not an empty blob.
  let size: Int64
  private let file: OpenFile

  init(_ file: OpenFile) throws(FileFailure) {
    self.file = file
    size = try file.size()
  }

  func read(at offset: Int64, length: Int) async throws -> [UInt8] {
    try translated { () throws(FileFailure) in try file.read(at: offset, length: length) }
  }

  func openFile() throws -> (any ReadableFile)? {
    let loan = try translated { () throws(FileFailure) in try file.lend() }
    return loan.map { LentFile($0) }
  }

  func close() { file.close() }
}

/// The file of a blob, lent to a transport.
private final class LentFile: ReadableFile {
  private let loan: OpenFile.Loan

  init(_ loan: OpenFile.Loan) { self.loan = loan }

  var descriptor: Int32 { loan.descriptor }

  func read(at offset: Int64, count: Int) -> [UInt8]? { try? loan.read(at: offset, length: count) }
}
