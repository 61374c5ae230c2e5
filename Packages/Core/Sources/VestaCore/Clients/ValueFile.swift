import VestaConcurrency
import VestaFiles

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A small file in which a client keeps one value, replaced as a whole and durably.
///
/// - After a crash the old value or the new one is there, whole.
/// - A file that cannot be read is kept: ``load()`` renames it to `<name>.damaged` beside the file, logs both paths and
///   returns `nil`, and the client goes on as without a file.
/// - All members may be used from any thread. Of several writers, the last one to write writes the newest value.
///
/// ```swift
/// let file = ValueFile<Settings>(directory.appending(path: "settings.json"))
/// let settings = file.load() ?? Settings()
/// try file.save { state.withLock { $0.settings } }
/// ```
public final class ValueFile<Value: Codable & Sendable>: Sendable {
  private let file: URL
  private let writing = Locked(())

  /// A file, which need not exist.
  public init(_ file: URL) { self.file = file }

  /// Returns the value; `nil` when there is no file, or none that can be read.
  public func load() -> Value? {
    do {
      guard let bytes = try DurableFile.read(file.path) else { return nil }
      return try JSONDecoder().decode(Value.self, from: Data(bytes))
    } catch {
      keepDamaged(error)
      return nil
    }
  }

  /// Replaces the value.
  ///
  /// - Parameter current: Returns the value; called when it is this call's turn, so that the last writer writes the
  ///   newest value. It must not call the file.
  /// - Throws: `FileFailure` or `EncodingError`; the old value is there then.
  public func save(_ current: () -> Value) throws {
    // Written under a lock of its own, which orders the writers; nothing else is locked or called.
    try writing.withLock { _ in
      let bytes = Array(try JSONEncoder().encode(current()))
      try DurableFile.makeDirectory(file.deletingLastPathComponent().path)
      try DurableFile.replace(file.path, with: bytes)
    }
  }

  private func keepDamaged(_ error: any Error) {
    let target = file.path + ".damaged"
    do {
      try DurableFile.move(file.path, to: target)
      log.error("I-COR000008", "\(file.path) cannot be read and counts as absent; it is kept as \(target): \(error)")
    } catch let failure {
      log.error("I-COR000008", "\(file.path) cannot be read and counts as absent: \(error). \(failure)")
    }
  }
}

private let log = Logger(service: "VestaCore")
