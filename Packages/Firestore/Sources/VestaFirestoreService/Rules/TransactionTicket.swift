import VestaBytes
import VestaFirestoreModel
import VestaStoreInterop

/// The identifier of a transaction, as every engine of a store reads it: its engine, its database, its begin, the
/// version it reads.
///
/// A transaction that only reads is in its identifier: any engine continues it at the same version. The state of one
/// that writes has read and locked is in the memory of the engine that began it; another engine knows from the
/// identifier that it is another engine's, and refuses with `ABORTED`, upon which clients begin again. In another
/// database a transaction is unknown, which is final: beginning again would not help.
struct TransactionTicket: Sendable, Equatable {
  /// The number of the engine that began it.
  var engine: UInt64
  /// The hash of the full name of its database, by ``hash(of:)``.
  var database: UInt64
  /// Tells it from the others of its engine.
  var number: UInt64
  /// Microseconds since 1970.
  var began: Int64
  /// The version that it reads; `nil` for one that may write.
  var readVersion: Int64?

  private static let form: UInt8 = 2
  private static let length = 45

  init(engine: UInt64, database: UInt64, began: Int64, readVersion: Int64?) {
    self.engine = engine
    self.database = database
    self.began = began
    self.readVersion = readVersion
    number = UInt64.random(in: .min ... .max)
  }

  /// The hash of a database's name: the same in every process.
  static func hash(of database: DatabaseName) -> UInt64 { FNV1a.hash(database.description) }

  var bytes: [UInt8] {
    var writer = RowWriter(reserving: TransactionTicket.length)
    writer.write(byte: TransactionTicket.form)
    writer.write(fixed: engine)
    writer.write(fixed: database)
    writer.write(fixed: number)
    writer.write(int: began)
    writer.write(int: readVersion ?? -1)
    return writer.bytes + TransactionTicket.checksum(of: writer.bytes)
  }

  /// - Returns: `nil` for bytes that no engine has given out.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == TransactionTicket.length, bytes[0] == TransactionTicket.form,
      Array(bytes.suffix(4)) == TransactionTicket.checksum(of: Array(bytes.dropLast(4)))
    else { return nil }
    var reader = RowReader(bytes, from: 1)
    guard let engine = try? reader.int(), let database = try? reader.int(), let number = try? reader.int(),
      let began = try? reader.int(), let version = try? reader.int()
    else { return nil }
    self.engine = UInt64(bitPattern: engine)
    self.database = UInt64(bitPattern: database)
    self.number = UInt64(bitPattern: number)
    self.began = began
    readVersion = version < 0 ? nil : version
  }

  private static func checksum(of bytes: [UInt8]) -> [UInt8] {
    var checksum = CRC32C()
    checksum.update(bytes)
    return (0..<4).map { UInt8(truncatingIfNeeded: checksum.value >> (24 - 8 * $0)) }
  }
}
