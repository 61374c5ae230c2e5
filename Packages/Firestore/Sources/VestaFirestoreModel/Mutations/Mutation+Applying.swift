package import VestaFirestoreBackend

extension Mutation {
  /// Applies the mutation before the service has answered.
  ///
  /// Server times become pending timestamps that keep the value from before. The other transforms of a set are applied
  /// to its own fields, as the service does: the earlier fields are removed. Where the precondition does not hold, the
  /// document stays.
  ///
  /// - Parameters:
  ///   - document: Becomes what listeners see.
  ///   - mutated: The fields that earlier mutations have changed.
  ///   - time: When the user wrote it.
  /// - Returns: The fields that have been changed now.
  package func applyLocally(
    to document: inout CachedDocument, mutated: MutatedFields, at time: Timestamp
  ) -> MutatedFields {
    guard isAllowed(on: document) else { return mutated }
    switch change {
    case .set(let fields):
      document.mutateLocally(to: .found(fields.replacing(estimates(on: fields, before: document, at: time))))
      return .all
    case .patch(let fields, let mask):
      let patched = (document.fields ?? [:]).patched(by: fields, mask)
      document.mutateLocally(to: .found(patched.replacing(estimates(on: patched, before: document, at: time))))
      return mutated.adding(mask.paths + transforms.map(\.path))
    case .delete:
      document.mutateLocally(to: .missing)
      return .all
    case .verify: return mutated
    }
  }

  /// Applies the mutation with the service's answer.
  ///
  /// A patch whose precondition does not hold for the cached document leaves it unknown: the service has a document
  /// that the cache has not seen.
  ///
  /// - Parameters:
  ///   - document: The document without any local mutation; becomes what the service has now, as far as can be known.
  ///   - version: The version that the service reported.
  ///   - results: The service's result of each transform.
  package func applyAcknowledged(to document: inout CachedDocument, version: Timestamp, results: [Value]) {
    switch change {
    case .set(let fields):
      document.commit(.found(fields.replacing(outcomes(on: fields, results))), at: version)
    case .patch(let fields, let mask):
      guard isAllowed(on: document) else { return document.commit(.unknown, at: version) }
      let patched = (document.fields ?? [:]).patched(by: fields, mask)
      document.commit(.found(patched.replacing(outcomes(on: patched, results))), at: version)
    case .delete: document.commit(.missing, at: version)
    case .verify: return
    }
  }

  /// A patch that puts back what numbers were when the user incremented them; `nil` without increments.
  ///
  /// It is applied before the mutation, so that an update of the service that has the increment in it already is not
  /// incremented once more.
  package func base(on document: CachedDocument) -> Mutation? {
    // A set begins without fields.
    if case .set = change { return nil }
    var fields = MapValue()
    var paths: [FieldPath] = []
    for transform in transforms {
      guard case .increment = transform.operation else { continue }
      fields.set(document.fields?[transform.path].flatMap(\.numberOrNil) ?? .integer(0), at: transform.path)
      paths.append(transform.path)
    }
    if paths.isEmpty { return nil }
    return Mutation(path, .patch(fields, mask: FieldMask(paths)), precondition: .exists(true))
  }

  /// The values of the transforms before the service has answered.
  ///
  /// - Parameters:
  ///   - fields: The fields that the transforms are applied to.
  ///   - document: The document before the mutation.
  ///   - time: When the user wrote it.
  private func estimates(
    on fields: MapValue, before document: CachedDocument, at time: Timestamp
  ) -> [(FieldPath, Value)] {
    transforms.map { transform in
      let isTime = if case .serverTimestamp = transform.operation { true } else { false }
      let value = isTime ? document.fields?[transform.path] : fields[transform.path]
      return (transform.path, transform.operation.estimate(on: value, at: time))
    }
  }

  /// The values of the transforms with the service's results.
  private func outcomes(on fields: MapValue, _ results: [Value]) -> [(FieldPath, Value)] {
    zip(transforms, results).map { transform, result in
      (transform.path, transform.operation.outcome(on: fields[transform.path], result: result))
    }
  }
}

extension FieldTransform.Operation {
  /// The value of a field before the service has answered.
  ///
  /// - Parameters:
  ///   - value: The value of the field before; `nil` for none.
  ///   - time: When the user wrote it.
  package func estimate(on value: Value?, at time: Timestamp) -> Value {
    switch self {
    case .serverTimestamp: .pendingServerTimestamp(writeTime: time, previous: value)
    case .increment(let operand): NumberTransforms.sum(value?.numberOrNil ?? .integer(0), operand)
    default: FieldTransform(fieldPath: "", self).applied(to: value, requestTime: time).value
    }
  }

  /// The value of a field with the service's result; arrays, for which the service reports nothing, are computed.
  func outcome(on value: Value?, result: Value) -> Value {
    switch self {
    case .appendMissingElements, .removeAllFromArray:
      FieldTransform(fieldPath: "", self).applied(to: value, requestTime: .zero).value
    default: result
    }
  }
}

extension Value {
  /// The value if it is a number.
  fileprivate var numberOrNil: Value? { ValueClass(of: self) == .number ? self : nil }
}

extension MapValue {
  /// The fields with the paths of a mask set to what another map has there, or removed where it has nothing.
  package func patched(by fields: MapValue, _ mask: FieldMask) -> MapValue {
    var result = self
    for path in mask.paths {
      if let value = fields[path] { result.set(value, at: path) } else { result.remove(at: path) }
    }
    return result
  }

  fileprivate func replacing(_ values: [(FieldPath, Value)]) -> MapValue {
    var result = self
    for (path, value) in values { result.set(value, at: path) }
    return result
  }
}
