import Foundation
import VestaConcurrency

/// Where the bytes of a download go.
protocol DownloadTarget: Sendable {
  /// Takes the next bytes.
  func write(_ bytes: [UInt8]) throws

  /// Throws away what was taken.
  func restart() throws

  /// The download is complete.
  func finish() throws

  /// The download was given up.
  func discard()
}

/// Collects a download in memory.
final class MemoryTarget: DownloadTarget {
  private let content = Locked(Data())

  func write(_ bytes: [UInt8]) { content.withLock { $0.append(contentsOf: bytes) } }
  func restart() { content.withLock { $0 = Data() } }
  func finish() {}
  func discard() { content.withLock { $0 = Data() } }

  /// What has been downloaded.
  var data: Data { content.withLock { $0 } }
}

/// Writes a download beside a file, and takes the file's place at the end.
final class FileTarget: DownloadTarget {
  private let path: String
  private let file = Locked<FileBeside?>(nil)

  init(path: String) { self.path = path }

  func write(_ bytes: [UInt8]) throws { try opened().write(bytes) }
  func restart() throws { try opened().truncate() }
  func finish() throws { try opened().finish() }
  func discard() { file.withLock { $0.take() }?.discard() }

  private func opened() throws -> FileBeside {
    try file.withLock { file in
      if let file { return file }
      let made = try FileBeside(target: path, suffix: UUID().uuidString)
      file = made
      return made
    }
  }
}
