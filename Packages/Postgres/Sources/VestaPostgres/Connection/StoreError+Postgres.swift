import VestaStoreInterop

extension StoreError {
  /// A failure of the server or the connection as a store reports it.
  init(_ failure: any Error, operation: String) {
    switch failure {
    case let error as StoreError: self = error
    case PostgresFailure.closed: self = .closed(operation)
    case PostgresFailure.lost(let message), PostgresFailure.unsent(let message):
      self.init(
        .inputOutput, operation: operation, message: "The server cannot be reached: \(message)",
        hint: "Check the connection string, and whether the server runs.")
    case PostgresFailure.malformed(let message):
      self.init(
        .inputOutput, operation: operation, message: "The connection string cannot be read: \(message)",
        hint: "Write it as postgresql://user@host/database, or as keywords and values.")
    case PostgresFailure.refused(let state, let message):
      self.init(
        StoreError.code(ofState: state), operation: operation, message: "\(message) (SQLSTATE \(state))",
        hint: StoreError.hint(forState: state))
    default: self.init(.inputOutput, operation: operation, message: "\(failure)")
    }
  }

  private static func code(ofState state: String) -> Code {
    switch state {
    case "40001", "40P01", "55P03": .conflict
    case "53100", "53200", "54000": .diskFull
    case "25006", "42501": .readOnly
    case "XX001", "XX002": .corrupt
    default: .inputOutput
    }
  }

  private static func hint(forState state: String) -> String? {
    switch state {
    case "25006": "The server takes no writes: connect to the primary one."
    case "42501": "Give the role the right to create schemas, or to use the one of this store."
    case "57014": "Raise statement_timeout for this role, or ask for less at a time."
    case "53300": "Raise max_connections, or lower the limit of connections of each process."
    case "28P01", "28000": "Check the user and the password in the connection string."
    case "3D000": "Create the database first."
    default: nil
    }
  }

  static func closed(_ operation: String) -> StoreError {
    StoreError(.closed, operation: operation, message: "The store has been closed.", hint: "Open it again first.")
  }

  static let unknownOutcome = StoreError(
    .unknownOutcome, operation: "commit",
    message: "The connection broke during the commit, and the server has not come back since.",
    hint: "Read what was written before it is written again.")

  static func tooSlow(_ limit: Duration) -> StoreError {
    StoreError(
      .conflict, operation: "write",
      message:
        "The transaction reads what others keep changing, and takes longer than \(limit) while they wait for it.",
      hint: "Work things out before the transaction, or spread what many change over several keys.")
  }

  static func ended(_ operation: String) -> StoreError {
    StoreError(
      .ended, operation: operation, message: "The reader or transaction was used after its body had returned.",
      hint: "Use it inside the body only, and await all that the body starts.")
  }
}
