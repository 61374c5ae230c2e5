import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Files by hand: what the disk itself asks for.
enum RawFiles {
  struct Failure: Error { let code = errno }

  static func make(_ url: URL, length: Int) throws {
    var block = [UInt8](repeating: 0, count: 1 << 20)
    var state: UInt64 = 1
    let file = try opened(url, O_WRONLY | O_CREAT | O_TRUNC)
    defer { close(file) }
    for _ in 0..<length >> 20 {
      for index in stride(from: 0, to: block.count, by: 64) {
        state = state &* 6_364_136_223_846_793_005 &+ 1
        block[index] = UInt8(truncatingIfNeeded: state >> 56)
      }
      guard write(file, block, block.count) == block.count else { throw Failure() }
    }
    guard fsync(file) == 0 else { throw Failure() }
  }

  /// Copies a file and waits for the disk.
  static func copy(_ source: URL, to target: URL) throws {
    let (from, to) = (try opened(source, O_RDONLY), try opened(target, O_WRONLY | O_CREAT | O_TRUNC))
    defer {
      close(from)
      close(to)
    }
    var block = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = read(from, &block, block.count)
      guard count > 0 else { break }
      guard write(to, block, count) == count else { throw Failure() }
    }
    guard fsync(to) == 0 else { throw Failure() }
  }

  /// Writes a temporary file, syncs it, and renames it.
  static func put(_ bytes: [UInt8], in directory: URL, _ number: Int) throws {
    let beside = directory.appending(path: "raw-\(number).new")
    let file = try opened(beside, O_WRONLY | O_CREAT | O_TRUNC)
    defer { close(file) }
    guard write(file, bytes, bytes.count) == bytes.count, fsync(file) == 0,
      rename(beside.path, directory.appending(path: "raw-\(number)").path) == 0
    else { throw Failure() }
  }

  private static func opened(_ url: URL, _ flags: Int32) throws -> Int32 {
    let file = open(url.path, flags | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw Failure() }
    return file
  }
}
