import VestaBytes
import VestaServiceInterop
import VestaStorageBackend
import VestaStoreInterop

/// Records by name, instead of bytes.
extension StoreReader {
  func object(_ name: ObjectName) async throws -> ObjectRecord? {
    try await get(Keys.object(name)).map { try ObjectRecord.row($0, of: "object \(name)") }
  }

  func upload(_ id: UploadID) async throws -> UploadRecord? {
    try await get(Keys.upload(id)).map { try UploadRecord.row($0, of: "\(id)") }
  }
}

extension FieldRecord {
  /// Reads a row; the error of a damaged one says which it is.
  static func row(_ bytes: [UInt8], of name: String) throws -> Self {
    do {
      return try Self(fieldBytes: bytes)
    } catch {
      throw StorageServiceError(.dataLoss, "The row of \(name) is damaged: \(error)")
    }
  }
}
