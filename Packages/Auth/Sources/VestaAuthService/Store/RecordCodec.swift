import VestaAuthBackend
import VestaBytes

/// Records as bytes: one byte for the form, then the record as the only field of an envelope, whose length
/// reveals a record that was cut off.
enum RecordCodec {
  static let form: UInt8 = 2

  private struct Envelope<Record: FieldRecord>: FieldRecord {
    var record = Record()

    mutating func visit(_ visitor: inout some RecordVisitor) throws { try visitor.field(1, &record) }
  }

  static func encode<Record: FieldRecord>(_ record: Record) throws -> [UInt8] {
    try Envelope(record: record).fieldBytes(after: [form])
  }

  static func decode<Record: FieldRecord>(_ type: Record.Type, from bytes: [UInt8]) throws -> Record {
    guard bytes.first == form else {
      throw AuthServiceError(.internalError, "A \(type) in the store was written by another version of Vesta.")
    }
    guard bytes.count > 1 else { throw damaged("\(type)", "it is empty") }
    do {
      return try Envelope<Record>(fieldBytes: bytes, from: 1).record
    } catch {
      throw damaged("\(type)", "\(error)")
    }
  }

  /// Reads a part of a row's key.
  ///
  /// - Throws: An error that names the table of the damaged row.
  static func part<Part>(_ table: String, _ read: () throws -> Part) throws -> Part {
    do { return try read() } catch { throw damaged("key of the table \(table)", "\(error)") }
  }

  private static func damaged(_ what: String, _ why: String) -> AuthServiceError {
    AuthServiceError(.internalError, "A \(what) in the store is damaged: \(why). Restore a backup of the store.")
  }
}
