import Foundation
import VestaFirestore
import VestaTesting

/// One write of a document, as the documentation describes it.
struct OracleWrite: Sendable, CustomStringConvertible {
  enum Field: Sendable, Hashable {
    case value(OracleValue)
    case increment(OracleValue)
    case union([OracleValue])
    case remove([OracleValue])
    case serverTime
    case delete
  }

  enum Kind: Sendable, Hashable {
    case set, merge, update, delete
  }

  var path: String
  var kind: Kind
  var fields: [String: Field] = [:]

  var description: String { "\(kind) \(path) \(fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" })" }

  /// A write that says with `seq` which one it is.
  static func random(_ random: inout SplitMix, path: String, number: Int64) -> OracleWrite {
    let kind = random.pick([Kind.set, .set, .merge, .update, .update, .update, .delete])
    var write = OracleWrite(path: path, kind: kind)
    if kind == .delete { return write }
    write.fields["seq"] = .value(.integer(number))
    for field in ["a", "b"] where random.oneIn(2) { write.fields[field] = .value(.random(&random)) }
    if random.oneIn(3) { write.fields["n"] = .increment(random.pick([.integer(1), .integer(.max), .double(0.5)])) }
    if random.oneIn(3) {
      let elements = OracleValue.elements(&random)
      write.fields["list"] =
        random.oneIn(3) ? .value(.array(elements)) : random.oneIn(2) ? .union(elements) : .remove(elements)
    }
    if random.oneIn(6) { write.fields["t"] = .serverTime }
    if kind == .set {
      if random.oneIn(2) { write.fields["m"] = .value(.map(["x": .scalar(&random)])) }
    } else if random.oneIn(3) {
      write.fields[kind == .update ? "m.x" : "m"] =
        kind == .update ? .value(.scalar(&random)) : .value(.map(["x": .scalar(&random)]))
    } else if random.oneIn(4) {
      write.fields["b"] = .delete
    }
    return write
  }

  // MARK: The product's call

  var data: [String: Any] {
    fields.mapValues { field in
      switch field {
      case .value(let value): value.any
      case .increment(.integer(let value)): FieldValue.increment(value)
      case .increment(.double(let value)): FieldValue.increment(value)
      case .increment: NSNull()
      case .union(let values): FieldValue.arrayUnion(values.map(\.any))
      case .remove(let values): FieldValue.arrayRemove(values.map(\.any))
      case .serverTime: FieldValue.serverTimestamp()
      case .delete: FieldValue.delete()
      }
    }
  }

  /// Begins the write, and does not wait for it.
  func perform(_ db: Firestore) {
    let document = db.document(path)
    switch kind {
    case .set: document.setData(data)
    case .merge: document.setData(data, merge: true)
    case .update: document.updateData(data)
    case .delete: document.delete()
    }
  }

  func add(to batch: WriteBatch, _ db: Firestore) {
    let document = db.document(path)
    switch kind {
    case .set: batch.setData(data, forDocument: document)
    case .merge: batch.setData(data, forDocument: document, merge: true)
    case .update: batch.updateData(data, forDocument: document)
    case .delete: batch.deleteDocument(document)
    }
  }

  // MARK: The effect

  /// The document after the write; an update of a document that is not there is refused.
  ///
  /// The value of a server timestamp is left out.
  func apply(to document: OracleFields?) -> OracleFields? {
    switch kind {
    case .delete: return nil
    case .update where document == nil: return nil
    case .set, .merge, .update: break
    }
    var result = kind == .set ? [:] : document ?? [:]
    for (name, field) in fields {
      Self.put(field, at: name.split(separator: ".").map(String.init), in: &result, isMerge: kind == .merge)
    }
    return result
  }

  private static func put(_ field: Field, at path: [String], in fields: inout OracleFields, isMerge: Bool) {
    let name = path[0]
    if path.count > 1 {
      var inner: OracleFields = if case .map(let map)? = fields[name] { map } else { [:] }
      put(field, at: Array(path.dropFirst()), in: &inner, isMerge: isMerge)
      fields[name] = .map(inner)
      return
    }
    let old = fields[name]
    switch field {
    case .value(.map(let map)) where isMerge && !map.isEmpty:
      var inner: OracleFields = if case .map(let map)? = old { map } else { [:] }
      for (key, value) in map { put(.value(value), at: [key], in: &inner, isMerge: true) }
      fields[name] = .map(inner)
    case .value(let value): fields[name] = value
    case .delete: fields[name] = nil
    case .serverTime: fields[name] = nil
    case .increment(let operand): fields[name] = sum(old, operand)
    case .union(let values):
      var list: [OracleValue] = if case .array(let list)? = old { list } else { [] }
      for value in values where !list.contains(where: { OracleValue.isSame($0, value) }) { list.append(value) }
      fields[name] = .array(list)
    case .remove(let values):
      let list: [OracleValue] = if case .array(let list)? = old { list } else { [] }
      fields[name] = .array(list.filter { element in !values.contains { OracleValue.isSame($0, element) } })
    }
  }

  private static func sum(_ old: OracleValue?, _ operand: OracleValue) -> OracleValue {
    switch (old, operand) {
    case (.integer(let old)?, .integer(let operand)):
      let (sum, isOver) = old.addingReportingOverflow(operand)
      return .integer(isOver ? (operand > 0 ? .max : .min) : sum)
    case (.integer(let old)?, .double(let operand)): return .double(Double(old) + operand)
    case (.double(let old)?, .integer(let operand)): return .double(old + Double(operand))
    case (.double(let old)?, .double(let operand)): return .double(old + operand)
    default: return operand
    }
  }
}
