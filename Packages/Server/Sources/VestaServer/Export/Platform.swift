import Foundation
import VestaFiles

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Calls of the system that Foundation does not have.
enum Platform {
  /// Exchanges the names of two files or directories in one step, so that neither name is ever missing.
  ///
  /// - Returns: `false` where the system or the file system cannot do it.
  /// - Throws: `FileFailure`, such as `EBUSY` for a directory at which a file system is mounted.
  static func exchange(_ first: String, _ second: String) throws(FileFailure) -> Bool {
    guard let call = exchangeCall else { return false }
    if call(AT_FDCWD, first, AT_FDCWD, second, 2) == 0 { return true }
    if [ENOSYS, EINVAL, EOPNOTSUPP].contains(errno) { return false }
    throw lastFailure("exchange", second)
  }

  /// Renames a file or a directory.
  static func rename(_ path: String, to target: String) throws(FileFailure) {
    guard Foundation.rename(path, target) == 0 else { throw lastFailure("rename", target) }
  }

  /// Waits until everything in the file system of a directory is on the disk.
  static func sync(fileSystemOf directory: String) {
    let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { if descriptor >= 0 { close(descriptor) } }
    guard descriptor >= 0, let call = syncCall, call(descriptor) == 0 else { return Foundation.sync() }
  }

  /// Whether a process has a number now.
  static func isAlive(_ process: Int32) -> Bool { process > 0 && (kill(process, 0) == 0 || errno == EPERM) }

  private typealias ExchangeCall =
    @convention(c) (CInt, UnsafePointer<CChar>?, CInt, UnsafePointer<CChar>?, CUnsignedInt) -> CInt

  private typealias SyncCall = @convention(c) (CInt) -> CInt

  /// `renameat2`, which Linux has, and headers show to few programs.
  // unsafeBitCast is sound: the symbol of the C library has this signature.
  private static let exchangeCall = dlsym(nil, "renameat2").map { unsafeBitCast($0, to: ExchangeCall.self) }

  /// `syncfs`, likewise.
  // unsafeBitCast is sound: the symbol of the C library has this signature.
  private static let syncCall = dlsym(nil, "syncfs").map { unsafeBitCast($0, to: SyncCall.self) }

  private static func lastFailure(_ operation: String, _ path: String) -> FileFailure {
    let code = errno
    return FileFailure(code: code, path: path, "\(operation) \(path): \(String(cString: strerror(code)))")
  }
}
