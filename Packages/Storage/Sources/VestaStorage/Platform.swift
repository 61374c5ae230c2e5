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
    // The system would take the path for its part before the zero.
    guard !path.utf8.contains(0) else { throw SystemFailure(code: EINVAL) }
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
    try Self.read(try openDescriptor(), at: offset, length: length)
  }

  fileprivate static func read(
    _ descriptor: Int32, at offset: Int64, length: Int
  ) throws(SystemFailure) -> [UInt8] {
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
  private struct State {
    var descriptor: Int32?
    var length: Int64
    /// Whether the file is still under its temporary name.
    var isTemporary = true
  }

  let temporary: String
  private let target: String
  private let state: Locked<State>

  /// Makes the file, and the directories above it.
  init(target: String, suffix: String) throws(SystemFailure) {
    self.target = target
    let directory = Self.parent(of: target)
    try Self.makeDirectories(directory)
    temporary = "\(directory)/.\(suffix).vesta"
    // The permissions of any new file: the system takes away what the process's mask bars.
    let opened = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666)
    guard opened >= 0 else { throw SystemFailure.last }
    state = Locked(State(descriptor: opened, length: 0))
  }

  /// Opens a file that another process has begun, to write after its end.
  init(continuing temporary: String, target: String) throws(SystemFailure) {
    self.temporary = temporary
    self.target = target
    let opened = open(temporary, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    guard opened >= 0 else { throw SystemFailure.last }
    var info = stat()
    guard fstat(opened, &info) == 0, FileIdentity(info).isRegular else {
      _ = ReadableFile.closeFile(opened)
      throw SystemFailure(code: SystemFailure.notAFile)
    }
    state = Locked(State(descriptor: opened, length: Int64(info.st_size)))
  }

  /// Appends bytes.
  func write(_ bytes: [UInt8]) throws(SystemFailure) {
    let (descriptor, start) = try openFile()
    var written = 0
    while written < bytes.count {
      // Unsafe pointer, used inside the closure only: the system writes from it.
      let step = bytes.withUnsafeBytes { buffer in
        pwrite(
          descriptor, buffer.baseAddress.map { $0 + written }, buffer.count - written, off_t(start) + off_t(written))
      }
      if step < 0, errno == EINTR { continue }
      guard step > 0 else { throw step < 0 ? SystemFailure.last : SystemFailure(code: ENOSPC) }
      written += step
    }
    state.withLock { $0.length = start + Int64(bytes.count) }
  }

  /// The bytes at a position; fewer at the end of the file.
  func read(at offset: Int64, length: Int) throws(SystemFailure) -> [UInt8] {
    try ReadableFile.read(try openFile().descriptor, at: offset, length: length)
  }

  /// Throws away what was written.
  func truncate() throws(SystemFailure) {
    guard ftruncate(try openFile().descriptor, 0) == 0 else { throw SystemFailure.last }
    state.withLock { $0.length = 0 }
  }

  /// Gives the file its final place, durably.
  func finish() throws(SystemFailure) {
    let descriptor = try openFile().descriptor
    guard fsync(descriptor) == 0, rename(temporary, target) == 0 else { throw SystemFailure.last }
    let closed = state.withLock { state in
      state.isTemporary = false
      return state.descriptor.take()
    }
    if let closed { _ = ReadableFile.closeFile(closed) }
    try Self.syncDirectory(Self.parent(of: target))
  }

  /// Removes the file, if it has not got its final place.
  func discard() {
    let (descriptor, isTemporary) = state.withLock { state in
      defer { state.isTemporary = false }
      return (state.descriptor.take(), state.isTemporary)
    }
    if let descriptor { _ = ReadableFile.closeFile(descriptor) }
    if isTemporary { _ = unlink(temporary) }
  }

  /// The file stays where it is unless it was discarded: a transfer that is not over may go on later.
  deinit {
    if let descriptor = state.withLock({ $0.descriptor.take() }) { _ = ReadableFile.closeFile(descriptor) }
  }

  private func openFile() throws(SystemFailure) -> (descriptor: Int32, length: Int64) {
    let (descriptor, length) = state.withLock { ($0.descriptor, $0.length) }
    guard let descriptor else { throw SystemFailure(code: EBADF) }
    return (descriptor, length)
  }

  private static func syncDirectory(_ path: String) throws(SystemFailure) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    // A directory that may be written and not read takes the file, and cannot be synced.
    guard descriptor >= 0 else { return }
    defer { _ = ReadableFile.closeFile(descriptor) }
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw SystemFailure.last }
  }

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
}
