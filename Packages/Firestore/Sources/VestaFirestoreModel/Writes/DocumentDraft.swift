package import VestaFirestoreBackend

/// A document while the writes of one commit are applied to it, one after the other.
///
/// The work follows the document once, and the writes: many small transforms of one large array take that array apart
/// once and put it together once, and no write looks at the whole document to find out whether it changes anything. So
/// a request of a few kilobytes costs no more than the documents that it names.
///
/// ```
/// stored: tags = [39,000 texts]      500 writes: tags += "a", tags -= "b", tags += "c" …
/// apply:  tags is taken apart at the first of them; each of them then costs one look into a table
/// finish: tags is put together again, and the document is checked against the limits
/// ```
///
/// `Write.applied(to:commitTime:)` says the same for one write, plainly; but here a write counts as a change also when
/// its parts undo each other, which only a look at the whole document would show.
package struct DocumentDraft: Sendable {
  private let name: String
  private let commitTime: Timestamp
  /// The fields, `nil` where there is no document; of an array that is taken apart there is an empty one.
  private var fields: MapValue?
  private var createTime: Timestamp?
  private var updateTime: Timestamp?
  private var arrays = FieldPathTable<ArrayDraft>()
  /// The fields that server times were put into, as far as they are still there.
  private var serverTimes = FieldPathTable<Void>()
  /// Whether anything has changed.
  package private(set) var isChanged = false
  /// Whether the document is another one than that of a request, which has been checked.
  private var isMade = false

  /// - Parameters:
  ///   - document: The stored document; `nil` for none.
  ///   - name: The full name of the document.
  package init(_ document: Document?, name: String, commitTime: Timestamp) {
    self.name = name
    self.commitTime = commitTime
    fields = document?.fields
    createTime = document?.createTime
    updateTime = document?.updateTime
  }

  /// Applies a write; later ones see it.
  ///
  /// - Throws: The failure of its precondition; `INVALID_ARGUMENT` for field paths that are none.
  package mutating func apply(_ write: Write) throws(FirestoreServiceError) -> WriteResult {
    try write.precondition?.check(head, name: name, isVerification: write.operation.isVerification)
    switch write.operation {
    case .verify: return WriteResult()
    case .delete:
      delete()
      return WriteResult()
    case .update(let update, nil, _): replace(by: update.fields.stored)
    case .update(let update, let mask?, _):
      begin()
      let paths = try FieldMaskRules.written(mask.fieldPaths)
      let values = update.fields.stored
      for path in paths { put(values[path], at: path) }
    case .transform: begin()
    }
    var results: [Value] = []
    for transform in write.transforms { results.append(try apply(transform)) }
    return WriteResult(updateTime: updateTime, transformResults: results)
  }

  /// The document after all writes; `nil` when there is none.
  ///
  /// - Parameter isChecked: Whether the document is checked.
  /// - Throws: `INVALID_ARGUMENT` for a document that breaks a rule: a mask or a transform has made it too large, say.
  package mutating func finish(isChecked: Bool = true) throws(FirestoreServiceError) -> Document? {
    for path in Array(arrays.paths) { settle(path) }
    guard let fields else { return nil }
    let document = Document(name: name, fields: fields, createTime: createTime, updateTime: updateTime)
    if isChecked, isMade, isChanged { try DocumentRules.check(document) }
    return document
  }

  /// Whether the document depends on the commit time, its own times aside.
  package var hasServerTimes: Bool { !serverTimes.paths.isEmpty }

  /// The same document at another commit time.
  package func fields(at commitTime: Timestamp) -> MapValue? {
    guard var fields else { return nil }
    let time = Value.timestamp(FieldTransform.serverTime(of: commitTime))
    for path in serverTimes.paths { fields.set(time, at: path) }
    return fields
  }

  // MARK: Parts of a write

  /// The document for preconditions, which look at its being there and at its time.
  private var head: Document? {
    fields == nil ? nil : Document(name: name, fields: [:], createTime: createTime, updateTime: updateTime)
  }

  private mutating func noteChange() {
    isChanged = true
    updateTime = commitTime
  }

  private mutating func delete() {
    if fields != nil { noteChange() }
    (fields, createTime, updateTime) = (nil, nil, nil)
    arrays.removeAll()
    serverTimes.removeAll()
  }

  /// Makes an empty document where there is none.
  private mutating func begin() {
    isMade = true
    guard fields == nil else { return }
    (fields, createTime) = ([:], commitTime)
    noteChange()
  }

  private mutating func replace(by new: MapValue) {
    if !isChanged { for path in Array(arrays.paths) { settle(path) } }
    let isNew = fields == nil
    if isNew { createTime = commitTime }
    if isNew || !isChanged && fields != new { noteChange() }
    fields = new
    arrays.removeAll()
    serverTimes.removeAll()
  }

  /// Puts what an update has at a path of its mask there; `nil` takes the field away.
  private mutating func put(_ value: Value?, at path: FieldPath) {
    // Taking away what is not there changes nothing, also where something that is no map is on the way.
    if value == nil, fields?[path] == nil { return }
    if !isChanged {
      for path in arrays.paths(touching: path) { settle(path) }
      if fields?[path] != value { noteChange() }
    }
    arrays.removeAll(touching: path)
    serverTimes.removeAll(touching: path)
    if let value { fields?.set(value, at: path) } else { fields?.remove(at: path) }
  }

  private mutating func apply(_ transform: FieldTransform) throws(FirestoreServiceError) -> Value {
    isMade = true
    let path = try FieldPath(parsing: transform.fieldPath)
    switch transform.operation {
    case .appendMissingElements(let elements):
      takeApart(path)
      if arrays[path]?.append(elements.map(\.stored)) == true { noteChange() }
      return .null
    case .removeAllFromArray(let elements):
      takeApart(path)
      if arrays[path]?.remove(elements.map(\.stored)) == true { noteChange() }
      return .null
    case .serverTimestamp, .increment, .maximum, .minimum:
      let old = fields?[path]
      let (value, result) = transform.applied(to: old, requestTime: commitTime)
      if old != value { noteChange() }
      arrays.removeAll(touching: path)
      serverTimes.removeAll(touching: path)
      fields?.set(value, at: path)
      if case .serverTimestamp = transform.operation { serverTimes.insert((), at: path) }
      return result
    }
  }

  // MARK: Arrays

  /// Takes an array apart; another value becomes an empty one.
  private mutating func takeApart(_ path: FieldPath) {
    guard arrays[path] == nil else { return }
    var elements: [Value] = []
    if case .array(let stored)? = fields?[path] { elements = stored } else { noteChange() }
    arrays.removeAll(touching: path)
    serverTimes.removeAll(touching: path)
    fields?.set(.array([]), at: path)
    arrays.insert(ArrayDraft(elements), at: path)
  }

  /// Puts an array together again.
  private mutating func settle(_ path: FieldPath) {
    if let array = arrays.remove(path) { fields?.set(.array(array.elements), at: path) }
  }
}

/// An array whose elements are found by their values.
private struct ArrayDraft: Sendable {
  private var values: [Value?]
  private var positions: [EqualValue: [Int]] = [:]

  init(_ elements: [Value]) {
    values = elements
    positions.reserveCapacity(elements.count)
    for (index, element) in elements.enumerated() { positions[EqualValue(element), default: []].append(index) }
  }

  var elements: [Value] { values.compactMap(\.self) }

  /// Adds the elements that are missing; false when none is.
  mutating func append(_ elements: [Value]) -> Bool {
    var isChange = false
    for element in elements {
      guard positions[EqualValue(element)] == nil else { continue }
      positions[EqualValue(element)] = [values.count]
      values.append(element)
      isChange = true
    }
    return isChange
  }

  /// Removes all that equal one of the elements; false when none does.
  mutating func remove(_ elements: [Value]) -> Bool {
    var isChange = false
    for element in elements {
      for index in positions.removeValue(forKey: EqualValue(element)) ?? [] {
        values[index] = nil
        isChange = true
      }
    }
    return isChange
  }
}

extension Write.Operation {
  fileprivate var isVerification: Bool {
    if case .verify = self { return true }
    return false
  }
}
