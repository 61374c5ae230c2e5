import VestaFirestoreModel

/// The token to resume from: the version up to which everything has been sent.
///
/// One token serves all targets of a call, as a global snapshot has one for all of them; what a target has missed
/// since then is worked out from the log. So it outlives the process.
enum ResumeToken {
  private static let mark: UInt8 = 1

  static func encode(_ version: Int64) -> [UInt8] {
    var writer = RowWriter(reserving: 9)
    writer.write(byte: mark)
    writer.write(int: version)
    return writer.bytes
  }

  /// `nil` for bytes that are no token.
  static func decode(_ token: [UInt8]) -> Int64? {
    guard token.count == 9, token[0] == mark else { return nil }
    var reader = RowReader(token, from: 1)
    return try? reader.int()
  }
}
