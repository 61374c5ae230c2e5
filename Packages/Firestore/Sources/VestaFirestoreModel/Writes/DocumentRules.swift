package import VestaFirestoreBackend

/// The rules for documents.
package enum DocumentRules {
  /// Checks the size of a document, how many entries it has in indexes, and each of its fields.
  ///
  /// - Returns: The size.
  /// - Throws: `INVALID_ARGUMENT` that names the document or the field.
  @discardableResult
  package static func check(_ document: Document) throws(FirestoreServiceError) -> Int {
    try checkDepth(of: document.fields)
    let size = DocumentSize.size(of: document)
    guard size <= FirestoreLimits.documentSize else {
      throw .invalid(
        "Document '\(document.name)' cannot be written because its size (\(grouped(size)) bytes) exceeds the maximum "
          + "allowed size of \(grouped(FirestoreLimits.documentSize)) bytes."
      )
    }
    try check(document.fields, below: [], depth: 0)
    guard !IndexEntries.exceed(FirestoreLimits.indexEntries, in: document.fields, size: size) else {
      throw .invalid("too many index entries for entity \(document.name)")
    }
    return size
  }

  /// A number with commas, as the service writes it here.
  private static func grouped(_ number: Int) -> String {
    number < 1000 ? "\(number)" : grouped(number / 1000) + "," + "\(number % 1000 + 1000)".dropFirst()
  }

  /// Checks that maps and arrays are not nested too deeply.
  ///
  /// Everything else follows values down to their innermost parts, and may do so once this has been checked.
  ///
  /// - Throws: `INVALID_ARGUMENT` that names the field.
  package static func checkDepth(of fields: MapValue) throws(FirestoreServiceError) {
    for (name, value) in fields where isDeeper(value, than: FirestoreLimits.depth) { throw tooDeep(FieldPath([name])) }
  }

  /// Checks that the maps and arrays of one value are not nested too deeply.
  ///
  /// - Throws: `INVALID_ARGUMENT` that names the field.
  package static func checkDepth(of value: Value, at path: FieldPath) throws(FirestoreServiceError) {
    guard !isDeeper(value, than: FirestoreLimits.depth) else { throw tooDeep(path) }
  }

  private static func isDeeper(_ value: Value, than limit: Int) -> Bool {
    switch value {
    case .array(let elements): limit == 0 || elements.contains { isDeeper($0, than: limit - 1) }
    case .map(let map): limit == 0 || map.contains { isDeeper($0.value, than: limit - 1) }
    default: false
    }
  }

  private static func tooDeep(_ path: FieldPath) -> FirestoreServiceError {
    .invalid(
      "Property \(path.names[0]) contains an invalid nested entity: deeper than \(FirestoreLimits.depth) levels.")
  }

  /// Checks a value of a filter or a cursor.
  ///
  /// - Throws: `INVALID_ARGUMENT` that names the field.
  package static func check(operand value: Value, of path: FieldPath) throws(FirestoreServiceError) {
    try check(value, at: path, depth: 0, isOperand: true)
  }

  private static func check(
    _ map: MapValue, below names: [String], depth: Int, isOperand: Bool = false
  ) throws(FirestoreServiceError) {
    let length = names.reduce(0) { $0 + $1.utf8.count + 1 }
    for (name, value) in map where !isPlain(name, value, length) {
      let path = FieldPath(names + [name])
      try check(name: name, at: path)
      guard length + name.utf8.count <= FirestoreLimits.fieldPathLength else {
        throw .invalid("property path is longer than \(FirestoreLimits.fieldPathLength) bytes.")
      }
      try check(value, at: path, depth: depth + 1, isOperand: isOperand)
    }
  }

  /// Whether a field is within all limits by its name and its own value; most are, and no path has to be made for them.
  private static func isPlain(_ name: String, _ value: Value, _ length: Int) -> Bool {
    let isShort =
      switch value {
      case .null, .boolean, .integer, .double: true
      case .string(let text): text.utf8.count <= FirestoreLimits.valueSize
      case .timestamp(let time): isValid(time)
      case .bytes, .reference, .geoPoint, .array, .map: false
      }
    let size = name.utf8.count
    return isShort && size > 0 && length + size <= FirestoreLimits.fieldPathLength && !PathRules.isReserved(name)
  }

  private static func check(name: String, at path: FieldPath) throws(FirestoreServiceError) {
    if name.isEmpty { throw .invalid("Document fields must not be empty: \(path)") }
    if PathRules.isReserved(name) { throw .invalid("Document fields cannot begin and end with \"__\": \(path)") }
    if name.utf8.count > FirestoreLimits.fieldPathLength {
      throw .invalid("A field name is longer than \(FirestoreLimits.fieldPathLength) bytes.")
    }
  }

  /// - Parameter isOperand: Whether a vector may be in an array, where it matches nothing; no document can have it so.
  private static func check(
    _ value: Value, at path: FieldPath, depth: Int, isOperand: Bool = false
  ) throws(FirestoreServiceError) {
    switch value {
    case .array(let elements):
      try check(depth, at: path)
      for element in elements {
        if case .array = element { throw .invalid("Cannot have an array directly in an array: \(path)") }
        if case .map(let map) = element, map.isVector, !isOperand {
          throw .invalid("Cannot convert a vector value in an array value.")
        }
        try check(element, at: path, depth: depth + 1, isOperand: isOperand)
      }
    case .map(let map):
      try check(depth, at: path)
      switch map[Value.typeKey] {
      case .string(Value.vectorType)?: try checkVector(map, at: path)
      // Values from Datastore keep their old types in maps, which are accepted as they are.
      case .string(let type)? where PathRules.isReserved(type) && type.utf8.starts(with: "__legacy_".utf8): return
      default: try check(map, below: path.names, depth: depth, isOperand: isOperand)
      }
    case .geoPoint(let point): try check(point, at: path)
    case .timestamp(let time):
      guard isValid(time) else { throw .invalid("The timestamp of \(path) is not between the years 1 and 9999.") }
    case .reference(let name): _ = try ResourceName(document: name)
    case .string(let text): try check(text.utf8.count, of: path)
    case .bytes(let bytes): try check(bytes.count, of: path)
    case .null, .boolean, .integer, .double: return
    }
  }

  private static func check(_ point: GeoPoint, at path: FieldPath) throws(FirestoreServiceError) {
    guard abs(point.latitude) <= 90 else { throw .invalid("latitude must be in [-90.0, 90.0]: \(path)") }
    guard abs(point.longitude) <= 180 else { throw .invalid("longitude must be in [-180.0, 180.0]: \(path)") }
  }

  /// Checks the length of a value; the byte that a string counts for besides is not part of it.
  private static func check(_ length: Int, of path: FieldPath) throws(FirestoreServiceError) {
    guard length <= FirestoreLimits.valueSize else {
      throw .invalid("The value of property \"\(path)\" is longer than \(FirestoreLimits.valueSize) bytes.")
    }
  }

  private static func check(_ depth: Int, at path: FieldPath) throws(FirestoreServiceError) {
    guard depth <= FirestoreLimits.depth else { throw tooDeep(path) }
  }

  private static func checkVector(_ map: MapValue, at path: FieldPath) throws(FirestoreServiceError) {
    guard let numbers = NearestVectors.numbers(of: .map(map)) else {
      throw .invalid("\(path) is no vector: it must have an array of numbers, and nothing else.")
    }
    guard (1...FirestoreLimits.vectorDimension).contains(numbers.count) else {
      throw .invalid("The vector of \(path) has \(numbers.count) dimensions; 1 to 2048 are allowed.")
    }
  }

  private static func isValid(_ time: Timestamp) -> Bool {
    (-62_135_596_800...253_402_300_799).contains(time.seconds) && (0...999_999_999).contains(time.nanos)
  }
}
