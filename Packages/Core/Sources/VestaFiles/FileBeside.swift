import VestaConcurrency

/// A file that is written next to its place and takes it at the end, so that no reader ever sees a part of it.
///
/// It is locked while it is open: another process, or another part of this one, cannot continue it.
///
/// ```swift
/// let file = try FileBeside(named: ".report.new", target: "\(folder)/report")
/// try file.append(bytes)
/// try file.finish()
/// ```
public final class FileBeside: Sendable {
  private struct State {
    var length: Int64
    var behind = WriteBehind()
    /// Whether the file is still under its temporary name.
    var isTemporary = true
  }

  /// The path at which it is written.
  public let temporary: String

  private let target: String
  private let file: OpenFile
  private let state: Locked<State>

  /// Creates the file, and the directories above it.
  ///
  /// - Parameters:
  ///   - name: The name until then, in the directory of the target; nothing has it yet.
  ///   - target: The final path.
  public init(named name: String, target: String) throws(FileFailure) {
    let directory = FilePath.parent(of: target)
    (temporary, self.target) = ("\(directory)/\(name)", target)
    try DurableFile.makeDirectory(directory, isPrivate: false)
    file = try OpenFile(writing: temporary, .always, isPrivate: false)
    state = Locked(State(length: 0))
    guard try file.lockIfFree() else { throw FileFailure.locked(temporary) }
  }

  /// Opens a file that another process has begun, to write after its end.
  ///
  /// - Throws: A failure that ``FileFailure/isLocked`` while it is being written.
  public init(continuing temporary: String, target: String) throws(FileFailure) {
    (self.temporary, self.target) = (temporary, target)
    file = try OpenFile(writing: temporary, .never)
    guard try file.lockIfFree() else { throw FileFailure.locked(temporary) }
    let identity = try file.identity()
    guard identity.isRegular else { throw FileFailure.notAFile(temporary) }
    // Its writer may have given it its final place before the lock was there.
    let named = try OpenFile(reading: temporary).identity()
    guard named.device == identity.device, named.inode == identity.inode else { throw FileFailure.missing(temporary) }
    state = Locked(State(length: identity.size))
  }

  /// The number of bytes that were appended, or found.
  public var length: Int64 { state.withLock { $0.length } }

  /// The number of bytes that the file has now, from any writer.
  public func size() throws(FileFailure) -> Int64 { try file.size() }

  /// Appends bytes; after a failure the length is unchanged.
  ///
  /// Of one task at a time.
  public func append(_ bytes: [UInt8]) throws(FileFailure) {
    let start = state.withLock { $0.length }
    try file.write(bytes, at: start)
    let parts = state.withLock { state in
      state.length = start + Int64(bytes.count)
      return state.behind.written(upTo: state.length)
    }
    for part in parts { file.leave(from: part.lowerBound, to: part.upperBound) }
  }

  /// The bytes at a position; fewer at the end of the file.
  public func read(at offset: Int64, length: Int) throws(FileFailure) -> [UInt8] {
    try file.read(at: offset, length: length)
  }

  /// Discards the written bytes.
  public func truncate() throws(FileFailure) {
    try file.truncate(to: 0)
    state.withLock { ($0.length, $0.behind) = (0, WriteBehind()) }
  }

  /// Waits until the content is on the disk, so that ``finish()`` takes little time.
  public func sync() throws(FileFailure) { try file.sync() }

  /// Gives the file its final place, durably.
  public func finish() throws(FileFailure) {
    try DurableFile.publish(file, from: temporary, as: target)
    state.withLock { $0.isTemporary = false }
    file.close()
  }

  /// Closes and removes the file, unless it has its final place.
  ///
  /// A file that is neither finished nor discarded stays, for another process to continue.
  public func discard() {
    let isTemporary = state.withLock { state in
      defer { state.isTemporary = false }
      return state.isTemporary
    }
    // Before the lock is released: no process may begin to continue it.
    if isTemporary { try? DurableFile.unlink(temporary) }
    file.close()
  }

  /// Removes a file that a killed process has left; one that is being written stays.
  ///
  /// - Returns: Whether it was removed.
  @discardableResult
  public static func removeLeftover(_ temporary: String) -> Bool {
    do throws(FileFailure) {
      try FileBeside(continuing: temporary, target: temporary).discard()
      return true
    } catch {
      return error.isMissing
    }
  }
}

/// Paths as strings; pure.
public enum FilePath {
  /// The directory that a file is in.
  public static func parent(of path: String) -> String {
    var trimmed = path[...]
    while trimmed.utf8.count > 1, trimmed.last == "/" { trimmed.removeLast() }
    guard let slash = trimmed.lastIndex(of: "/") else { return "." }
    return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
  }
}
