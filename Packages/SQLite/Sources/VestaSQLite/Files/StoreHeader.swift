import CVestaStoreFiles

/// The first bytes of a database file, read before SQLite opens it.
enum StoreHeader: Equatable {
  /// There is nothing in the file.
  case empty
  /// There are only zeros: a file that was being made when the power failed, or a lost one.
  case zeros
  /// The file is a store, or one whose making was interrupted.
  case store
  /// A later version of Vesta wrote it.
  case newer
  /// Something else.
  case foreign

  /// "VSTA", which SQLite keeps for us in the header.
  static let applicationID: UInt32 = 0x5653_5441

  /// The version of the tables that this code reads and writes.
  static let schemaVersion: UInt32 = 3

  static let length = 100

  /// Judges the first `length` bytes of a file; pure.
  init(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else {
      self = .empty
      return
    }
    guard !bytes.allSatisfy({ $0 == 0 }) else {
      self = .zeros
      return
    }
    guard bytes.count == Self.length, bytes.starts(with: "SQLite format 3\0".utf8) else {
      self = .foreign
      return
    }
    let number = { (at: Int) in bytes[at..<at + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } }
    let isOurs = number(68) == Self.applicationID
    guard !isOurs || number(60) <= Self.schemaVersion else {
      self = .newer
      return
    }
    let hasOurPages = Int(bytes[16]) << 8 | Int(bytes[17]) == Int(STORE_PAGE_SIZE) && bytes[20] == STORE_RESERVED_BYTES
    self = hasOurPages && (isOurs || number(68) == 0) ? .store : .foreign
  }
}
