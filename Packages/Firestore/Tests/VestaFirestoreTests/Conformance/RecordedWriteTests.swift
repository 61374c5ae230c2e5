import Foundation
import Testing
import VestaBytes
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreSync

@testable import VestaFirestore

/// The cases of the client conformance suite about writes, where the data lies next to the checkout.
///
/// They were made for server SDKs. Without a counterpart here: `create`, preconditions of the caller, and the two rules
/// in `differs(_:)`.
@Suite struct RecordedWriteTests {
  static let folder = URL(
    fileURLWithPath: ProcessInfo.processInfo.environment["VESTA_CONFORMANCE_DIR"] ?? "../../../shared/conformance"
  ).appendingPathComponent("googleapis-firestore-v1")

  static let hasData = FileManager.default.fileExists(atPath: folder.path)

  @Test(.enabled(if: hasData, "the conformance data is not beside the checkout"))
  func `every write is sent as recorded`() throws {
    var checked = 0
    for file in try FileManager.default.contentsOfDirectory(at: Self.folder, includingPropertiesForKeys: nil) {
      let json = try JSONValue(json: Array(Data(contentsOf: file)), limits: JSONLimits(maximumDepth: 64))
      for test in json.object?["tests"]?.array ?? [] {
        for kind in ["set", "update", "updatePaths", "delete"] {
          guard let object = test.object?[kind]?.object, object["precondition"] == nil else { continue }
          try check(file.lastPathComponent, kind, object)
          checked += 1
        }
      }
    }
    #expect(checked > 100)
  }

  private func check(_ name: String, _ kind: String, _ json: JSONObject) throws {
    let isError = json["isError"]?.bool ?? false
    do {
      let write = try mutation(kind, json).write(in: testDatabase.database)
      guard !isError else {
        if !differs(kind, json) { Issue.record("\(name) must be refused") }
        return
      }
      let expected = try recorded(json["request"]?.object?["writes"]?.array ?? [])
      if normal(write) != normal(expected) { Issue.record("\(name): \(normal(write)), recorded \(normal(expected))") }
    } catch {
      if !isError { Issue.record("\(name) is refused: \(error)") }
    }
  }

  /// Cases that a server SDK refuses and a mobile SDK does not: an update or a merge without any field.
  private func differs(_ kind: String, _ json: JSONObject) -> Bool {
    let data = json["jsonData"]?.string
    return data == "{}" || data == nil || json["option"] != nil
  }

  // MARK: The calls

  private func mutation(_ kind: String, _ json: JSONObject) throws -> Mutation {
    let path = (json["docRefPath"]?.string ?? "").split(separator: "/").dropFirst(5).joined(separator: "/")
    let reference = testDatabase.document(path)
    switch kind {
    case "delete": return Mutation(reference.resourcePath, .delete)
    case "set":
      let data = try dictionary(json["jsonData"]?.string)
      return try Mutation.set(reference, UserValue.entries(of: data), as: writeKind(json["option"]?.object))
    case "update":
      var fields: [AnyHashable: Any] = [:]
      for (name, value) in try dictionary(json["jsonData"]?.string) { fields[name] = value }
      return try Mutation.update(reference, fields)
    default:
      var fields: [AnyHashable: Any] = [:]
      let paths = try (json["fieldPaths"]?.array ?? []).map(path(of:))
      for (path, value) in zip(paths, json["jsonValues"]?.array ?? []) {
        guard fields[path] == nil else { throw Refused() }
        fields[path] = Recorded.native(try JSONValue(json: value.string ?? "null"))
      }
      return try Mutation.update(reference, fields)
    }
  }

  private struct Refused: Error {}

  private func writeKind(_ option: JSONObject?) throws -> WriteKind {
    guard let option else { return .set }
    if option["all"]?.bool == true { return .merge }
    return .mergeFields(try (option["fields"]?.array ?? []).map(path(of:)))
  }

  private func path(of json: JSONValue) throws -> FieldPath {
    let names = (json.object?["field"]?.array ?? []).compactMap(\.string)
    // The public initializer stops the program for these, as upstream does.
    guard !names.isEmpty, !names.contains("") else { throw Refused() }
    return FieldPath(names)
  }

  private func dictionary(_ text: String?) throws -> [String: Any] {
    let json = try JSONValue(json: text ?? "{}")
    return Dictionary((json.object?.members ?? []).map { ($0.name, Recorded.native($0.value)) }) { _, new in new }
  }

  // MARK: The requests

  private func recorded(_ writes: [JSONValue]) throws -> Write {
    let object = try #require(writes.first?.object)
    #expect(writes.count == 1)
    let condition: Precondition? = object["currentDocument"]?.object?["exists"]?.bool.map { .exists($0) }
    if let name = object["delete"]?.string { return .delete(rooted(name), precondition: condition) }
    let update = try #require(object["update"])
    var document = try WireJSON.document(update)
    document.name = rooted(document.name)
    let mask = object["updateMask"].map { mask in
      DocumentMask(fieldPaths: (mask.object?["fieldPaths"]?.array ?? []).compactMap(\.string))
    }
    var transforms: [FieldTransform] = []
    for json in object["updateTransforms"]?.array ?? [] { transforms.append(try transform(json.object)) }
    return .update(document, mask: mask, transforms: transforms, precondition: condition)
  }

  /// The same document in the database of the tests.
  private func rooted(_ name: String) -> String {
    testDatabase.database.documentsPrefix + name.split(separator: "/").dropFirst(5).joined(separator: "/")
  }

  private func transform(_ json: JSONObject?) throws -> FieldTransform {
    let path = json?["fieldPath"]?.string ?? ""
    func values(_ name: String) throws -> [Value]? {
      guard let list = json?[name]?.object else { return nil }
      return try (list["values"]?.array ?? []).map { try WireJSON.value($0) }
    }
    if let union = try values("appendMissingElements") {
      return FieldTransform(fieldPath: path, .appendMissingElements(union))
    }
    if let gone = try values("removeAllFromArray") { return FieldTransform(fieldPath: path, .removeAllFromArray(gone)) }
    return FieldTransform(fieldPath: path, .serverTimestamp)
  }

  /// The write with its lists in order, and without the empty maps that mobile SDKs send around transformed fields.
  private func normal(_ write: Write) -> Write {
    guard case .update(var document, let mask, let transforms) = write.operation else { return write }
    for transform in transforms {
      guard var path = try? VestaFirestoreModel.FieldPath(parsing: transform.fieldPath) else { continue }
      while path.names.count > 1 {
        path = VestaFirestoreModel.FieldPath(Array(path.names.dropLast()))
        if document.fields[path] == .map([:]) { document.fields.remove(at: path) }
      }
    }
    if let mask {
      let paths = mask.fieldPaths.compactMap { try? VestaFirestoreModel.FieldPath(parsing: $0) }
      document.fields = document.fields.projected(to: paths)
    }
    let sorted = mask.map { DocumentMask(fieldPaths: $0.fieldPaths.sorted()) }
    return .update(
      document, mask: sorted, transforms: transforms.sorted { $0.fieldPath < $1.fieldPath },
      precondition: write.precondition)
  }
}

/// The values of the client conformance suite, with its sentinels.
enum Recorded {
  static func native(_ json: JSONValue) -> Any {
    switch json {
    case .string("ServerTimestamp"): return FieldValue.serverTimestamp()
    case .string("Delete"): return FieldValue.delete()
    case .string("NaN"): return Double.nan
    case .string(let text): return text
    case .bool(let flag): return flag
    case .integer(let number): return number
    case .array(let list):
      let rest = list.dropFirst().map(native)
      if list.first?.string == "ArrayUnion" { return FieldValue.arrayUnion(rest) }
      if list.first?.string == "ArrayRemove" { return FieldValue.arrayRemove(rest) }
      return list.map(native)
    case .object(let object):
      return Dictionary(object.members.map { ($0.name, native($0.value)) }) { _, new in new }
    default: return json.double.map { $0 as Any } ?? NSNull()
    }
  }
}
