internal import Foundation
internal import VestaDataCoding
internal import VestaFirestoreBackend

/// The fields of a map as a decoder reads them: only what the decoded type asks for becomes a value of a program.
///
/// Names are found by their bytes, and else in another normal form, as a dictionary finds them.
final class FieldMap: DecodedMap {
  private let fields: MapValue
  private let behavior: ServerTimestampBehavior
  private let firestore: Firestore
  /// Whether all names are ASCII, and so have one normal form.
  private let isPlain: Bool

  /// - Throws: `DecodingError` for names that differ in their normal form alone.
  init(_ fields: MapValue, with behavior: ServerTimestampBehavior, of firestore: Firestore) throws {
    (self.fields, self.behavior, self.firestore) = (fields, behavior, firestore)
    isPlain = fields.names.allSatisfy(\.isPlain)
    if isPlain { return }
    var names: Set<String> = []
    for name in fields.names where !names.insert(name).inserted {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: [], debugDescription: "There are several fields \(name), in different normal forms."))
    }
  }

  var dictionary: [String: Any] { writer.dictionary(fields) }
  var names: [String] { fields.names }

  func contains(_ name: String) -> Bool { value(name) != nil }

  func member(_ name: String) throws -> DecodedValue? { try value(name).map(decoded) }

  private func value(_ name: String) -> Value? {
    if let value = fields[name] { return value }
    return isPlain && name.isPlain ? nil : fields.first { $0.name == name }?.value
  }

  private func decoded(_ value: Value) throws -> DecodedValue {
    switch value {
    case .boolean(let value): .boolean(value)
    case .integer(let value): .integer(value)
    case .double(let value): .double(value)
    case .string(let value): .string(value)
    case .array(let elements): .array(try elements.map(decoded))
    case .map(let fields):
      switch writer.special(fields) {
      case .shown(let value)?: try decoded(value)
      case .vector(let vector)?: .any(vector)
      case nil: .map(try FieldMap(fields, with: behavior, of: firestore))
      }
    case .null, .timestamp, .bytes, .reference, .geoPoint: .any(writer.any(value))
    }
  }

  private var writer: UserDataWriter {
    UserDataWriter(behavior: behavior, reference: firestore.reference(named:))
  }
}

extension String {
  fileprivate var isPlain: Bool {
    let isPlain = utf8.withContiguousStorageIfAvailable { bytes in bytes.allSatisfy { $0 < 0x80 } }
    return isPlain ?? utf8.allSatisfy { $0 < 0x80 }
  }
}
