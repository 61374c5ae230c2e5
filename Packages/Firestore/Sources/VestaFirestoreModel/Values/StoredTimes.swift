package import VestaFirestoreBackend

/// Times are stored to the microsecond: finer parts are cut off.
extension MapValue {
  /// The map as it is stored.
  package var stored: MapValue {
    guard contains(where: { $0.value.isTooFine }) else { return self }
    return MapValue(map { ($0.name, $0.value.stored) })
  }
}

extension Value {
  /// The value as it is stored.
  var stored: Value {
    switch self {
    case .timestamp(let time): .timestamp(Timestamp(seconds: time.seconds, nanos: time.nanos / 1000 * 1000))
    case .array(let values): .array(values.map(\.stored))
    case .map(let map): .map(map.stored)
    default: self
    }
  }

  fileprivate var isTooFine: Bool {
    switch self {
    case .timestamp(let time): time.nanos % 1000 != 0
    case .array(let values): values.contains(where: \.isTooFine)
    case .map(let map): map.contains { $0.value.isTooFine }
    default: false
    }
  }
}
