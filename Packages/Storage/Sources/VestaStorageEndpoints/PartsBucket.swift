import VestaServiceInterop
import VestaStorageBackend

/// The bucket in which parts of uploads wait for the end, and the names in it.
///
/// No request can name it.
enum PartsBucket {
  static let name = "vesta-upload-parts"

  /// A caller who knows the id of an upload may send its parts.
  ///
  /// The calls send no events to functions.
  static let context = CallContext(caller: .owner, suppressesEvents: true)

  /// The beginning of the names of an upload.
  static func prefix(of id: String) -> String { "\(id)/" }

  static func part(_ number: Int, of id: String) -> ObjectName {
    let digits = "\(number)"
    let text = String(repeating: "0", count: max(0, 5 - digits.count)) + digits
    return ObjectName(bucket: name, name: prefix(of: id) + text)
  }

  /// The object that says what an upload is one of.
  static func note(of id: String) -> ObjectName { part(0, of: id) }

  static func isUploadOver(_ id: String, in backend: any StorageBackend) async -> Bool {
    do {
      return try await backend.uploadStatus(UploadID(rawValue: id), context: context).state == .final
    } catch {
      return (error as? StorageServiceError)?.reason == .uploadGone
    }
  }
}
