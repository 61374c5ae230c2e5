import VestaConcurrency
import VestaStorageBackend
import VestaStoreInterop

/// Writes the pieces of a blob; the last one is written again as it grows.
final class PieceWriter: BlobWriter {
  private struct State {
    /// The number of bytes in whole pieces.
    var whole: Int64
    var tail: [UInt8]
    var isEnded = false
    var size: Int64 { whole + Int64(tail.count) }
  }

  private let id: BlobID
  private let row: BlobRow
  private let blobs: StoreBlobStore
  private let state: Locked<State>

  init(_ id: BlobID, _ row: BlobRow, tail: [UInt8], in blobs: StoreBlobStore) {
    self.id = id
    self.row = row
    self.blobs = blobs
    state = Locked(State(whole: row.size - Int64(tail.count), tail: tail))
  }

  var size: Int64 { state.withLock { $0.size } }

  /// Stores the bytes, the beginning of the next piece included: appended bytes are there when the writer has ended.
  func append(_ bytes: [UInt8]) async throws {
    var next = try current()
    next.tail += bytes
    let length = Int(row.pieceLength)
    let most = max(1, blobs.tuning.storedTogether / length)
    while !next.tail.isEmpty {
      let count = min(most, next.tail.count / length)
      let isLast = next.tail.count / length <= most
      let (first, pieces) = (next.whole / row.pieceLength, isLast ? next.tail : Array(next.tail.prefix(count * length)))
      let end = next.whole + Int64(pieces.count)
      try await change { row, transaction in
        for (number, start) in stride(from: 0, to: pieces.count, by: length).enumerated() {
          let piece = Array(pieces[start..<min(start + length, pieces.count)])
          try await transaction.put(piece, for: PieceKeys.piece(row.content, first + Int64(number)))
        }
        row.size = end
      }
      next.tail.removeFirst(count * length)
      next.whole += Int64(count * length)
      if isLast { break }
    }
    let written = next
    state.withLock { ($0.whole, $0.tail) = (written.whole, written.tail) }
  }

  /// Everything that was appended is in the store.
  func sync() async throws {
    _ = try current()
    try await change { _, _ in }
  }

  func seal() async throws {
    let size = try current().size
    try await change { row, _ in
      guard row.size == size else {
        throw BlobError(.inputOutput, "A blob has \(row.size) bytes, and \(size) were written.")
      }
      row.isSealed = true
    }
    close()
  }

  func close() {
    let isFirst = state.withLock { state in
      defer { state.isEnded = true }
      return !state.isEnded
    }
    if isFirst { blobs.ended(id) }
  }

  private func current() throws -> State {
    let state = state.withLock { $0 }
    guard !state.isEnded else { throw BlobError(.closed, "The writer has ended.") }
    return state
  }

  /// Changes the blob, while it is this writer's.
  private func change(
    _ body: @escaping @Sendable (inout BlobRow, any StoreTransaction) async throws -> Void
  ) async throws {
    let (id, writer) = (id, row.writer)
    try await blobs.store.write { transaction in
      guard let bytes = try await transaction.get(PieceKeys.blob(id)) else {
        throw BlobError(.notFound, "The blob \(id) was removed.")
      }
      var row = try BlobRow(fieldBytes: bytes)
      guard row.writer == writer, !row.isSealed else { throw BlobError(.closed, "Another writer has taken the blob.") }
      try await body(&row, transaction)
      try await transaction.put(try row.fieldBytes(), for: PieceKeys.blob(id))
    }
  }
}

/// Reads the pieces of a blob.
final class PieceReader: BlobReader {
  private let row: BlobRow
  private let store: any OrderedStore
  private let together: Int
  private let isEnded = Locked(false)

  /// - Parameter together: The bytes that are read by one call at the most, but for one piece.
  init(_ row: BlobRow, in store: any OrderedStore, together: Int) {
    self.row = row
    self.store = store
    self.together = together
  }

  var size: Int64 { row.size }

  func read(at offset: Int64, length: Int) async throws -> [UInt8] {
    guard !isEnded.withLock({ $0 }) else { throw BlobError(.closed, "The reader has ended.") }
    guard offset >= 0, offset < row.size, length > 0 else { return [] }
    let pieceLength = row.pieceLength
    let wanted = min(Int64(length), row.size - offset)
    let first = offset / pieceLength
    let last = min((offset + wanted - 1) / pieceLength, first + max(1, Int64(together) / pieceLength) - 1)
    let keys = (first...last).map { PieceKeys.piece(row.content, $0) }
    let pieces = try await store.read { try await $0.get(keys) }
    var bytes: [UInt8] = []
    for (number, piece) in zip(first...last, pieces) {
      let expected = min(pieceLength, row.size - number * pieceLength)
      guard let piece, piece.count >= expected else {
        throw BlobError(.notFound, "A piece of the content is not there, or was removed while it was read.")
      }
      bytes += piece.prefix(Int(expected))
    }
    return Array(bytes.dropFirst(Int(offset - first * pieceLength)).prefix(length))
  }

  func close() { isEnded.withLock { $0 = true } }
}
