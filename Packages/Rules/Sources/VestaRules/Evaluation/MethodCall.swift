import VestaBytes

/// A call of a method, with the values of its arguments.
///
/// Methods have at most two arguments.
struct MethodCall {
  let method: ValueMethod
  /// The number of arguments that were given.
  let count: Int
  let first: RulesValue?
  let second: RulesValue?
  /// The compiled form of the first argument, where it is a literal.
  let pattern: PatternResult?
  var work: WorkMeter

  mutating func outcome(on receiver: RulesValue) -> ValueOutcome {
    switch (receiver, first) {
    case (.string(let text), _): if let outcome = self.string(text) { return outcome }
    case (.list(let list), _): if let outcome = self.list(list) { return outcome }
    case (.set(let set), _): if let outcome = self.set(set) { return outcome }
    case (.map(let map), _): if let outcome = self.map(map) { return outcome }
    case (.mapDiff(let diff), nil): if let outcome = self.mapDiff(diff) { return outcome }
    case (.bytes(let bytes), nil): if let outcome = self.bytes(bytes) { return outcome }
    case (.timestamp(let timestamp), nil): if let value = timestamp.value(of: method) { return .value(value) }
    case (.duration(let duration), nil):
      if method == .seconds { return .value(.int(duration.wholeSeconds)) }
      if method == .nanos { return .value(.int(duration.restNanoseconds)) }
    case (.latlng(let point), _): if let outcome = latlng(point) { return outcome }
    case (.path(let path), .map(let map)?) where method == .bind && count == 1: return bind(path, map)
    default: break
    }
    return .failure(noSuchMethod(of: receiver))
  }

  /// The failure of a call that no overload takes.
  private func noSuchMethod(of receiver: RulesValue) -> RulesFailure {
    guard let overloads = method.overloads(of: receiver.type) else { return .functionNotFound(method.rawValue) }
    guard overloads.contains(where: { $0.count == count }) else { return .incorrectArguments(method.rawValue) }
    func text(_ types: [String]) -> String {
      "\(receiver.typeName).\(method.rawValue)(\(types.joined(separator: ", ")))"
    }
    return .unsupportedOperation(
      received: text([first, second].compactMap { $0?.typeName }), expected: overloads.map { text($0.map(\.rawValue)) })
  }

  /// A value, or a failure where the work is used up.
  func bounded(_ value: RulesValue) -> ValueOutcome { work.left < 0 ? .failure(.sizeLimit) : .value(value) }

  private mutating func bytes(_ bytes: [UInt8]) -> ValueOutcome? {
    guard work.take(1 + bytes.count >> 4) else { return .failure(.sizeLimit) }
    switch method {
    case .size: return .value(.int(Int64(bytes.count)))
    case .toHexString: return .value(.string(Hex.encode(bytes).uppercased()))
    case .toBase64:
      let text = Base64.url.encode(bytes)
      return .value(.string(text + String(repeating: "=", count: (3 - bytes.count % 3) % 3)))
    default: return nil
    }
  }

  private func latlng(_ point: RulesLatLng) -> ValueOutcome? {
    switch (method, first, count) {
    case (.latitude, nil, 0): .value(.float(point.latitude))
    case (.longitude, nil, 0): .value(.float(point.longitude))
    case (.distance, .latlng(let other)?, 1): .value(.float(Conversions.distance(point, other)))
    default: nil
    }
  }

  /// Puts values in place of the segments `$(name)`, `{name}` of a path.
  private mutating func bind(_ path: RulesPath, _ map: RulesMap) -> ValueOutcome {
    var segments: [String] = []
    for segment in path.segments {
      let isDollar = segment.hasPrefix("$(") && segment.hasSuffix(")")
      guard isDollar || segment.hasPrefix("{") && segment.hasSuffix("}") else {
        segments.append(segment)
        continue
      }
      let name = String(segment.dropFirst(isDollar ? 2 : 1).dropLast())
      guard let value = map[name] else { return .failure(.undefinedProperty(name)) }
      guard let text = Conversions.string(value) else {
        return .failure(.typeMismatch(received: value.typeName, expected: "string"))
      }
      segments += RulesPath(text).segments
    }
    guard work.take(segments.count) else { return .failure(.sizeLimit) }
    return .value(.path(RulesPath(segments)))
  }
}
