import VestaBytes
import VestaCore
import VestaRemoteConfigBackend
import VestaServiceInterop
import VestaStoreInterop

/// Reads the rows of one namespace.
///
/// A damaged row is an error that names it and says what to do. Two rows can be done without, and are logged instead:
/// the current version is the newest one that there is a record of, and the record of a version is its number alone.
struct ConfigReader {
  let reader: any StoreReader
  let namespace: String

  /// Reads from one snapshot; a store in another process brings the current version along with the beginning.
  static func read<Value>(
    _ namespace: String, from store: any OrderedStore, _ body: (ConfigReader) async throws -> Value
  ) async throws -> Value {
    try await store.read(expecting: .keys([Keys.current(namespace)])) {
      try await body(ConfigReader(reader: $0, namespace: namespace))
    }
  }

  /// The number of the current version; zero before the first one.
  func currentVersion() async throws -> Int64 {
    let key = Keys.current(namespace)
    guard let bytes = try await reader.get(key) else { return 0 }
    if let record = try? CurrentRecord(fieldBytes: bytes), record.version > 0 { return record.version }
    log.error("I-RCS000003", "The row \(KeyPrinter.text(for: key)) is damaged: the newest version counts as current.")
    return try await newestVersion()
  }

  /// The template of a version with its record; `nil` when there is none, or no longer.
  func template(_ version: Int64) async throws -> ConfigTemplate? {
    let (key, versionKey) = (Keys.template(namespace, version), Keys.version(namespace, version))
    let rows = try await reader.get([key, versionKey])
    guard let bytes = rows[0] else { return nil }
    do {
      var template = try ConfigTemplate(json: TemplateRecord(fieldBytes: bytes).json)
      template.version = rows[1].map { Self.version($0, versionKey, version) }
      return template
    } catch let error where error is BytesError || (error as? RemoteConfigServiceError)?.code == .invalidArgument {
      throw RemoteConfigServiceError(
        .dataLoss,
        """
        The row \(KeyPrinter.text(for: key)) is damaged: \(error). Version \(version) of the template in \(namespace) \
        is lost. Roll back to another version, or publish the template again.
        """)
    }
  }

  func version(_ version: Int64) async throws -> ConfigVersion? {
    let key = Keys.version(namespace, version)
    return try await reader.get(key).map { Self.version($0, key, version) }
  }

  /// The record of a version; of a damaged one, which is logged, its number.
  static func version(_ bytes: [UInt8], _ key: [UInt8], _ number: Int64) -> ConfigVersion {
    do {
      let record = try VersionRecord(fieldBytes: bytes)
      guard record.number == number else { throw BytesError(.malformed, "It has the number \(record.number).") }
      return record.version
    } catch {
      log.error("I-RCS000004", "The row \(KeyPrinter.text(for: key)) is damaged and left out: \(error)")
      return ConfigVersion(versionNumber: number)
    }
  }

  private func newestVersion() async throws -> Int64 {
    let range = Keys.versions(namespace, upTo: .max - 1)
    guard let newest = try await reader.entries(in: range, order: .descending, limit: 1).first else { return 0 }
    return try Keys.version(of: newest.key)
  }
}

private let log = Logger(service: "VestaRemoteConfigService")
