internal import VestaFirestoreBackend
internal import VestaFirestoreModel

/// Checks an application's data and turns it into what the backend stores.
///
/// Every problem is thrown as `invalidArgument` with the Firebase SDK's message and the path of the field; nothing is
/// written then.
struct UserDataReader: Sendable {
  /// The resource name of the database that the data is for, such as `projects/p/databases/(default)`.
  let database: DatabaseName

  /// The data of `setData` in its three forms.
  func read(_ entries: [UserEntry], as kind: WriteKind) throws -> WriteData {
    var parse = Parse(database: database, kind: kind)
    let fields = try parse.map(entries, at: [])
    switch kind {
    case .set: return WriteData(fields: fields, mask: nil, transforms: parse.transforms)
    case .merge, .update: return WriteData(fields: fields, mask: parse.mask, transforms: parse.transforms)
    case .mergeFields(let paths): return try parse.restricted(fields, to: paths.map(\.model))
    }
  }

  /// The data of `updateData`: fields and their new values.
  func read(update: [(path: FieldPath, value: UserValue)]) throws -> WriteData {
    var parse = Parse(database: database, kind: .update)
    var fields = MapValue()
    for (path, value) in update {
      let model = path.model
      if case .sentinel(let sentinel) = value, sentinel.operation == .delete {
        parse.mask.append(model)
        continue
      }
      let before = parse.mask.count
      guard let parsed = try parse.value(value, at: path.names, inArray: false) else { continue }
      // A value of an update replaces the whole field, whatever is in it.
      parse.mask.removeSubrange(before...)
      parse.mask.append(model)
      fields.set(parsed, at: model)
    }
    return WriteData(fields: fields, mask: parse.mask, transforms: parse.transforms)
  }

  /// A value of a filter, a cursor or an element of an array: no sentinels.
  ///
  /// - Parameter allowsArrays: Whether the value is a list of operands, whose elements may be arrays.
  func read(operand: UserValue, allowsArrays: Bool = false) throws -> Value {
    var parse = Parse(database: database, kind: nil)
    if allowsArrays, case .array(let elements) = operand {
      return .array(try elements.map { try parse.required($0, at: [], inArray: false) })
    }
    return try parse.required(operand, at: [], inArray: false)
  }
}

/// One pass over the data of one call.
private struct Parse {
  let database: DatabaseName
  /// The kind of write; `nil` for operands, where sentinels are refused.
  let kind: WriteKind?
  var mask: [ModelFieldPath] = []
  var transforms: [FieldTransform] = []

  mutating func map(_ entries: [UserEntry], at path: [String]) throws -> MapValue {
    var fields = MapValue()
    for entry in entries {
      let inner = path + [entry.name]
      try check(name: entry.name, at: inner)
      if let value = try value(entry.value, at: inner, inArray: false) { fields[entry.name] = value }
    }
    if entries.isEmpty, !path.isEmpty { mask.append(ModelFieldPath(path)) }
    return fields
  }

  /// The value as it is stored; `nil` for a field that is deleted or computed.
  mutating func value(_ value: UserValue, at path: [String], inArray: Bool) throws -> Value? {
    switch value {
    case .sentinel(let sentinel):
      try transform(sentinel, at: path, inArray: inArray)
      return nil
    case .map(let entries) where !inArray: return .map(try map(entries, at: path))
    default:
      if !inArray { mask.append(ModelFieldPath(path)) }
      return try leaf(value, at: path, inArray: inArray)
    }
  }

  /// The value where one has to be.
  mutating func required(_ value: UserValue, at path: [String], inArray: Bool) throws -> Value {
    if let result = try self.value(value, at: path, inArray: inArray) { return result }
    throw FirestoreErrorCode.invalid("Invalid data.\(ending(path))")
  }

  private mutating func leaf(_ value: UserValue, at path: [String], inArray: Bool) throws -> Value {
    switch value {
    case .value(let value): return value
    case .reference(let reference): return .reference(try name(of: reference, at: path))
    case .array(let elements):
      guard !inArray else { throw FirestoreErrorCode.invalid("Nested arrays are not supported\(ending(path))") }
      return .array(try elements.map { try required($0, at: path, inArray: true) })
    case .map(let entries): return .map(try mapInArray(entries, at: path))
    case .refused(let text, let remedy): throw FirestoreErrorCode.invalid(text + ending(path) + remedy)
    case .sentinel: throw FirestoreErrorCode.invalid("Invalid data.\(ending(path))")
    }
  }

  /// A map that is an element of an array, or in one: its fields have no separate paths.
  private mutating func mapInArray(_ entries: [UserEntry], at path: [String]) throws -> MapValue {
    var fields = MapValue()
    for entry in entries {
      try check(name: entry.name, at: path + [entry.name])
      if case .array(let elements) = entry.value {
        // An array in a map in an array is allowed; only an array directly in an array is not.
        fields[entry.name] = .array(try elements.map { try required($0, at: path, inArray: true) })
      } else {
        fields[entry.name] = try required(entry.value, at: path, inArray: true)
      }
    }
    return fields
  }

  private func check(name: String, at path: [String]) throws {
    guard !name.isEmpty else {
      throw FirestoreErrorCode.invalid("Invalid data. Document fields must not be empty\(ending(path))")
    }
    guard kind != nil, name.hasPrefix("__"), name.hasSuffix("__") else { return }
    throw FirestoreErrorCode.invalid("Invalid data. Document fields cannot begin and end with \"__\"\(ending(path))")
  }

  private func name(of reference: DocumentReference, at path: [String]) throws -> String {
    let other = reference.resource.database
    guard other == database else {
      throw FirestoreErrorCode.invalid(
        "Document Reference is for database \(other.project)/\(other.database) but should be for database "
          + "\(database.project)/\(database.database)\(ending(path))")
    }
    return reference.resource.description
  }

  private func ending(_ path: [String]) -> String {
    path.isEmpty ? "" : " (found in field \(ModelFieldPath(path)))"
  }
}

// MARK: - Sentinels

extension Parse {
  private mutating func transform(_ sentinel: FieldValue, at path: [String], inArray: Bool) throws {
    guard let kind, !path.isEmpty else {
      throw FirestoreErrorCode.invalid(
        "\(sentinel) can only be used with updateData() and setData()\(ending(path))")
    }
    guard !inArray else {
      throw FirestoreErrorCode.invalid("\(sentinel) is not currently supported inside arrays\(ending(path))")
    }
    guard let operation = try operation(of: sentinel, at: path) else { return try delete(at: path, kind: kind) }
    transforms.append(FieldTransform(fieldPath: ModelFieldPath(path).description, operation))
  }

  private mutating func delete(at path: [String], kind: WriteKind) throws {
    switch kind {
    case .merge, .mergeFields: mask.append(ModelFieldPath(path))
    case .update:
      throw FirestoreErrorCode.invalid(
        "FieldValue.delete() can only appear at the top level of your update data\(ending(path))")
    case .set:
      throw FirestoreErrorCode.invalid(
        "FieldValue.delete() can only be used with updateData() and setData() with merge:true\(ending(path))")
    }
  }

  /// The transform of a sentinel; `nil` for a deletion.
  private func operation(of sentinel: FieldValue, at path: [String]) throws -> FieldTransform.Operation? {
    switch sentinel.operation {
    case .delete: nil
    case .serverTimestamp: .serverTimestamp
    case .arrayUnion(let elements): .appendMissingElements(try self.elements(elements, at: path))
    case .arrayRemove(let elements): .removeAllFromArray(try self.elements(elements, at: path))
    case .increment(let operand): .increment(operand)
    case .minimum(let operand): .minimum(operand)
    case .maximum(let operand): .maximum(operand)
    }
  }

  /// The elements of an array operation.
  ///
  /// They are operands: sentinels have no place in them.
  private func elements(_ elements: [UserValue], at path: [String]) throws -> [Value] {
    var parse = Parse(database: database, kind: nil)
    return try elements.map { try parse.required($0, at: [], inArray: true) }
  }
}

// MARK: - Field masks

extension Parse {
  /// The data of `setData(_:mergeFields:)`: the values of the named fields, and the transforms within them.
  fileprivate func restricted(_ fields: MapValue, to paths: [ModelFieldPath]) throws -> WriteData {
    let written = mask + transforms.compactMap { try? ModelFieldPath(parsing: $0.fieldPath) }
    for path in paths
    where !written.contains(where: { $0.hasPrefix(path) || path.hasPrefix($0) && fields[path] != nil }) {
      throw FirestoreErrorCode.invalid(
        "Field '\(path)' is specified in your field mask but missing from your input data.")
    }
    let transforms = self.transforms.filter { transform in
      guard let path = try? ModelFieldPath(parsing: transform.fieldPath) else { return false }
      return paths.contains { path.hasPrefix($0) }
    }
    return WriteData(fields: fields.projected(to: paths), mask: masked(paths), transforms: transforms)
  }

  /// The named fields without the ones that only a transform writes.
  private func masked(_ paths: [ModelFieldPath]) -> [ModelFieldPath] {
    let computed = Set(transforms.map(\.fieldPath))
    return paths.filter { !computed.contains($0.description) }
  }
}
