// The one file of this package that knows the platform.
#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// What the store asks of the system beside SQLite: directories, a lock file, and making both durable.
enum Platform {
  /// Which file or directory a path leads to, whatever links it goes through.
  struct FileIdentity: Hashable, Sendable {
    let device: UInt64
    let file: UInt64
  }

  /// Makes a directory and the ones above it, for the owner alone; returns those that were made, outermost first.
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

  static func closeFile(_ descriptor: Int32) { _ = close(descriptor) }

  static func identity(of descriptor: Int32) throws(SystemFailure) -> FileIdentity {
    var info = stat()
    guard fstat(descriptor, &info) == 0 else { throw SystemFailure.last }
    return FileIdentity(device: UInt64(truncatingIfNeeded: info.st_dev), file: UInt64(truncatingIfNeeded: info.st_ino))
  }

  /// Takes the advisory lock of an open file, or fails at once; the system frees it when the process ends.
  static func lockFile(_ descriptor: Int32) throws(SystemFailure) {
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw SystemFailure.last }
  }

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

  /// Makes the names in a directory durable.
  static func syncDirectory(_ path: String) throws(SystemFailure) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemFailure.last }
    defer { closeFile(descriptor) }
    guard fsync(descriptor) == 0 else { throw SystemFailure.last }
  }

  /// Gives a file a new name, in place of a file that may have it.
  static func rename(_ path: String, to target: String) throws(SystemFailure) {
    #if canImport(Darwin)
      let status = Darwin.rename(path, target)
    #elseif canImport(Glibc)
      let status = Glibc.rename(path, target)
    #elseif canImport(Musl)
      let status = Musl.rename(path, target)
    #else
      let status = Android.rename(path, target)
    #endif
    guard status == 0 else { throw SystemFailure.last }
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

  static var last: SystemFailure { SystemFailure(code: errno) }

  var text: String { String(cString: strerror(code)) }

  var isMissingFile: Bool { code == ENOENT }
  var isLocked: Bool { code == EWOULDBLOCK }
  var isNoSpace: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }
  var isNotPermitted: Bool { code == EACCES || code == EPERM || code == EROFS }
}
