// The platforms with POSIX files; Platform+Windows.swift has the others.

import VestaConcurrency

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

#if canImport(Darwin) || canImport(Glibc) || canImport(Musl) || canImport(Android)

  /// Small files that survive a crash and that only their owner may read: mode 0600, in directories of mode 0700.
  ///
  /// A file is replaced as a whole (``replace(_:with:)``) or changed in a part that a crash may tear
  /// (``change(_:_:)``, for files such as ``TwoSlotFile`` that expect it). The result of a completed call is on the
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

    /// Writes over a part of a file, and onto the disk, without concurrent writers.
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
        // Another process may have put another file in its place, or taken it away, before the lock was there.
        guard isStill(file, path) else { continue }
        let old = try readAll(file, path)
        guard let change = decide(old) else { return false }
        do throws(FileFailure) {
          try write(change, to: file, path: path)
          guard syncContent(file) == 0 else { throw lastError("fdatasync", path) }
        } catch {
          // Content that was reported as not written must not be read either.
          let part = Array(old.dropFirst(change.offset).prefix(change.bytes.count))
          try? write(FileChange(offset: change.offset, bytes: part), to: file, path: path)
          throw error
        }
        return true
      }
    }

    /// Puts bytes in the place of a file: at any time, a crash included, the old or the new ones are there, whole.
    ///
    /// They are written next to the file first, under one name, which is locked: a crash leaves one such file at most,
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
          _ = Platform.unlink(temporary)
          throw error
        }
        return try syncDirectory(of: path)
      }
    }

    /// Deletes a file, and what a crash may have left of its replacement; one that is not there is deleted already.
    public static func remove(_ path: String) throws(FileFailure) {
      for path in [temporaryPath(of: path), path] {
        guard Platform.unlink(path) == 0 || errno == ENOENT else { throw lastError("unlink", path) }
      }
      try syncDirectory(of: path)
    }

    /// Moves a file that was written next to its place there, durably: syncs it, renames it, and syncs the
    /// directory.
    ///
    /// - Parameters:
    ///   - file: The file, whole.
    ///   - temporary: Its path until now.
    ///   - target: Its path from now on; a file that is there is replaced.
    public static func publish(_ file: OpenFile, from temporary: String, as target: String) throws(FileFailure) {
      try file.sync()
      guard rename(temporary, target) == 0 else { throw lastError("rename", temporary) }
      try syncDirectory(of: target)
    }

    /// Deletes a file, without waiting for the disk; one that is not there is deleted already.
    public static func unlink(_ path: String) throws(FileFailure) {
      guard Platform.unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR else { throw lastError("unlink", path) }
    }

    /// The number of bytes for which the file system of a path has room; `nil` where the system does not say.
    public static func freeBytes(at path: String) -> Int64? {
      var system = statvfs()
      guard statvfs(path, &system) == 0 else { return nil }
      let (bytes, isTooMany) = UInt64(system.f_bavail).multipliedReportingOverflow(by: UInt64(system.f_frsize))
      return isTooMany ? .max : Int64(clamping: bytes)
    }

    /// Whether there is something at a path.
    public static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// The names in a directory, in no order: all of them, or an error; none where there is no directory.
    public static func names(in path: String) throws(FileFailure) -> [String] {
      guard let directory = opendir(path) else {
        if errno == ENOENT || errno == ENOTDIR { return [] }
        throw lastError("opendir", path)
      }
      defer { closedir(directory) }
      return try names(in: path) { readdir(directory) }
    }

    /// The names of the entries that a system call returns one by one.
    ///
    /// The call returns `nil` at the end and when it fails; the error number distinguishes them, if it was zero before.
    /// A directory read in part must not count as a whole one.
    static func names(
      in path: String, next: () -> UnsafeMutablePointer<dirent>?
    ) throws(FileFailure) -> [String] {
      var names: [String] = []
      while true {
        errno = 0
        guard let entry = next() else {
          guard errno == 0 else { throw lastError("readdir", path) }
          return names
        }
        // Unsafe pointer, used inside the closure only: the system's fixed array is read as a string.
        let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
          pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != ".", name != ".." { names.append(name) }
      }
    }

    /// Deletes the remains of a file's replacement after a crash, unless it is being written.
    public static func sweep(_ path: String) {
      let temporary = temporaryPath(of: path)
      guard let file = try? openOwn(temporary, O_RDONLY) else { return }
      defer { close(file) }
      if flock(file, LOCK_EX | LOCK_NB) == 0, isStill(file, temporary) { _ = Platform.unlink(temporary) }
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

    /// Opens a file that only this user owns and may use; `nil` when there is none.
    ///
    /// A symbolic link, a pipe or another user's file in its place is refused: reading would wait or trust a
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

    /// Makes a directory and those above it, where they are missing, durably.
    ///
    /// - Parameters:
    ///   - path: The directory.
    ///   - isPrivate: Whether it is for this user alone: a new one has the mode 0700, and one that exists is refused
    ///     where it belongs to another user, and closed to other writers. Otherwise a new one has the permissions that
    ///     new directories of the process have, and one that exists stays as it is.
    public static func makeDirectory(_ path: String, isPrivate: Bool = true) throws(FileFailure) {
      guard try !makeOneDirectory(path, isPrivate) else { return }
      let parent = parent(of: path)
      guard errno == ENOENT, parent != path else { throw lastError("mkdir", path) }
      try makeDirectory(parent, isPrivate: isPrivate)
      guard try makeOneDirectory(path, isPrivate) else { throw lastError("mkdir", path) }
    }

    /// Whether the directory is there now; `errno` has the reason otherwise.
    private static func makeOneDirectory(_ path: String, _ isPrivate: Bool) throws(FileFailure) -> Bool {
      if mkdir(path, isPrivate ? 0o700 : 0o777) == 0 {
        try syncDirectory(of: path)
        return true
      }
      guard errno == EEXIST else { return false }
      if isPrivate {
        try closeDirectory(path)
      } else {
        var status = stat()
        guard stat(path, &status) == 0 else { throw lastError("stat", path) }
        guard status.st_mode & S_IFMT == S_IFDIR else {
          errno = ENOTDIR
          throw lastError("mkdir", path)
        }
      }
      return true
    }

    /// Takes the right to write in a directory away from others; refuses another user's.
    private static func closeDirectory(_ path: String) throws(FileFailure) {
      var status = stat()
      guard stat(path, &status) == 0 else { throw lastError("stat", path) }
      // The superuser works in directories of others as a matter of course: a container's host's, for one.
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
      let parent = parent(of: path)
      let directory = open(parent, O_RDONLY | O_CLOEXEC)
      guard directory >= 0 else { return }
      defer { close(directory) }
      guard fsync(directory) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS else {
        throw lastError("fsync", parent)
      }
    }

    private static func parent(of path: String) -> String { FilePath.parent(of: path) }

    private static func lastError(_ call: String, _ path: String) -> FileFailure { .last(call, path) }
  }

  extension FileFailure {
    /// The failure of the last call of the system.
    fileprivate static func last(_ call: String, _ path: String) -> FileFailure { FileFailure(errno, call, path) }

    private init(_ code: Int32, _ call: String, _ path: String) {
      self.init(code: code, path: path, "\(call) \(path): \(String(cString: strerror(code))) (errno \(code))")
    }

    /// The failure of a file that is missing.
    public static func missing(_ path: String) -> FileFailure { FileFailure(ENOENT, "open", path) }

    /// The failure of a file that exists already.
    public static func existing(_ path: String) -> FileFailure { FileFailure(EEXIST, "open", path) }

    /// The failure of something that is no regular file.
    public static func notAFile(_ path: String) -> FileFailure { FileFailure(EISDIR, "open", path) }

    static func closed(_ path: String) -> FileFailure { FileFailure(EBADF, "use", path) }

    /// The failure of a file that is locked.
    public static func locked(_ path: String) -> FileFailure { FileFailure(EWOULDBLOCK, "lock", path) }

    /// The system's words for the error number.
    public var reason: String { String(cString: strerror(code)) }

    /// Whether there is no such file.
    public var isMissing: Bool { code == ENOENT }

    /// Whether there is such a file already.
    public var isExisting: Bool { code == EEXIST }

    /// Whether the disk, the user's quota on it, or the file cannot take more bytes.
    public var isFull: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }

    /// Whether the file was closed.
    public var isClosed: Bool { code == EBADF }

    /// Whether another process, or another open file of this one, has locked the file.
    public var isLocked: Bool { code == EWOULDBLOCK }
  }

  /// An open file of the system.
  struct SystemFile: Sendable {
    private let descriptor: Int32

    /// The number by which the system knows the open file.
    var number: Int32? { descriptor }

    init(reading path: String) throws(FileFailure) {
      try self.init(path, O_RDONLY | O_NONBLOCK, 0)
    }

    init(writing path: String, _ creation: OpenFile.Creation, isPrivate: Bool) throws(FileFailure) {
      let flags =
        switch creation {
        case .never: O_RDWR
        case .ifMissing: O_RDWR | O_CREAT
        case .always: O_RDWR | O_CREAT | O_EXCL
        }
      // A file that is not private gets the permissions that the mask of the process leaves.
      try self.init(path, flags | O_NONBLOCK, isPrivate ? 0o600 : 0o666)
    }

    private init(_ path: String, _ flags: Int32, _ mode: mode_t) throws(FileFailure) {
      // The system would take the path for its part before the zero byte.
      guard !path.utf8.contains(0) else {
        errno = EINVAL
        throw .last("open", path)
      }
      descriptor = open(path, flags | O_CLOEXEC | O_NOFOLLOW, mode)
      guard descriptor >= 0 else { throw .last("open", path) }
    }

    func close() { _ = Platform.close(descriptor) }

    func identity(_ path: String) throws(FileFailure) -> FileIdentity {
      var info = stat()
      guard fstat(descriptor, &info) == 0 else { throw .last("fstat", path) }
      #if canImport(Darwin)
        let time = info.st_mtimespec
      #else
        let time = info.st_mtim
      #endif
      return FileIdentity(
        device: UInt64(truncatingIfNeeded: info.st_dev), inode: UInt64(truncatingIfNeeded: info.st_ino),
        size: Int64(info.st_size), modifiedSeconds: Int64(time.tv_sec), modifiedNanoseconds: Int64(time.tv_nsec),
        isRegular: info.st_mode & S_IFMT == S_IFREG)
    }

    func statusTime(_ path: String) throws(FileFailure) -> Int64 {
      var info = stat()
      guard fstat(descriptor, &info) == 0 else { throw .last("fstat", path) }
      #if canImport(Darwin)
        let time = info.st_ctimespec
      #else
        let time = info.st_ctim
      #endif
      return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    func lockIfFree(_ path: String) throws(FileFailure) -> Bool {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
      guard errno == EWOULDBLOCK || errno == EINTR else { throw .last("flock", path) }
      return false
    }

    func read(at offset: Int64, length: Int, _ path: String) throws(FileFailure) -> [UInt8] {
      var failure: FileFailure?
      let bytes = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
        // Unsafe pointer, used inside the closure only: the array is filled by the system.
        guard let start = buffer.baseAddress else { return }
        while count < length {
          let got = pread(descriptor, start + count, length - count, off_t(offset) + off_t(count))
          if got > 0 {
            count += got
          } else if got == 0 {
            return
          } else if errno != EINTR {
            failure = .last("read", path)
            return
          }
        }
      }
      if let failure { throw failure }
      return bytes
    }

    func write(_ bytes: [UInt8], at offset: Int64, _ path: String) throws(FileFailure) {
      // Unsafe pointer, used inside the closure only: the system writes from it.
      let failure = bytes.withUnsafeBytes { buffer -> FileFailure? in
        guard let start = buffer.baseAddress else { return nil }
        var written = 0
        while written < buffer.count {
          let step = pwrite(descriptor, start + written, buffer.count - written, off_t(offset) + off_t(written))
          if step < 0, errno == EINTR { continue }
          if step == 0 { errno = ENOSPC }
          guard step > 0 else { return .last("write", path) }
          written += step
        }
        return nil
      }
      if let failure { throw failure }
    }

    func truncate(to size: Int64, _ path: String) throws(FileFailure) {
      guard ftruncate(descriptor, off_t(size)) == 0 else { throw .last("ftruncate", path) }
    }

    func leave(from offset: Int64, to end: Int64) {
      #if !canImport(Darwin)
        _ = posix_fadvise(descriptor, off_t(offset), off_t(end - offset), POSIX_FADV_DONTNEED)
      #endif
    }

    func sync(_ path: String) throws(FileFailure) {
      guard fsync(descriptor) == 0 else { throw .last("fsync", path) }
    }
  }

  /// The C library's functions whose names are used here for something else too.
  private enum Platform {
    static func unlink(_ path: String) -> Int32 {
      #if canImport(Darwin)
        Darwin.unlink(path)
      #elseif canImport(Glibc)
        Glibc.unlink(path)
      #elseif canImport(Musl)
        Musl.unlink(path)
      #elseif canImport(Android)
        Android.unlink(path)
      #endif
    }

    static func close(_ file: Int32) -> Int32 {
      #if canImport(Darwin)
        Darwin.close(file)
      #elseif canImport(Glibc)
        Glibc.close(file)
      #elseif canImport(Musl)
        Musl.close(file)
      #elseif canImport(Android)
        Android.close(file)
      #endif
    }

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

#endif
