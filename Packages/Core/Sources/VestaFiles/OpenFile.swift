import VestaConcurrency

/// A file that is open for reading, and for writing if it was opened so, at any position and from any thread.
///
/// A symbolic link in the file's place is refused. ``close()`` may be called while others read and write: they finish
/// first, and calls after it throw a failure that ``FileFailure/isClosed``.
///
/// ```swift
/// let file = try OpenFile(writing: path, .ifMissing)
/// try file.write(bytes, at: 0)
/// try file.sync()
/// ```
public final class OpenFile: Sendable {
  /// The treatment of a missing and of an existing file.
  public enum Creation: Sendable, Hashable {
    /// Only a file that exists is opened.
    case never
    /// A missing file is created.
    case ifMissing
    /// The file is created; one that exists is a failure.
    case always
  }

  private struct State {
    var file: SystemFile?
    /// The number of calls that use the file.
    var users = 0
    var isClosing = false
  }

  private let path: String
  private let state: Locked<State>

  /// Opens a file for reading.
  ///
  /// - Parameter path: The path; one with a zero byte names no file.
  public init(reading path: String) throws(FileFailure) {
    self.path = path
    state = Locked(State(file: try SystemFile(reading: path)))
  }

  /// Opens a file for reading and writing.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - creation: The treatment of a missing and of an existing file.
  ///   - isPrivate: Whether only the user may read a file that is created; otherwise it has the permissions that new
  ///     files of the process have.
  public init(writing path: String, _ creation: Creation, isPrivate: Bool = true) throws(FileFailure) {
    self.path = path
    state = Locked(State(file: try SystemFile(writing: path, creation, isPrivate: isPrivate)))
  }

  deinit { close() }

  /// The identity of the file, by which a later change is noticed.
  public func identity() throws(FileFailure) -> FileIdentity {
    try using { file throws(FileFailure) in try file.identity(path) }
  }

  /// The time of the last change of content, names or permissions, in nanoseconds since 1970.
  ///
  /// Unlike the time of the last change of content, no program can set it.
  public func statusTime() throws(FileFailure) -> Int64 {
    try using { file throws(FileFailure) in try file.statusTime(path) }
  }

  /// Locks the file against other processes and other open files that lock it, until it is closed.
  ///
  /// - Returns: Whether it is locked now; `false` while another open file holds the lock.
  public func lockIfFree() throws(FileFailure) -> Bool {
    try using { file throws(FileFailure) in try file.lockIfFree(path) }
  }

  /// The number of bytes.
  public func size() throws(FileFailure) -> Int64 { try identity().size }

  /// The bytes at a position; fewer at the end of the file.
  public func read(at offset: Int64, length: Int) throws(FileFailure) -> [UInt8] {
    try using { file throws(FileFailure) in try file.read(at: offset, length: length, path) }
  }

  /// Writes all bytes at a position.
  ///
  /// - Throws: A failure after which a part of the bytes may be written; ``truncate(to:)`` takes them away.
  public func write(_ bytes: [UInt8], at offset: Int64) throws(FileFailure) {
    try using { file throws(FileFailure) in try file.write(bytes, at: offset, path) }
  }

  /// Cuts the file off, or fills it with zeros, to a size.
  public func truncate(to size: Int64) throws(FileFailure) {
    try using { file throws(FileFailure) in try file.truncate(to: size, path) }
  }

  /// Waits until the content is on the disk.
  public func sync() throws(FileFailure) {
    try using { file throws(FileFailure) in try file.sync(path) }
  }

  /// Says that a part of the file is not read or written again soon.
  ///
  /// The system begins to write it to the disk, and forgets what has arrived there. Nothing happens where the system
  /// has no such call.
  public func leave(from offset: Int64, to end: Int64) {
    try? using { file throws(FileFailure) in file.leave(from: offset, to: end) }
  }

  /// Closes the file, after the calls that use it; a second call does nothing.
  public func close() {
    let closed = state.withLock { state in
      state.isClosing = true
      return state.users == 0 ? state.file.take() : nil
    }
    closed?.close()
  }

  /// Runs a call that uses the file, which stays open during the call: its number could be another file's by then.
  private func using<Result>(
    _ body: (SystemFile) throws(FileFailure) -> Result
  ) throws(FileFailure) -> Result {
    let file = try beginUse()
    defer { endUse() }
    return try body(file)
  }

  private func beginUse() throws(FileFailure) -> SystemFile {
    let file = state.withLock { state -> SystemFile? in
      guard !state.isClosing, let file = state.file else { return nil }
      state.users += 1
      return file
    }
    guard let file else { throw FileFailure.closed(path) }
    return file
  }

  private func endUse() {
    let closed = state.withLock { state in
      state.users -= 1
      return state.isClosing && state.users == 0 ? state.file.take() : nil
    }
    closed?.close()
  }

  /// A use of an open file that lasts as long as the value: the file is closed after it.
  public final class Loan: Sendable {
    /// The number by which the system knows the open file.
    public let descriptor: Int32

    private let owner: OpenFile
    private let file: SystemFile

    fileprivate init(_ owner: OpenFile, _ file: SystemFile, descriptor: Int32) {
      self.owner = owner
      self.file = file
      self.descriptor = descriptor
    }

    deinit { owner.endUse() }

    /// The bytes at a position; fewer at the end of the file.
    public func read(at offset: Int64, length: Int) throws(FileFailure) -> [UInt8] {
      try file.read(at: offset, length: length, owner.path)
    }
  }

  /// Lends the file to a call of the system that takes open files by number; `nil` where the system has no numbers.
  public func lend() throws(FileFailure) -> Loan? {
    let file = try beginUse()
    guard let descriptor = file.number else {
      endUse()
      return nil
    }
    return Loan(self, file, descriptor: descriptor)
  }
}

/// The identity of a file: equal identities mean one file with the same content, as far as the system reports.
public struct FileIdentity: Sendable, Hashable, Codable {
  /// The device that the file is on.
  public let device: UInt64
  /// The number of the file on its device.
  public let inode: UInt64
  /// The number of bytes.
  public let size: Int64
  /// The time of the last change in seconds since 1970.
  public let modifiedSeconds: Int64
  /// The nanoseconds within that second.
  public let modifiedNanoseconds: Int64
  /// Whether it is a regular file, not a directory or a device.
  public let isRegular: Bool
}
