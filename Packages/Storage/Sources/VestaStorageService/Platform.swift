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
import Dispatch
import VestaConcurrency
import VestaStorageBackend

/// What the service asks of the system: files, directories, and making both durable.
enum Platform {
  /// Runs what waits for the disk on a thread that may wait.
  static func aside(_ work: @escaping @Sendable () throws(SystemFailure) -> Void) async throws(BlobError) {
    let failure: SystemFailure? = await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        do throws(SystemFailure) {
          try work()
          continuation.resume(returning: nil)
        } catch {
          continuation.resume(returning: error)
        }
      }
    }
    if let failure { throw failure.blobError }
  }

  static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// Opens a file for writing after its first bytes; what comes after them is cut off.
  static func openForAppending(_ path: String, keeping size: Int64, creating: Bool) throws(SystemFailure) -> OpenFile {
    let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | (creating ? O_CREAT : 0)
    let descriptor = open(path, flags, 0o600)
    guard descriptor >= 0 else { throw SystemFailure.last }
    let file = OpenFile(descriptor)
    guard try file.size() >= size else { throw SystemFailure(code: ENOENT) }
    guard ftruncate(descriptor, off_t(size)) == 0 else { throw SystemFailure.last }
    return file
  }

  static func openForReading(_ path: String) throws(SystemFailure) -> OpenFile {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw SystemFailure.last }
    return OpenFile(descriptor)
  }

  static func remove(_ path: String) throws(SystemFailure) {
    guard unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR else { throw SystemFailure.last }
  }

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

  /// Makes the names in a directory durable.
  static func syncDirectory(_ path: String) throws(SystemFailure) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemFailure.last }
    let file = OpenFile(descriptor)
    defer { file.close() }
    try file.sync()
  }

  /// Makes a directory and the ones above it, durably.
  static func makeDirectories(_ path: String) throws(SystemFailure) {
    guard !exists(path) else { return }
    let above = parent(of: path)
    if above != path { try makeDirectories(above) }
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw SystemFailure.last }
    try syncDirectory(above)
  }

  /// The names in a directory; none when there is no such directory.
  static func names(in path: String) throws(SystemFailure) -> [String] {
    guard let directory = opendir(path) else {
      if errno == ENOENT { return [] }
      throw SystemFailure.last
    }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  private static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}

/// An open file, which may be used from any thread and is closed once.
final class OpenFile: Sendable {
  private let descriptor: Locked<Int32?>

  init(_ descriptor: Int32) { self.descriptor = Locked(descriptor) }

  deinit { close() }

  func size() throws(SystemFailure) -> Int64 {
    var info = stat()
    guard fstat(try openDescriptor(), &info) == 0 else { throw SystemFailure.last }
    return Int64(info.st_size)
  }

  /// Writes all bytes at a position; on a failure the file is cut off there again.
  func write(_ bytes: [UInt8], at offset: Int64) throws(SystemFailure) {
    let descriptor = try openDescriptor()
    // Unsafe pointer, used inside the closure only: the system writes from it.
    let failure = bytes.withUnsafeBytes { buffer -> SystemFailure? in
      guard let start = buffer.baseAddress else { return nil }
      var written = 0
      while written < buffer.count {
        let step = pwrite(descriptor, start + written, buffer.count - written, off_t(offset) + off_t(written))
        if step < 0, errno == EINTR { continue }
        guard step > 0 else { return step < 0 ? .last : SystemFailure(code: ENOSPC) }
        written += step
      }
      return nil
    }
    guard let failure else { return }
    _ = ftruncate(descriptor, off_t(offset))
    throw failure
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

  func sync() throws(SystemFailure) {
    guard fsync(try openDescriptor()) == 0 else { throw SystemFailure.last }
  }

  func close() {
    guard let descriptor = descriptor.withLock({ $0.take() }) else { return }
    #if canImport(Darwin)
      _ = Darwin.close(descriptor)
    #elseif canImport(Glibc)
      _ = Glibc.close(descriptor)
    #elseif canImport(Musl)
      _ = Musl.close(descriptor)
    #else
      _ = Android.close(descriptor)
    #endif
  }

  private func openDescriptor() throws(SystemFailure) -> Int32 {
    guard let descriptor = descriptor.withLock({ $0 }) else { throw SystemFailure(code: EBADF) }
    return descriptor
  }
}

/// An error number of the system.
struct SystemFailure: Error {
  let code: Int32

  static var last: SystemFailure { SystemFailure(code: errno) }
  static let exists = EEXIST

  var blobError: BlobError {
    let text = String(cString: strerror(code))
    return switch code {
    case ENOENT: BlobError(.notFound, "There is no such blob.")
    case EEXIST: BlobError(.sealed, "The blob is sealed and cannot be written.")
    case ENOSPC, EDQUOT, EFBIG: BlobError(.diskFull, "The disk is full (\(text)). Free space and try again.")
    case EBADF: BlobError(.closed, "The file was closed.")
    default: BlobError(.inputOutput, "The system reported an error: \(text) (\(code)).")
    }
  }
}
