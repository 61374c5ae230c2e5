import Foundation
import VestaBytes
import VestaConcurrency
import VestaCore
import VestaFiles
import VestaStorageBackend

/// Writes a download next to a file, and takes the file's place at the end.
///
/// A large download is noted in the ``DownloadBook``: when the process is killed, the next download of the object to
/// the file continues with what is there. The claim on the note is the target's, whichever attempt of its download
/// runs, and the file next to it is locked against other processes.
final class FileTarget: DownloadTarget {
  private struct State {
    var file: FileBeside?
    var isClaimant = false
    /// The generation in the book.
    var noted: Int64?
    var isOver = false
  }

  private let url: URL
  private let location: StorageLocation
  private let book: DownloadBook
  private let tuning: StorageTuning
  private let state = Locked(State())

  init(_ url: URL, _ location: StorageLocation, _ book: DownloadBook, tuning: StorageTuning = StorageTuning()) {
    self.url = url
    self.location = location
    self.book = book
    self.tuning = tuning
  }

  private var path: String { url.path }
  private var key: String { DownloadBook.key(location, path) }

  func prepare() async throws -> DownloadStart? {
    guard url.localPath != nil else {
      throw StorageError.invalidArgument(message: "\(url) names no file to download to. Pass a file URL.")
    }
    book.removeLeftovers()
    guard try claim(), let entry = book.entry(location, path), let file = leftover(entry) else { return nil }
    let length = file.length
    guard length <= entry.size else {
      try file.truncate()
      return nil
    }
    return DownloadStart(generation: entry.generation, length: length)
  }

  /// Claims the note, unless another download has it; an earlier attempt may have claimed it.
  private func claim() throws -> Bool {
    try state.withLock { state in
      guard !state.isOver else { throw CancellationError() }
      if !state.isClaimant { state.isClaimant = book.claim(key) }
      return state.isClaimant
    }
  }

  /// Opens what an earlier process has left; removes what cannot be used.
  private func leftover(_ entry: DownloadBook.Entry) -> FileBeside? {
    if let file = state.withLock({ $0.file }) { return file }
    do {
      let file = try FileBeside(continuing: entry.temporary, target: path)
      state.withLock { ($0.file, $0.noted) = (file, entry.generation) }
      return file
    } catch {
      if error.isLocked {
        // Another process writes it, and the note is that process's.
        book.release(key)
        state.withLock { $0.isClaimant = false }
        return nil
      }
      // The download begins again, in another file: an unusable one must not stay.
      if !error.isMissing {
        log.notice("I-STR000009", "The download to \(path) cannot be continued and starts again. \(error)")
        try? DurableFile.remove(entry.temporary)
      }
      book.forget(key)
      return nil
    }
  }

  func opened(_ object: StorageObject) {
    let isNew = state.withLock { $0.isClaimant && $0.noted != object.generation }
    guard isNew, object.size >= tuning.notedSize, let file = try? file() else { return }
    book.remember(location, path, temporary: file.temporary, object)
    state.withLock { $0.noted = object.generation }
  }

  func write(_ bytes: [UInt8], at offset: Int64) throws {
    let file = try file()
    guard file.length == offset else { throw DownloadMachine.misplaced(file.length, offset) }
    try file.append(bytes)
  }

  func restart() throws { try file().truncate() }

  func check(_ object: StorageObject, known: UInt32?) async throws -> Bool {
    let file = try file()
    guard try file.size() == object.size else { return false }
    // The disk may take long: neither the tasks of the process nor the content that takes its place wait for it.
    try await BlockingPool.shared.run { try file.sync() }
    if let known, object.size > tuning.rereadSize { return known == object.crc32c }
    var checksum = CRC32C()
    var offset: Int64 = 0
    var pieces = 0
    while offset < object.size {
      try Task.checkCancellation()
      let bytes = try file.read(at: offset, length: Int(min(Int64(tuning.readLength), object.size - offset)))
      guard !bytes.isEmpty else { return false }
      checksum.update(bytes)
      offset += Int64(bytes.count)
      pieces += 1
      if pieces.isMultiple(of: tuning.piecesBetweenYields) { await Task.yield() }
    }
    return checksum.value == object.crc32c
  }

  func publish() throws {
    let file = try file()
    defer { _ = end() }
    do {
      try file.finish()
    } catch {
      file.discard()
      throw error
    }
  }

  func discard() { end()?.discard() }

  /// Ends the target: releases the file, the note and the claim.
  private func end() -> FileBeside? {
    let (file, isClaimant, isNoted) = state.withLock { state in
      defer { state = State(isOver: true) }
      return (state.file, state.isClaimant, state.noted != nil)
    }
    // Another process may have noted another download since.
    if isNoted, book.entry(location, path)?.temporary == file?.temporary { book.forget(key) }
    if isClaimant { book.release(key) }
    return file
  }

  private func newFile() throws(FileFailure) -> FileBeside {
    do throws(FileFailure) {
      return try FileBeside(named: book.temporaryName(), target: path)
    } catch {
      guard error.isLocked else { throw error }
      // Another process took the new file for a leftover before it was locked.
      return try FileBeside(named: book.temporaryName(), target: path)
    }
  }

  /// The file next to it, made when it is first needed.
  private func file() throws -> FileBeside {
    if let file = try open() { return file }
    book.willWrite(besides: path)
    let file = try newFile()
    let isKept = state.withLock { state in
      if !state.isOver { state.file = file }
      return !state.isOver
    }
    guard isKept else {
      file.discard()
      throw CancellationError()
    }
    return file
  }

  private func open() throws -> FileBeside? {
    try state.withLock { state in
      guard !state.isOver else { throw CancellationError() }
      return state.file
    }
  }
}

private let log = Logger(service: "VestaStorage")
