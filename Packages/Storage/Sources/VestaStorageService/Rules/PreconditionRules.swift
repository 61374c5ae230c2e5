import VestaServiceInterop
import VestaStorageBackend

/// Whether a call may proceed; pure.
enum PreconditionRules {
  /// Checks preconditions.
  ///
  /// - Parameters:
  ///   - preconditions: The conditions of the caller.
  ///   - object: The object as it is; `nil` when there is none.
  /// - Throws: `failedPrecondition` with what does not hold.
  static func check(_ preconditions: Preconditions, _ object: ObjectRecord?) throws(StorageServiceError) {
    let generation = object?.generation ?? 0
    let metageneration = object?.metageneration ?? 0
    try check("generation", generation, is: preconditions.ifGenerationMatch)
    try check("generation", generation, isNot: preconditions.ifGenerationNotMatch)
    try check("metageneration", metageneration, is: preconditions.ifMetagenerationMatch)
    try check("metageneration", metageneration, isNot: preconditions.ifMetagenerationNotMatch)
  }

  private static func check(_ what: String, _ value: Int64, is wanted: Int64?) throws(StorageServiceError) {
    guard let wanted, wanted != value else { return }
    throw failed("The \(what) of the object is \(value), and the call asks for \(wanted).")
  }

  private static func check(_ what: String, _ value: Int64, isNot unwanted: Int64?) throws(StorageServiceError) {
    guard let unwanted, unwanted == value else { return }
    throw failed("The \(what) of the object is \(value), and the call asks for another one.")
  }

  private static func failed(_ message: String) -> StorageServiceError {
    StorageServiceError(.failedPrecondition, message, reason: .precondition)
  }
}
