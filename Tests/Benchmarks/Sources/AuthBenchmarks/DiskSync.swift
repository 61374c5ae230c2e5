import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The writes of a sign-in with nothing around them: what the disk itself asks for.
struct DiskSync: Sendable {
  /// Three pages at the end of the store's log, as one commit writes them.
  private static let commit = [UInt8](repeating: 1, count: 3 * 8_216)
  /// A session in its place.
  private static let session = [UInt8](repeating: 1, count: 1_400)

  private let log: Int32
  private let sessions: Int32

  init(in directory: URL) {
    log = Self.made(directory.appending(path: "raw-log"))
    sessions = Self.made(directory.appending(path: "raw-session"))
    precondition(write(sessions, [UInt8](repeating: 0, count: 8_192), 8_192) == 8_192)
  }

  /// Appends a commit and waits for the disk; with a session, writes it in place and waits again.
  ///
  /// - Returns: Nanoseconds.
  func run(withSession: Bool) -> Double {
    ContinuousClock().measure {
      precondition(write(log, Self.commit, Self.commit.count) == Self.commit.count && sync(log) == 0)
      guard withSession else { return }
      precondition(pwrite(sessions, Self.session, Self.session.count, 4_096) == Self.session.count)
      precondition(sync(sessions) == 0)
    } / .nanoseconds(1)
  }

  func close() {
    _ = Foundation.close(log)
    _ = Foundation.close(sessions)
  }

  private func sync(_ file: Int32) -> Int32 {
    #if canImport(Darwin)
      fsync(file)
    #else
      fdatasync(file)
    #endif
  }

  private static func made(_ url: URL) -> Int32 {
    let file = open(url.path, O_RDWR | O_CREAT | O_TRUNC, 0o600)
    precondition(file >= 0, "the benchmark's own file \(url.path) cannot be made")
    return file
  }
}
