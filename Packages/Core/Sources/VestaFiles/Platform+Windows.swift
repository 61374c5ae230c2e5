// The platforms without POSIX files; Platform.swift has the others.
#if !(canImport(Darwin) || canImport(Glibc) || canImport(Musl) || canImport(Android))
  import Foundation
  import VestaConcurrency

  /// Small files of the user, replaced as a whole.
  ///
  /// Access is what the user's directory grants; the platform has no modes.
  public enum DurableFile {
    /// Reads all bytes of a file; `nil` when there is none.
    public static func read(_ path: String) throws(FileFailure) -> [UInt8]? {
      guard FileManager.default.fileExists(atPath: path) else { return nil }
      return try describing { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }
    }

    /// Puts bytes in the place of a file.
    public static func replace(_ path: String, with bytes: [UInt8]) throws(FileFailure) {
      try describing { try Data(bytes).write(to: URL(fileURLWithPath: path), options: .atomic) }
    }

    /// Always `false`: where files have no locks they are replaced as a whole.
    public static func change(_ path: String, _ decide: ([UInt8]) -> FileChange?) throws(FileFailure) -> Bool {
      false
    }

    /// Nothing: a replacement leaves no temporary file here.
    public static func sweep(_ path: String) {}

    /// Deletes a file; one that is not there is deleted already.
    public static func remove(_ path: String) throws(FileFailure) {
      guard FileManager.default.fileExists(atPath: path) else { return }
      try describing { try FileManager.default.removeItem(atPath: path) }
    }

    /// Renames a file.
    public static func move(_ path: String, to target: String) throws(FileFailure) {
      try describing { try FileManager.default.moveItem(atPath: path, toPath: target) }
    }

    /// Moves a file that was written next to its place there.
    public static func publish(_ file: OpenFile, from temporary: String, as target: String) throws(FileFailure) {
      try file.sync()
      if exists(target) { try remove(target) }
      try move(temporary, to: target)
    }

    /// Deletes a file; one that is not there is deleted already.
    public static func unlink(_ path: String) throws(FileFailure) { try remove(path) }

    /// The number of bytes for which the file system of a path has room; `nil` where the system does not say.
    public static func freeBytes(at path: String) -> Int64? {
      let values = try? FileManager.default.attributesOfFileSystem(forPath: path)
      return (values?[.systemFreeSize] as? NSNumber)?.int64Value
    }

    /// Whether there is something at a path.
    public static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    /// The names in a directory, in no order; none where there is no directory.
    public static func names(in path: String) throws(FileFailure) -> [String] {
      var isDirectory: ObjCBool = false
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue else {
        return []
      }
      return try describing { try FileManager.default.contentsOfDirectory(atPath: path) }
    }

    /// Makes a directory and those above it, where they are missing.
    public static func makeDirectory(_ path: String, isPrivate: Bool = true) throws(FileFailure) {
      try describing { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
    }

    fileprivate static func describing<Value>(
      _ path: String = "", _ body: () throws -> Value
    ) throws(FileFailure) -> Value {
      do { return try body() } catch { throw FileFailure(code: 0, path: path, "\(error)") }
    }
  }

  extension FileFailure {
    private static let missing: Int32 = 2, existing: Int32 = 17, closed: Int32 = 9, directory: Int32 = 21
    private static let busy: Int32 = 11

    /// The failure of a file that is missing.
    public static func missing(_ path: String) -> FileFailure {
      FileFailure(code: missing, path: path, "open \(path): there is no such file")
    }

    /// The failure of a file that exists already.
    public static func existing(_ path: String) -> FileFailure {
      FileFailure(code: existing, path: path, "open \(path): there is such a file already")
    }

    static func closed(_ path: String) -> FileFailure {
      FileFailure(code: closed, path: path, "use \(path): the file was closed")
    }

    /// The failure of something that is no regular file.
    public static func notAFile(_ path: String) -> FileFailure {
      FileFailure(code: directory, path: path, "open \(path): this is a directory")
    }

    /// The reason.
    public var reason: String { description }

    /// Whether there is no such file.
    public var isMissing: Bool { code == Self.missing }

    /// Whether there is such a file already.
    public var isExisting: Bool { code == Self.existing }

    /// Whether the disk is full; not known here.
    public var isFull: Bool { false }

    /// The failure of a file that is locked.
    public static func locked(_ path: String) -> FileFailure {
      FileFailure(code: busy, path: path, "lock \(path): somebody else has locked the file")
    }

    /// Whether the file was closed.
    public var isClosed: Bool { code == Self.closed }

    /// Whether another process, or another open file of this one, has locked the file.
    public var isLocked: Bool { code == Self.busy }
  }

  /// An open file of the system; its position is set under a lock before each call.
  struct SystemFile: Sendable {
    private let handle: Locked<FileHandle>

    /// The system knows open files by handles.
    var number: Int32? { nil }

    init(reading path: String) throws(FileFailure) {
      guard let handle = FileHandle(forReadingAtPath: path) else { throw .missing(path) }
      self.handle = Locked(handle)
    }

    init(writing path: String, _ creation: OpenFile.Creation, isPrivate: Bool) throws(FileFailure) {
      let exists = DurableFile.exists(path)
      if exists, creation == .always { throw .existing(path) }
      if !exists, creation != .never { _ = FileManager.default.createFile(atPath: path, contents: nil) }
      guard let handle = FileHandle(forUpdatingAtPath: path) else { throw .missing(path) }
      self.handle = Locked(handle)
    }

    func close() { handle.withLock { try? $0.close() } }

    func identity(_ path: String) throws(FileFailure) -> FileIdentity {
      try DurableFile.describing(path) {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        let modified = (attributes[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
        return FileIdentity(
          device: 0, inode: (attributes[.systemFileNumber] as? NSNumber)?.uint64Value ?? 0,
          size: (attributes[.size] as? NSNumber)?.int64Value ?? 0, modifiedSeconds: Int64(modified),
          modifiedNanoseconds: Int64((modified - modified.rounded(.down)) * 1e9),
          isRegular: attributes[.type] as? FileAttributeType == .typeRegular)
      }
    }

    /// The time of the last change of content: the platform's file handle has no other.
    func statusTime(_ path: String) throws(FileFailure) -> Int64 {
      let identity = try identity(path)
      return identity.modifiedSeconds &* 1_000_000_000 &+ identity.modifiedNanoseconds
    }

    /// Always locks: the platform's file handle has no lock.
    func lockIfFree(_ path: String) throws(FileFailure) -> Bool { true }

    func read(at offset: Int64, length: Int, _ path: String) throws(FileFailure) -> [UInt8] {
      try DurableFile.describing(path) {
        try handle.withLock { handle in
          try handle.seek(toOffset: UInt64(offset))
          return [UInt8](try handle.read(upToCount: length) ?? Data())
        }
      }
    }

    func write(_ bytes: [UInt8], at offset: Int64, _ path: String) throws(FileFailure) {
      try DurableFile.describing(path) {
        try handle.withLock { handle in
          try handle.seek(toOffset: UInt64(offset))
          try handle.write(contentsOf: Data(bytes))
        }
      }
    }

    func truncate(to size: Int64, _ path: String) throws(FileFailure) {
      try DurableFile.describing(path) { try handle.withLock { try $0.truncate(atOffset: UInt64(size)) } }
    }

    /// Does nothing: the platform has no such call.
    func leave(from offset: Int64, to end: Int64) {}

    func sync(_ path: String) throws(FileFailure) {
      try DurableFile.describing(path) { try handle.withLock { try $0.synchronize() } }
    }
  }

#endif
