import VestaStorageBackend

/// Content that is ready to become an object.
struct ReadyContent: Sendable {
  let blob: BlobID
  /// The bytes of a small object, which are kept in the store.
  let inline: [UInt8]?
  let size: Int64
  let crc32c: UInt32
  var md5: [UInt8]?
}

/// An object that a call reads: its row, its content where that is kept in the store, and the part that is wanted.
struct FoundObject: Sendable {
  let name: ObjectName
  let record: ObjectRecord
  let inline: [UInt8]?
  let range: ByteRange
}
