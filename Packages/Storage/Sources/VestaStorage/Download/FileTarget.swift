import Foundation
import VestaBytes
import VestaConcurrency
import VestaCore
import VestaFiles
import VestaStorageBackend

/// Writes a download beside a file, and takes the file's place at the end.
///
/// A large download is noted in the ``DownloadBook``: when the process is killed, the next download of the object to
/// the file goes on with what is there.
final class FileTarget: DownloadTarget {
  private struct State {
    var file: FileBeside?
    var isClaimant = false
    /// The generation in the book.
    var noted: Int64?
  }

  /// Downloads of fewer bytes are not worth a note.
  static let notedSize: Int64 = 4 * 1024 * 1024

  private let url: URL
  private let location: StorageLocation
  private let book: DownloadBook
  private let state = Locked(State())

  init(_ url: URL, _ location: StorageLocation, _ book: DownloadBook) {
    self.url = url
    self.location = location
    self.book = book
  }

  private var path: String { url.path }
  private var key: String { DownloadBook.key(location, path) }

  func begin() async throws -> DownloadStart? {
    guard url.localPath != nil else {
      throw StorageError.invalidArgument(message: "\(url) names no file to download to. Pass a file URL.")
    }
    guard book.claim(key) else { return nil }
    state.withLock { $0.isClaimant = true }
    guard let entry = book.entry(location, path) else { return nil }
    return try await leftover(entry)
  }

  /// Opens what an earlier process has left; removes what cannot be used.
  private func leftover(_ entry: DownloadBook.Entry) async throws -> DownloadStart? {
    let file: FileBeside
    do {
      file = try FileBeside(continuing: entry.temporary, target: path)
    } catch {
      // The download begins again, in another file: what cannot be opened must not stay behind.
      if !error.isMissing {
        log.notice("I-STR000009", "The download to \(path) cannot be continued and starts again. \(error)")
        try? DurableFile.remove(entry.temporary)
      }
      book.forget(key)
      return nil
    }
    state.withLock { state in
      state.file = file
      state.noted = entry.generation
    }
    var checksum = CRC32C()
    var length: Int64 = 0
    while true {
      try Task.checkCancellation()
      let bytes = try file.read(at: length, length: DownloadRunner.readLength)
      guard !bytes.isEmpty else { break }
      checksum.update(bytes)
      length += Int64(bytes.count)
    }
    guard length <= entry.size else {
      try file.truncate()
      return nil
    }
    return DownloadStart(generation: entry.generation, length: length, checksum: checksum)
  }

  func opened(_ object: StorageObject) {
    let isNew = state.withLock { $0.isClaimant && $0.noted != object.generation }
    guard isNew, object.size >= Self.notedSize, let file = try? opened() else { return }
    book.remember(location, path, temporary: file.temporary, object)
    state.withLock { $0.noted = object.generation }
  }

  func write(_ bytes: [UInt8]) throws { try opened().append(bytes) }

  func restart() throws { try opened().truncate() }

  func finish() throws {
    let file = try opened()
    do {
      try file.finish()
    } catch {
      end()?.discard()
      throw error
    }
    _ = end()
  }

  func discard() { end()?.discard() }

  /// Releases the file and the claim in the book.
  private func end() -> FileBeside? {
    let (file, isClaimant, isNoted) = state.withLock { state in
      defer { state = State() }
      return (state.file, state.isClaimant, state.noted != nil)
    }
    if isNoted { book.forget(key) }
    if isClaimant { book.release(key) }
    return file
  }

  private func opened() throws -> FileBeside {
    try state.withLock { state in
      if let file = state.file { return file }
      let made = try FileBeside(named: ".\(UUID().uuidString).vesta", target: path)
      state.file = made
      return made
    }
  }
}

private let log = Logger(service: "VestaStorage")
