import VestaBytes
import VestaCore
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaStoreInterop

/// The writes of commits as rows that engines on the same store read to notify their own listens.
///
/// An engine that is alone writes none.
enum CommitLog {
  struct Commit: Sendable {
    let version: StoreVersion
    let writes: [[DatabasePathValue]]
  }

  static func append(
    _ writes: [[DatabasePathValue]], in transaction: any StoreTransaction, _ context: RoomContext
  ) async throws {
    guard context.isShared, !writes.isEmpty else { return }
    let version = try await transaction.commitVersion()
    let bytes = encode(writes)
    // A group of writes can be larger than a value of the store.
    for (part, start) in stride(from: 0, to: bytes.count, by: context.logPartBytes).enumerated() {
      let value = Array(bytes[start..<min(start + context.logPartBytes, bytes.count)])
      try await transaction.put(value, for: context.keys.log(version, part))
    }
  }

  /// The commits after a version; `nil` when a row of them is damaged.
  static func readable(
    after version: StoreVersion, _ reader: any StoreReader, _ keys: Keys
  ) async throws -> [Commit]? {
    do {
      return try await commits(after: version, reader, keys)
    } catch let error as BytesError {
      log.error("I-RDS000010", "The log of commits is damaged: \(error)")
      return nil
    }
  }

  private static func commits(
    after version: StoreVersion, _ reader: any StoreReader, _ keys: Keys
  ) async throws -> [Commit] {
    var parts: [(version: StoreVersion, bytes: [UInt8])] = []
    for row in try await reader.entries(in: keys.log(after: version)) {
      let version = try keys.version(ofLog: row.key)
      if parts.last?.version == version {
        parts[parts.count - 1].bytes += row.value
      } else {
        parts.append((version, row.value))
      }
    }
    return try parts.map { Commit(version: $0.version, writes: try decode($0.bytes)) }
  }

  private static func encode(_ writes: [[DatabasePathValue]]) -> [UInt8] {
    var writer = ByteWriter()
    writer.write(count: writes.count)
    for values in writes {
      writer.write(count: values.count)
      for value in values { writer.write(blob: EndOperations.encode(value)) }
    }
    return writer.bytes
  }

  private static func decode(_ bytes: [UInt8]) throws -> [[DatabasePathValue]] {
    var reader = ByteReader(bytes)
    var writes: [[DatabasePathValue]] = []
    for _ in 0..<(try reader.count()) {
      var values: [DatabasePathValue] = []
      for _ in 0..<(try reader.count()) { values.append(try EndOperations.decode(Array(try reader.blob()))) }
      writes.append(values)
    }
    return writes
  }
}

private let log = Logger(service: "VestaDatabaseService")
