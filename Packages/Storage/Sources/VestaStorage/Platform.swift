// The one file of this module that knows the platform.
#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif
import VestaConcurrency

/// An error number of the system.
struct SystemFailure: Error {
  let code: Int32

  static var last: SystemFailure { SystemFailure(code: errno) }
  static let notAFile = EISDIR

  var text: String { String(cString: strerror(code)) }
}

/// What tells whether a file is still the same one with the same content.
struct FileIdentity: Sendable, Hashable, Codable {
  let device: UInt64
  let inode: UInt64
  let size: Int64
  let modifiedSeconds: Int64
  let modifiedNanoseconds: Int64
  let isRegular: Bool

  init(_ info: stat) {
    device = UInt64(truncatingIfNeeded: info.st_dev)
    inode = UInt64(truncatingIfNeeded: info.st_ino)
    size = Int64(info.st_size)
    #if canImport(Darwin)
      let time = info.st_mtimespec
    #else
      let time = info.st_mtim
    #endif
    modifiedSeconds = Int64(time.tv_sec)
    modifiedNanoseconds = Int64(time.tv_nsec)
    isRegular = info.st_mode & S_IFMT == S_IFREG
  }
}

/// A file that is open for reading, at any position from any thread.
final class ReadableFile: Sendable {
  private let descriptor: Locked<Int32?>

  /// Opens a file; a symbolic link is not followed.
  init(path: String) throws(SystemFailure) {
    let opened = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard opened >= 0 else { throw SystemFailure.last }
    descriptor = Locked(opened)
  }

  func identity() throws(SystemFailure) -> FileIdentity {
    var info = stat()
    guard fstat(try openDescriptor(), &info) == 0 else { throw SystemFailure.last }
    return FileIdentity(info)
  }

  /// The bytes at a position; fewer at the end of the file.
  func read(at offset: Int64, length: Int) throws(SystemFailure) -> [UInt8] {
    let descriptor = try openDescriptor()
    var failure: SystemFailure?
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
          failure = .last
          return
        }
      }
    }
    if let failure { throw failure }
    return bytes
  }

  func close() {
    if let descriptor = descriptor.withLock({ $0.take() }) { _ = Self.closeFile(descriptor) }
  }

  deinit { close() }

  private func openDescriptor() throws(SystemFailure) -> Int32 {
    guard let descriptor = descriptor.withLock({ $0 }) else { throw SystemFailure(code: EBADF) }
    return descriptor
  }

  fileprivate static func closeFile(_ descriptor: Int32) -> Int32 {
    #if canImport(Darwin)
      Darwin.close(descriptor)
    #elseif canImport(Glibc)
      Glibc.close(descriptor)
    #elseif canImport(Musl)
      Musl.close(descriptor)
    #else
      Android.close(descriptor)
    #endif
  }
}

/// A file that is written beside its final place and renamed to it at the end.
final class FileBeside: Sendable {
  private let descriptor: Locked<Int32?>
  private let temporary: String
  private let target: String

  /// Makes the file, and the directories above it.
  init(target: String, suffix: String) throws(SystemFailure) {
    self.target = target
    let directory = Self.parent(of: target)
    try Self.makeDirectories(directory)
    temporary = "\(directory)/.\(suffix).vesta"
    let opened = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard opened >= 0 else { throw SystemFailure.last }
    descriptor = Locked(opened)
  }

  func write(_ bytes: [UInt8]) throws(SystemFailure) {
    guard let descriptor = descriptor.withLock({ $0 }) else { throw SystemFailure(code: EBADF) }
    var written = 0
    while written < bytes.count {
      let step = bytes.withUnsafeBytes { Self.write(descriptor, $0, from: written) }
      if step < 0, errno == EINTR { continue }
      guard step > 0 else { throw step < 0 ? SystemFailure.last : SystemFailure(code: ENOSPC) }
      written += step
    }
  }

  /// Throws away what was written.
  func truncate() throws(SystemFailure) {
    guard let descriptor = descriptor.withLock({ $0 }) else { throw SystemFailure(code: EBADF) }
    guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else { throw SystemFailure.last }
  }

  /// Gives the file its final place, durably.
  func finish() throws(SystemFailure) {
    guard let descriptor = descriptor.withLock({ $0.take() }) else { throw SystemFailure(code: EBADF) }
    let isSynced = fsync(descriptor) == 0 && fchmod(descriptor, 0o644) == 0
    let failure = SystemFailure.last
    _ = ReadableFile.closeFile(descriptor)
    guard isSynced else { throw failure }
    guard rename(temporary, target) == 0 else { throw SystemFailure.last }
  }

  /// Removes the file, if it has not got its final place.
  func discard() {
    guard let descriptor = descriptor.withLock({ $0.take() }) else { return }
    _ = ReadableFile.closeFile(descriptor)
    _ = unlink(temporary)
  }

  deinit { discard() }

  static func makeDirectories(_ path: String) throws(SystemFailure) {
    var info = stat()
    if stat(path, &info) == 0 {
      guard info.st_mode & S_IFMT == S_IFDIR else { throw SystemFailure(code: ENOTDIR) }
      return
    }
    guard errno == ENOENT else { throw SystemFailure.last }
    let above = parent(of: path)
    if above != path { try makeDirectories(above) }
    guard mkdir(path, 0o755) == 0 || errno == EEXIST else { throw SystemFailure.last }
  }

  private static func parent(of path: String) -> String {
    var trimmed = path[...]
    while trimmed.utf8.count > 1, trimmed.last == "/" { trimmed.removeLast() }
    guard let slash = trimmed.lastIndex(of: "/") else { return "." }
    return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
  }

  private static func write(_ descriptor: Int32, _ buffer: UnsafeRawBufferPointer, from offset: Int) -> Int {
    let rest = UnsafeRawBufferPointer(rebasing: buffer[offset...])
    #if canImport(Darwin)
      return Darwin.write(descriptor, rest.baseAddress, rest.count)
    #elseif canImport(Glibc)
      return Glibc.write(descriptor, rest.baseAddress, rest.count)
    #elseif canImport(Musl)
      return Musl.write(descriptor, rest.baseAddress, rest.count)
    #else
      return Android.write(descriptor, rest.baseAddress, rest.count)
    #endif
  }
}
