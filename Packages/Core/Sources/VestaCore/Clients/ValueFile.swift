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
/// - A file whose content is not a value is kept: it is renamed to `<name>.damaged`, next to the file. ``load()`` logs
///   both paths and returns `nil`, and the client continues as without a file; ``read(damagedAs:)`` throws them.
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
      return try read()
    } catch let damaged as DamagedFile {
      log.error("I-COR000008", "\(damaged)")
    } catch {
      // Renamed too: the next value would replace the file that cannot be read right now.
      log.error("I-COR000008", "\(moveAside(error))")
    }
    return nil
  }

  /// Reads the value and logs nothing.
  ///
  /// - Parameter substitute: The value that the file has after damage was found; `nil` for no file. If it cannot be
  ///   written, the damaged file stays where it is.
  /// - Returns: The value; `nil` when there is no file.
  /// - Throws: ``DamagedFile`` when the content is not a value, `FileFailure` when the file cannot be read right now;
  ///   it stays where it is then.
  public func read(damagedAs substitute: Value? = nil) throws -> Value? {
    guard let bytes = try DurableFile.read(file.path) else { return nil }
    do {
      return try JSONDecoder().decode(Value.self, from: Data(bytes))
    } catch {
      guard let substitute else { throw moveAside(error) }
      throw replace(bytes, by: substitute, error)
    }
  }

  /// Replaces the value.
  ///
  /// - Parameter current: Returns the value; called when it is this call's turn, so that the last writer writes the
  ///   newest value. It must not call the file.
  /// - Throws: `FileFailure` or `EncodingError`; the old value is there then.
  public func save(_ current: () -> Value) throws {
    // Written under a separate lock, which orders the writers; nothing else is locked or called.
    try writing.withLock { _ in
      let bytes = Array(try JSONEncoder().encode(current()))
      try DurableFile.makeDirectory(file.deletingLastPathComponent().path)
      try DurableFile.replace(file.path, with: bytes)
    }
  }

  /// Removes the file; without a file nothing happens.
  public func remove() throws {
    // Under the same lock as saving, which it must not overtake.
    try writing.withLock { _ in try DurableFile.remove(file.path) }
  }

  private var asidePath: String { file.path + ".damaged" }

  private func moveAside(_ reason: any Error) -> DamagedFile {
    keeping(reason) { try DurableFile.move(file.path, to: asidePath) }
  }

  private func replace(_ bytes: [UInt8], by substitute: Value, _ reason: any Error) -> DamagedFile {
    keeping(reason) {
      try DurableFile.replace(asidePath, with: bytes)
      try save { substitute }
    }
  }

  private func keeping(_ reason: any Error, _ keep: () throws -> Void) -> DamagedFile {
    do {
      try keep()
      return DamagedFile(path: file.path, keptAs: asidePath, reason: "\(reason)")
    } catch {
      return DamagedFile(path: file.path, keptAs: nil, reason: "\(reason). \(error)")
    }
  }
}

/// A file was found whose content is not the value that belongs there.
public struct DamagedFile: Error, CustomStringConvertible {
  /// The file.
  public let path: String

  /// The path under which the content is kept; `nil` when it could not be moved and is still in its place.
  public let keptAs: String?

  /// The cause, and why the content could not be moved.
  public let reason: String

  /// The paths and the cause.
  public var description: String {
    "\(path) cannot be read and counts as absent\(keptAs.map { "; it is kept as \($0)" } ?? ""): \(reason)"
  }
}

private let log = Logger(service: "VestaCore")
