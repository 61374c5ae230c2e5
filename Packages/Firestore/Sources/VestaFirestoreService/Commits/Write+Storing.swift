import FirestoreInterop

/// Times are stored to the microsecond.
extension Write {
  var storable: Write {
    var write = self
    if case .update(var document, let mask, let transforms) = operation {
      document.fields = document.fields.storable
      write.operation = .update(document, mask: mask, transforms: transforms)
    }
    return write
  }
}

extension MapValue {
  var storable: MapValue {
    guard contains(where: { $0.value.needsCut }) else { return self }
    return MapValue(map { ($0.name, $0.value.storable) })
  }
}

extension Value {
  fileprivate var needsCut: Bool {
    switch self {
    case .timestamp(let time): time.nanos % 1000 != 0
    case .array(let values): values.contains(where: \.needsCut)
    case .map(let map): map.contains { $0.value.needsCut }
    default: false
    }
  }

  fileprivate var storable: Value {
    switch self {
    case .timestamp(let time): .timestamp(Timestamp(seconds: time.seconds, nanos: time.nanos / 1000 * 1000))
    case .array(let values): .array(values.map(\.storable))
    case .map(let map): .map(map.storable)
    default: self
    }
  }
}
