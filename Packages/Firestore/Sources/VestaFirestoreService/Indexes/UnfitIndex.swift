import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel

/// An index for which a document has too long an entry.
struct UnfitIndex: Error, CustomStringConvertible {
  let id: Int64
  let length: Int

  var description: String {
    "a document has an entry of \(length) bytes, and at most \(FirestoreLimits.indexEntryLength) are allowed"
  }

  static func check(_ entries: some Sequence<[UInt8]>, of id: Int64) throws(UnfitIndex) {
    for entry in entries where entry.count > FirestoreLimits.indexEntryLength {
      throw UnfitIndex(id: id, length: entry.count)
    }
  }

  func refusal(of name: String, _ shape: IndexShape) -> FirestoreServiceError {
    .refused(
      "The entry of \(name) in the index \(shape.properties) has \(length) bytes; at most "
        + "\(FirestoreLimits.indexEntryLength) are allowed.")
  }
}
