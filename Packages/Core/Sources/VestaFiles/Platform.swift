// The one file of this module that knows the platform.
#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#else
  import Foundation
#endif
import VestaConcurrency

#if canImport(Darwin) || canImport(Glibc) || canImport(Musl) || canImport(Android)

  /// Small files that survive a crash and that only their owner may read: mode 0600, in directories of mode 0700.
  ///
  /// A file is replaced as a whole (``replace(_:with:)``) or changed in a part that a crash may tear
  /// (``change(_:_:)``, for files such as ``TwoSlotFile`` that expect it). What a call has reported as done is on the
  /// disk. Locks of the system keep the processes that use one file apart.
  ///
  /// ```swift
  /// try DurableFile.makeDirectory(folder)
  /// try DurableFile.replace("\(folder)/settings", with: bytes)
  /// let read = try DurableFile.read("\(folder)/settings")
  /// ```
  public enum DurableFile {
    /// All bytes of a file; `nil` when there is none.
    public static func read(_ path: String) throws(FileFailure) -> [UInt8]? {
      try inTurn(path) { () throws(FileFailure) in
        guard let file = try openOwn(path, O_RDONLY) else { return nil }
        defer { close(file) }
        try lock(file, LOCK_SH, path)
        return try readAll(file, path)
      }
    }

    /// Writes over a part of a file, and onto the disk, while nobody else does.
    ///
    /// A crash may leave a part of the bytes written, within their place.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - decide: Gets the bytes of the file and returns what to write; `nil` for nothing. It must not use files.
    /// - Returns: Whether that has been done; `false` without a file, or when there was nothing to write.
    public static func change(
      _ path: String, _ decide: ([UInt8]) -> FileChange?
    ) throws(FileFailure) -> Bool {
      try inTurn(path) { () throws(FileFailure) in try changeInTurn(path, decide) }
    }

    private static func changeInTurn(
      _ path: String, _ decide: ([UInt8]) -> FileChange?
    ) throws(FileFailure) -> Bool {
      while true {
        guard let file = try openOwn(path, O_RDWR) else { return false }
        defer { close(file) }
        try lock(file, LOCK_EX, path)
        // Somebody may have put another file in its place, or taken it away, before the lock was there.
        guard isStill(file, path) else { continue }
        let old = try readAll(file, path)
        guard let change = decide(old) else { return false }
        do throws(FileFailure) {
          try write(change, to: file, path: path)
          guard syncContent(file) == 0 else { throw lastError("fdatasync", path) }
        } catch {
          // What has been reported as not written must not be read either.
          let part = Array(old.dropFirst(change.offset).prefix(change.bytes.count))
          try? write(FileChange(offset: change.offset, bytes: part), to: file, path: path)
          throw error
        }
        return true
      }
    }

    /// Puts bytes in the place of a file: at any time, a crash included, the old or the new ones are there, whole.
    ///
    /// They are written beside the file first, under one name, which is locked: a crash leaves one such file at most,
    /// and the next `replace`, `remove` or `sweep` takes it away.
    ///
    /// - Throws: The old bytes are there still, unless the directory could not be written: then either may be.
    public static func replace(_ path: String, with bytes: [UInt8]) throws(FileFailure) {
      try inTurn(path) { () throws(FileFailure) in try replaceInTurn(path, with: bytes) }
    }

    private static func replaceInTurn(_ path: String, with bytes: [UInt8]) throws(FileFailure) {
      let temporary = temporaryPath(of: path)
      while true {
        guard let file = try openOwn(temporary, O_WRONLY | O_CREAT) else { throw lastError("create", temporary) }
        defer { close(file) }
        try lock(file, LOCK_EX, temporary)
        // Another process may have finished with it, or taken it away, before the lock was there.
        guard isStill(file, temporary) else { continue }
        do throws(FileFailure) {
          guard ftruncate(file, 0) == 0 else { throw lastError("ftruncate", temporary) }
          try write(bytes, to: file, path: temporary)
          guard fsync(file) == 0 else { throw lastError("fsync", temporary) }
          guard rename(temporary, path) == 0 else { throw lastError("rename", temporary) }
        } catch {
          unlink(temporary)
          throw error
        }
        return try syncDirectory(of: path)
      }
    }

    /// Deletes a file, and what a crash may have left of its replacement; one that is not there is deleted already.
    public static func remove(_ path: String) throws(FileFailure) {
      for path in [temporaryPath(of: path), path] {
        guard unlink(path) == 0 || errno == ENOENT else { throw lastError("unlink", path) }
      }
      try syncDirectory(of: path)
    }

    /// Deletes what a crash has left of the replacement of a file, unless somebody is writing it just now.
    public static func sweep(_ path: String) {
      let temporary = temporaryPath(of: path)
      guard let file = try? openOwn(temporary, O_RDONLY) else { return }
      defer { close(file) }
      if flock(file, LOCK_EX | LOCK_NB) == 0, isStill(file, temporary) { unlink(temporary) }
    }

    private static let turns = (0..<16).map { _ in Locked(()) }

    /// Lets the threads of this process wait for one another, however long the disk takes.
    ///
    /// So it is another process when the file's lock cannot be had for half a second.
    private static func inTurn<Result: Sendable>(
      _ path: String, _ body: () throws(FileFailure) -> Result
    ) throws(FileFailure) -> Result {
      try turns[path.hashValue & 15].withLock { _ throws(FileFailure) in try body() }
    }

    private static func temporaryPath(of path: String) -> String { path + ".new" }

    /// Opens a file that belongs to this user and nobody else may use; `nil` when there is none.
    ///
    /// A symbolic link, a pipe or somebody else's file in its place is refused: reading would wait or trust a
    /// stranger, and writing would hand him the secret.
    private static func openOwn(_ path: String, _ flags: Int32) throws(FileFailure) -> Int32? {
      let file = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
      guard file >= 0 else {
        if errno == ENOENT, flags & O_CREAT == 0 { return nil }
        if errno == ELOOP { throw refused(path, "is a symbolic link") }
        throw lastError("open", path)
      }
      do throws(FileFailure) {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw lastError("fstat", path) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw refused(path, "is not a regular file") }
        guard status.st_uid == geteuid() else { throw refused(path, "belongs to another user") }
        if status.st_mode & 0o077 != 0 {
          guard fchmod(file, 0o600) == 0 else { throw lastError("fchmod", path) }
        }
      } catch {
        close(file)
        throw error
      }
      return file
    }

    private static func refused(_ path: String, _ why: String) -> FileFailure {
      FileFailure(code: EPERM, path: path, "\(path) \(why). Remove it and try again.")
    }

    /// Renames a file durably; a file that has the new name is replaced.
    public static func move(_ path: String, to target: String) throws(FileFailure) {
      guard rename(path, target) == 0 else { throw lastError("rename", path) }
      try syncDirectory(of: target)
      if parent(of: path) != parent(of: target) { try syncDirectory(of: path) }
    }

    /// Makes a directory and those above it, where they are missing.
    public static func makeDirectory(_ path: String) throws(FileFailure) {
      guard mkdir(path, 0o700) != 0 else { return }
      guard errno != EEXIST else { return try closeDirectory(path) }
      guard errno == ENOENT, let parent = parent(of: path) else { throw lastError("mkdir", path) }
      try makeDirectory(parent)
      guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw lastError("mkdir", path) }
    }

    /// Takes the right to write in a directory away from others; refuses one that belongs to somebody else.
    private static func closeDirectory(_ path: String) throws(FileFailure) {
      var status = stat()
      guard stat(path, &status) == 0 else { throw lastError("stat", path) }
      // The superuser works in directories of others as a matter of course: those of a container's host, for one.
      guard status.st_uid == geteuid() || geteuid() == 0 || status.st_uid == 0 else {
        throw FileFailure(
          code: EPERM, path: path,
          "\(path) belongs to another user, who could read what is kept there. Choose another directory.")
      }
      guard status.st_uid == geteuid(), status.st_mode & 0o022 != 0 else { return }
      guard chmod(path, status.st_mode & 0o7755) == 0 else { throw lastError("chmod", path) }
    }

    private static func readAll(_ file: Int32, _ path: String) throws(FileFailure) -> [UInt8] {
      var bytes: [UInt8] = []
      var chunk = [UInt8](repeating: 0, count: 16 << 10)
      while true {
        // A raw buffer, because that is what the C library reads into; it is used inside the closure.
        let count = chunk.withUnsafeMutableBytes { Platform.read(file, $0.baseAddress, $0.count) }
        if count == 0 { return bytes }
        if count > 0 {
          bytes += chunk[..<count]
        } else if errno != EINTR {
          throw lastError("read", path)
        }
      }
    }

    /// Waits for the file's lock for half a second, which ends when the file is closed; continues without where there
    /// are no locks.
    private static func lock(_ file: Int32, _ kind: Int32, _ path: String) throws(FileFailure) {
      for _ in 0..<50 {
        if flock(file, kind | LOCK_NB) == 0 { return }
        guard errno == EWOULDBLOCK || errno == EINTR else { return }
        usleep(10_000)
      }
      throw FileFailure(
        code: EWOULDBLOCK, path: path, "\(path) has been locked by another program for half a second.")
    }

    private static func isStill(_ file: Int32, _ path: String) -> Bool {
      var (open, named) = (stat(), stat())
      guard fstat(file, &open) == 0, lstat(path, &named) == 0 else { return false }
      return open.st_ino == named.st_ino && open.st_dev == named.st_dev
    }

    private static func write(_ change: FileChange, to file: Int32, path: String) throws(FileFailure) {
      guard lseek(file, off_t(change.offset), SEEK_SET) >= 0 else { throw lastError("lseek", path) }
      try write(change.bytes, to: file, path: path)
    }

    /// Waits until the content is on the disk; times need not be.
    private static func syncContent(_ file: Int32) -> Int32 {
      #if canImport(Darwin)
        fsync(file)
      #else
        fdatasync(file)
      #endif
    }

    private static func write(_ bytes: [UInt8], to file: Int32, path: String) throws(FileFailure) {
      var rest = bytes[...]
      while !rest.isEmpty {
        // A raw buffer, because that is what the C library writes from; it is used inside the closure.
        let count = rest.withUnsafeBytes { Platform.write(file, $0.baseAddress, $0.count) }
        if count > 0 {
          rest = rest.dropFirst(count)
        } else if count < 0, errno != EINTR {
          throw lastError("write", path)
        }
      }
    }

    /// The new name survives a power cut only when the directory is written too; some file systems cannot do that, and
    /// need not.
    private static func syncDirectory(of path: String) throws(FileFailure) {
      let parent = parent(of: path) ?? "."
      let directory = open(parent, O_RDONLY | O_CLOEXEC)
      guard directory >= 0 else { return }
      defer { close(directory) }
      guard fsync(directory) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS else {
        throw lastError("fsync", parent)
      }
    }

    private static func parent(of path: String) -> String? {
      guard let slash = path.lastIndex(of: "/") else { return nil }
      return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func lastError(_ call: String, _ path: String) -> FileFailure {
      let number = errno
      return FileFailure(
        code: number, path: path, "\(call) \(path): \(String(cString: strerror(number))) (errno \(number))")
    }
  }

  /// The C library's functions whose names `DurableFile` uses itself.
  private enum Platform {
    static func read(_ file: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
      #if canImport(Darwin)
        Darwin.read(file, buffer, count)
      #elseif canImport(Glibc)
        Glibc.read(file, buffer, count)
      #elseif canImport(Musl)
        Musl.read(file, buffer, count)
      #elseif canImport(Android)
        Android.read(file, buffer, count)
      #endif
    }

    static func write(_ file: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
      #if canImport(Darwin)
        Darwin.write(file, buffer, count)
      #elseif canImport(Glibc)
        Glibc.write(file, buffer, count)
      #elseif canImport(Musl)
        Musl.write(file, buffer, count)
      #elseif canImport(Android)
        Android.write(file, buffer, count)
      #endif
    }
  }

#else

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

    /// Makes a directory and those above it, where they are missing.
    public static func makeDirectory(_ path: String) throws(FileFailure) {
      try describing { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
    }

    private static func describing<Value>(_ body: () throws -> Value) throws(FileFailure) -> Value {
      do { return try body() } catch { throw FileFailure(code: 0, path: "", "\(error)") }
    }
  }

#endif
