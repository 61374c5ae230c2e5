// The one file of this package that knows the platform.

import VestaFiles

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Directories, the lock file, and making both durable: all of the system that the store uses in addition to SQLite.
enum Platform {
  /// Identifies the file or directory at the end of a path, whatever links the path has.
  struct FileIdentity: Hashable, Sendable {
    let device: UInt64
    let file: UInt64
  }

  /// Makes a directory and the ones above it, for the owner alone; returns the new ones, outermost first.
  static func makeDirectories(_ path: String) throws(SystemFailure) -> [String] {
    var info = stat()
    if stat(path, &info) == 0 {
      guard info.st_mode & S_IFMT == S_IFDIR else { throw SystemFailure(code: ENOTDIR) }
      return []
    }
    let code = errno
    guard code == ENOENT else { throw SystemFailure(code: code) }
    let above = parent(of: path)
    let made = above == path ? [] : try makeDirectories(above)
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw SystemFailure.last }
    return made + [path]
  }

  /// Opens a file for reading and writing, and makes it for the owner alone when it is not there.
  static func openFile(_ path: String) throws(SystemFailure) -> Int32 {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw SystemFailure.last }
    return descriptor
  }

  /// Makes a file for the owner alone whose name begins with a path and is not taken; links are not followed.
  ///
  /// - Returns: The file, and a descriptor that holds its advisory lock: as long as that is open, the file is in use.
  static func makeUniqueFile(beside path: String) throws(SystemFailure) -> (name: String, lock: Int32) {
    while true {
      let name = "\(path).partial-\(String(UInt64.random(in: .min ... .max), radix: 16))"
      let descriptor = open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else {
        if errno == EEXIST { continue }
        throw SystemFailure.last
      }
      // It may have been swept in between, as its lock was free.
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0, (try? identity(atPath: name)) == (try? identity(of: descriptor)) {
        return (name, descriptor)
      }
      closeFile(descriptor)
    }
  }

  /// Removes what killed processes have left of files that `makeUniqueFile` made next to a path.
  static func sweepUniqueFiles(beside path: String) {
    let (folder, start) = (parent(of: path), "\(path).partial-")
    for name in (try? DurableFile.names(in: folder)) ?? [] {
      let file = path.contains("/") ? "\(folder == "/" ? "" : folder)/\(name)" : name
      guard file.hasPrefix(start) else { continue }
      let owner = start + file.dropFirst(start.count).prefix { $0 != "-" }
      if (try? isLocked(owner)) == false { removeFile(file) }
    }
  }

  static func closeFile(_ descriptor: Int32) { _ = close(descriptor) }

  static func identity(of descriptor: Int32) throws(SystemFailure) -> FileIdentity {
    var info = stat()
    guard fstat(descriptor, &info) == 0 else { throw SystemFailure.last }
    return FileIdentity(device: UInt64(truncatingIfNeeded: info.st_dev), file: UInt64(truncatingIfNeeded: info.st_ino))
  }

  static func identity(atPath path: String) throws(SystemFailure) -> FileIdentity {
    var info = stat()
    guard stat(path, &info) == 0 else { throw SystemFailure.last }
    return FileIdentity(device: UInt64(truncatingIfNeeded: info.st_dev), file: UInt64(truncatingIfNeeded: info.st_ino))
  }

  /// How many bytes a file has; zero when it is not there.
  static func size(of path: String) throws(SystemFailure) -> Int {
    var info = stat()
    if stat(path, &info) == 0 { return Int(info.st_size) }
    guard errno == ENOENT else { throw SystemFailure.last }
    return 0
  }

  /// Whether the advisory lock of a file is held.
  static func isLocked(_ path: String) throws(SystemFailure) -> Bool {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return false }
      throw SystemFailure.last
    }
    defer { closeFile(descriptor) }
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return false }
    guard errno == EWOULDBLOCK else { throw SystemFailure.last }
    return true
  }

  /// Whether a file is not larger than a limit and has nothing but zeros outside of a range.
  static func isAllZeros(_ path: String, but range: Range<Int>, atMost limit: Int) throws(SystemFailure) -> Bool {
    guard try size(of: path) <= limit else { return false }
    return (try firstBytes(limit, of: path) ?? []).enumerated().allSatisfy { $1 == 0 || range.contains($0) }
  }

  /// Empties a file.
  static func truncate(_ path: String) throws(SystemFailure) {
    let descriptor = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemFailure.last }
    defer { closeFile(descriptor) }
    guard fsync(descriptor) == 0 else { throw SystemFailure.last }
  }

  /// Makes the bytes of a file durable.
  static func syncFile(_ path: String) throws(SystemFailure) { try syncDirectory(path) }

  /// Copies a file over an existing one, durably; ends early on request.
  ///
  /// - Returns: Whether the whole file was copied.
  static func copy(_ source: String, to target: String, isCancelled: () -> Bool) throws(SystemFailure) -> Bool {
    let from = open(source, O_RDONLY | O_CLOEXEC)
    guard from >= 0 else { throw SystemFailure.last }
    defer { closeFile(from) }
    let to = open(target, O_WRONLY | O_NOFOLLOW | O_CLOEXEC)
    guard to >= 0 else { throw SystemFailure.last }
    defer { closeFile(to) }
    var block = [UInt8](repeating: 0, count: 1 << 20)
    var offset = 0
    while !isCancelled() {
      let got = read(from, &block, block.count)
      guard got >= 0 else { throw SystemFailure.last }
      if got == 0 {
        guard fsync(to) == 0 else { throw SystemFailure.last }
        return true
      }
      var done = 0
      while done < got {
        let written = block[done..<got].withUnsafeBytes { pwrite(to, $0.baseAddress, $0.count, off_t(offset)) }
        guard written > 0 else { throw SystemFailure.last }
        done += written
        offset += written
      }
    }
    return false
  }

  /// Takes the advisory lock of an open file, or fails at once; the system frees it when the process ends.
  static func lockFile(_ descriptor: Int32) throws(SystemFailure) {
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw SystemFailure.last }
  }

  /// Gives the advisory lock of an open file back, also where there are copies of the descriptor.
  static func unlockFile(_ descriptor: Int32) { _ = flock(descriptor, LOCK_UN) }

  /// The first bytes of a file; fewer when it is shorter, `nil` when it is not there.
  static func firstBytes(_ count: Int, of path: String) throws(SystemFailure) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw SystemFailure.last
    }
    defer { closeFile(descriptor) }
    return try firstBytes(count, of: descriptor)
  }

  static func firstBytes(_ count: Int, of descriptor: Int32) throws(SystemFailure) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let got = pread(descriptor, &bytes, count, 0)
    guard got >= 0 else { throw SystemFailure.last }
    return Array(bytes.prefix(got))
  }

  /// Writes over the beginning of a file and makes it durable.
  static func write(_ bytes: [UInt8], to descriptor: Int32) throws(SystemFailure) {
    let written = pwrite(descriptor, bytes, bytes.count, 0)
    guard written == bytes.count else { throw written < 0 ? SystemFailure.last : SystemFailure(code: ENOSPC) }
    guard fsync(descriptor) == 0 else { throw SystemFailure.last }
  }

  /// Writes bytes at an offset; whether all of them are written.
  static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32, at offset: Int) -> Bool {
    bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset)) } == bytes.count
  }

  /// Makes a file shorter.
  static func cut(_ descriptor: Int32, to size: Int) -> Bool { ftruncate(descriptor, off_t(size)) == 0 }

  /// Makes the names in a directory durable.
  static func syncDirectory(_ path: String) throws(SystemFailure) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemFailure.last }
    defer { closeFile(descriptor) }
    guard fsync(descriptor) == 0 else { throw SystemFailure.last }
  }

  /// Gives a file a new name, durably; a file that has that name is replaced.
  static func move(_ path: String, to target: String) throws(SystemFailure) {
    do { try DurableFile.move(path, to: target) } catch { throw SystemFailure(code: error.code) }
  }

  static func removeFile(_ path: String) { _ = unlink(path) }

  /// The directory that holds what the path names.
  static func parent(of path: String) -> String {
    var trimmed = path[...]
    while trimmed.count > 1, trimmed.last == "/" { trimmed.removeLast() }
    guard let slash = trimmed.lastIndex(of: "/") else { return "." }
    return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
  }
}

/// An error number of the system.
struct SystemFailure: Error {
  let code: Int32

  static let missingFile = SystemFailure(code: ENOENT)

  static var last: SystemFailure { SystemFailure(code: errno) }

  var text: String { String(cString: strerror(code)) }

  var isLocked: Bool { code == EWOULDBLOCK }
  var isNoSpace: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }
  var isNotPermitted: Bool { code == EACCES || code == EPERM || code == EROFS }
  /// A file is where a directory has to be.
  var isNotADirectory: Bool { code == ENOTDIR }
}
