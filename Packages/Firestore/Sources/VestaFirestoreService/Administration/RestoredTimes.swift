import VestaFirestoreModel

/// The times of creation that documents of an import have had, in microseconds since 1970.
///
/// Their times of update are the times of the import: a row says by it when it was written, and listeners are shown no
/// document that is older than what they have seen.
struct RestoredTimes: Sendable {
  var creations: [ResourcePath: Int64]
}
