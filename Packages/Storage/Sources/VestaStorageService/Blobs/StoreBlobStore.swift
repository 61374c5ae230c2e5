import VestaBytes
import VestaConcurrency
import VestaStorageBackend
import VestaStoreInterop

/// Content in pieces in the store of the metadata: every process of the store has it.
///
/// | row | key | value |
/// |---|---|---|
/// | blob | 8, blob id | ``BlobRow``: the content's name, and how much of it is durable |
/// | piece | 9, content's name, number | bytes |
/// | removed | 10, version, content's name | nothing: the pieces go when no reader is likely to have them |
///
/// Content has a name apart from its blob, and a blob that begins anew gets other content: so a reader stays with what
/// it has opened. Pieces of removed content stay for `StorageServiceTuning.removalDelay`, in the store's versions, as
/// its readers may be in any process; a reader that takes longer fails. A writer's name is in the row: one that another
/// process has taken the blob from can write nothing more.
///
/// Failures of the store are thrown as they are; the frame of the engine translates them.
final class StoreBlobStore: BlobStore {
  let store: any OrderedStore
  let tuning: StorageServiceTuning
  private let writing = Locked<(ids: Set<BlobID>, isClosed: Bool)>(([], false))

  /// The blobs in a store, which stays open.
  init(_ store: any OrderedStore, tuning: StorageServiceTuning) {
    self.store = store
    self.tuning = tuning
  }

  func write(_ id: BlobID, keeping size: Int64) async throws -> any BlobWriter {
    let (isOpen, isFree) = writing.withLock { (!$0.isClosed, !$0.isClosed && $0.ids.insert(id).inserted) }
    guard isOpen else { throw BlobError(.closed, "The blob store was closed.") }
    guard isFree else { throw BlobError(.busy, "Another writer has the blob \(id).") }
    do {
      let (row, tail) = try await opened(id, keeping: size)
      return PieceWriter(id, row, tail: tail, in: self)
    } catch {
      ended(id)
      throw error
    }
  }

  /// Takes a blob for a writer: cut to a size, or begun with other content.
  private func opened(_ id: BlobID, keeping size: Int64) async throws -> (BlobRow, [UInt8]) {
    let new = BlobRow(content: Self.name(), pieceLength: Int64(max(1, tuning.storedPiece)), writer: Self.name())
    return try await store.write { transaction in
      let known = try await transaction.get(PieceKeys.blob(id)).map { try BlobRow(fieldBytes: $0) }
      if known?.isSealed == true { throw BlobError(.sealed, "The blob \(id) is sealed.") }
      guard size > 0 else {
        if let known { try await Self.leave(known.content, in: transaction) }
        try await transaction.put(try new.fieldBytes(), for: PieceKeys.blob(id))
        return (new, [])
      }
      guard var row = known, row.size >= size else {
        throw BlobError(.notFound, "The blob \(id) has not \(size) bytes.")
      }
      let (last, length) = size.quotientAndRemainder(dividingBy: row.pieceLength)
      (row.size, row.writer) = (size, new.writer)
      let tail = length > 0 ? try await transaction.get(PieceKeys.piece(row.content, last)) : []
      guard let tail, tail.count >= length else {
        throw BlobError(.notFound, "A piece of the blob \(id) is not there.")
      }
      let all = PieceKeys.pieces(row.content)
      try await transaction.deleteRange(
        KeyRange(from: PieceKeys.piece(row.content, length > 0 ? last + 1 : last), to: all.upper))
      try await transaction.put(try row.fieldBytes(), for: PieceKeys.blob(id))
      return (row, Array(tail.prefix(Int(length))))
    }.value
  }

  func read(_ id: BlobID) async throws -> any BlobReader { try await reader(of: id, isSealed: true) }

  func readUnsealed(_ id: BlobID) async throws -> any BlobReader { try await reader(of: id, isSealed: false) }

  private func reader(of id: BlobID, isSealed: Bool) async throws -> PieceReader {
    guard !writing.withLock({ $0.isClosed }) else { throw BlobError(.closed, "The blob store was closed.") }
    let row = try await store.read { try await $0.get(PieceKeys.blob(id)).map { try BlobRow(fieldBytes: $0) } }
    guard let row, row.isSealed == isSealed else { throw BlobError(.notFound, "There is no blob \(id) to read.") }
    return PieceReader(row, in: store, together: tuning.storedTogether)
  }

  func remove(_ id: BlobID) async throws {
    try await store.write { transaction in
      guard let bytes = try await transaction.get(PieceKeys.blob(id)) else { return }
      try await transaction.delete(PieceKeys.blob(id))
      try await Self.leave(try BlobRow(fieldBytes: bytes).content, in: transaction)
    }
    _ = try await removePieces(after: tuning.removalDelay)
  }

  func list() async throws -> [BlobID] {
    try await store.read { try await $0.entries(in: PieceKeys.blobs) }.compactMap { try PieceKeys.blobID($0.key) }
  }

  func close() async { writing.withLock { $0 = ([], true) } }

  /// Removes the pieces of removed content now, although a reader may have it.
  func makeRoom() async -> Bool { (try? await removePieces(after: 0)) ?? false }

  func ended(_ id: BlobID) { writing.withLock { _ = $0.ids.remove(id) } }

  // MARK: Removed content

  private static func leave(_ content: String, in transaction: any StoreTransaction) async throws {
    let version = try await transaction.commitVersion().microseconds
    try await transaction.put([], for: PieceKeys.removed(content, at: version))
  }

  /// Removes the pieces of content that was removed so long ago, some of it by each commit.
  private func removePieces(after delay: Int64) async throws -> Bool {
    let all = PieceKeys.allRemoved
    var hasRemoved = false
    while true {
      let isMore = try await store.write { transaction in
        let now = try await transaction.commitVersion().microseconds
        guard let first = try await transaction.first(in: all) else { return false }
        let (version, content) = try PieceKeys.removed(first.key)
        guard now - version >= delay else { return false }
        try await transaction.deleteRange(PieceKeys.pieces(content))
        try await transaction.delete(first.key)
        return true
      }.value
      guard isMore else { return hasRemoved }
      hasRemoved = true
    }
  }

  private static func name() -> String {
    String(UInt64.random(in: 0 ... .max), radix: 36) + String(UInt64.random(in: 0 ... .max), radix: 36)
  }
}

/// The row of a blob.
struct BlobRow: FieldRecord, Equatable {
  /// The name of the content.
  var content = ""
  var pieceLength: Int64 = 1
  /// The number of bytes that are durable.
  var size: Int64 = 0
  var isSealed = false
  /// The name of the last writer.
  var writer = ""

  init() {}

  init(content: String, pieceLength: Int64, writer: String) {
    (self.content, self.pieceLength, self.writer) = (content, pieceLength, writer)
  }

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &content)
    try visitor.field(2, &pieceLength)
    try visitor.field(3, &size)
    try visitor.field(4, &isSealed)
    try visitor.field(5, &writer)
    guard pieceLength > 0 else { throw BytesError(.malformed, "field 2: the pieces have no length") }
  }
}

/// The keys of content in the store; the tables follow the tables of ``Keys``.
enum PieceKeys {
  static let blobs = KeyEncoder(.int(8)).range
  static let allRemoved = KeyEncoder(.int(10)).range

  static func blob(_ id: BlobID) -> [UInt8] { KeyEncoder(.int(8), .string(id.rawValue)).bytes }

  static func piece(_ content: String, _ number: Int64) -> [UInt8] {
    KeyEncoder(.int(9), .string(content), .int(number)).bytes
  }

  static func pieces(_ content: String) -> KeyRange { KeyEncoder(.int(9), .string(content)).range }

  static func removed(_ content: String, at version: Int64) -> [UInt8] {
    KeyEncoder(.int(10), .int(version), .string(content)).bytes
  }

  static func blobID(_ key: [UInt8]) throws -> BlobID? {
    var decoder = KeyDecoder(key)
    _ = try decoder.int()
    return BlobID(rawValue: try decoder.string())
  }

  static func removed(_ key: [UInt8]) throws -> (version: Int64, content: String) {
    var decoder = KeyDecoder(key)
    _ = try decoder.int()
    return (try decoder.int(), try decoder.string())
  }
}
