package import VestaFirestoreBackend

/// Writes the parts of a row: a `ByteWriter` that writes a signed integer in eight bytes, so that rows of one kind have
/// one length.
package struct RowWriter: Sendable {
  private var writer: ByteWriter

  /// A writer of nothing so far.
  package init(reserving capacity: Int = 256) { writer = ByteWriter(reserving: capacity) }

  /// The bytes written so far.
  package var bytes: [UInt8] { writer.bytes }

  /// Appends one byte.
  package mutating func write(byte: UInt8) { writer.write(byte: byte) }

  /// Appends a count as a varint.
  package mutating func write(count: Int) { writer.write(count: count) }

  /// Appends eight bytes, the highest first.
  package mutating func write(fixed: UInt64) { writer.write(fixed64: fixed) }

  /// Appends a signed integer in eight bytes.
  package mutating func write(int: Int64) { writer.write(fixed64: UInt64(bitPattern: int)) }

  /// Appends a string: the count of its UTF-8 bytes, then the bytes.
  package mutating func write(text: String) { writer.write(string: text) }

  /// Appends bytes after their count.
  package mutating func write(blob: [UInt8]) { writer.write(blob: blob) }
}

/// Reads what a `RowWriter` wrote: a `ByteReader` whose failure is `DATA_LOSS`.
package struct RowReader: Sendable {
  private var reader: ByteReader

  /// A reader of bytes, from a position on.
  package init(_ bytes: [UInt8], from start: Int = 0) { reader = ByteReader(bytes, from: start) }

  /// Whether every byte has been read.
  package var isAtEnd: Bool { reader.isAtEnd }

  /// Reads one byte.
  package mutating func byte() throws(FirestoreServiceError) -> UInt8 {
    do { return try reader.byte() } catch { throw .damaged(error) }
  }

  /// Reads a count.
  package mutating func count() throws(FirestoreServiceError) -> Int {
    do { return try reader.count() } catch { throw .damaged(error) }
  }

  /// Reads eight bytes, the highest first.
  package mutating func fixed() throws(FirestoreServiceError) -> UInt64 {
    do { return try reader.fixed64() } catch { throw .damaged(error) }
  }

  /// Reads a signed integer of eight bytes.
  package mutating func int() throws(FirestoreServiceError) -> Int64 { Int64(bitPattern: try fixed()) }

  /// Reads a string.
  package mutating func text() throws(FirestoreServiceError) -> String {
    do { return try reader.string() } catch { throw .damaged(error) }
  }

  /// Reads bytes that were written with their count.
  package mutating func blob() throws(FirestoreServiceError) -> [UInt8] {
    do { return Array(try reader.blob()) } catch { throw .damaged(error) }
  }
}

extension FieldRecord {
  /// Reads the record of a row.
  ///
  /// - Throws: `DATA_LOSS` with the reason, for bytes that no record has.
  package init(row bytes: [UInt8]) throws(FirestoreServiceError) {
    do {
      try self.init(fieldBytes: bytes)
    } catch let error as BytesError {
      throw .damaged(error)
    } catch {
      throw error as? FirestoreServiceError ?? .damaged
    }
  }
}

extension FirestoreServiceError {
  /// A row that cannot be decoded.
  package static let damaged = FirestoreServiceError(
    .dataLoss, "A row of the store cannot be read: other code wrote it, or it is damaged.")

  /// A row that cannot be decoded, with the reason.
  package static func damaged(_ reason: BytesError) -> FirestoreServiceError {
    FirestoreServiceError(
      .dataLoss, "A row of the store cannot be read (\(reason.message)): other code wrote it, or it is damaged.")
  }

  /// The same error with the row in front of its message, for damage; another error unchanged.
  package func at(_ row: String) -> FirestoreServiceError {
    code == .dataLoss ? FirestoreServiceError(code, "\(row): \(message)") : self
  }
}
