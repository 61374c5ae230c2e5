import VestaBytes
import VestaRemoteConfigBackend
import VestaServiceInterop
import VestaStoreInterop

/// Reads the rows of one namespace; a damaged row is an error that names it.
struct ConfigReader {
  let reader: any StoreReader
  let namespace: String

  /// The number of the current version; zero before the first one.
  func currentVersion() async throws -> Int64 {
    try await record(CurrentRecord.self, Keys.current(namespace))?.version ?? 0
  }

  /// A template with its version; `nil` when there is none, or none any more.
  func template(_ version: Int64) async throws -> ConfigTemplate? {
    guard let record = try await record(TemplateRecord.self, Keys.template(namespace, version)) else { return nil }
    do {
      var template = try ConfigTemplate(json: record.json)
      template.version = try await self.version(version)
      return template
    } catch let error as RemoteConfigServiceError where error.code == .invalidArgument {
      throw RemoteConfigServiceError(
        .dataLoss, "The stored template \(version) of \(namespace) is damaged: \(error.message)")
    }
  }

  func version(_ version: Int64) async throws -> ConfigVersion? {
    try await record(VersionRecord.self, Keys.version(namespace, version))?.version
  }

  private func record<Record: FieldRecord>(_ type: Record.Type, _ key: [UInt8]) async throws -> Record? {
    guard let bytes = try await reader.get(key) else { return nil }
    return try Self.decode(type, bytes, key)
  }

  static func decode<Record: FieldRecord>(_ type: Record.Type, _ bytes: [UInt8], _ key: [UInt8]) throws -> Record {
    do {
      return try Record(fieldBytes: bytes)
    } catch {
      throw RemoteConfigServiceError(.dataLoss, "The row \(KeyPrinter.text(for: key)) is damaged: \(error)")
    }
  }
}
