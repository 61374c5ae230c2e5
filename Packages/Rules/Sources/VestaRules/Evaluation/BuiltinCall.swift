import VestaBytes

/// A call of a built-in function, with the values of its arguments.
struct BuiltinCall {
  let builtin: Builtin
  var work: WorkMeter

  /// The failure of a call with arguments of types that the function does not take.
  func unsupported(_ values: [RulesValue]) -> RulesFailure {
    func text(_ types: [String]) -> String { "\(builtin.rawValue)(\(types.joined(separator: ", ")))" }
    return .unsupportedOperation(
      received: text(values.map(\.typeName)), expected: builtin.overloads.map { text($0.map(\.rawValue)) })
  }

  // MARK: One argument

  /// The outcome of a function of one argument.
  mutating func outcome(of value: RulesValue) -> ValueOutcome {
    switch builtin {
    case .int, .float, .string, .path: return convert(value)
    case .timestampValue:
      guard case .int(let millis) = value else { return .failure(unsupported([value])) }
      let seconds = millis.flooredQuotient(1_000)
      guard seconds.magnitude < TimeBounds.computed else { return .failure(.overflow) }
      return .value(
        .timestamp(RulesTimestamp(seconds: seconds, nanoseconds: (millis - seconds * 1_000) * 1_000_000)))
    case .durationAbs:
      guard case .duration(let duration) = value else { return .failure(unsupported([value])) }
      guard duration.seconds < 0 else { return .value(value) }
      return .value(
        .duration(RulesDuration(seconds: 0 &- duration.seconds, nanoseconds: -Int64(duration.nanoseconds))))
    case .hashingCRC32, .hashingCRC32C, .hashingMD5, .hashingSHA256: return hash(value)
    default: return math(value)
    }
  }

  private mutating func convert(_ value: RulesValue) -> ValueOutcome {
    switch (builtin, value) {
    case (.int, .int), (.float, .float), (.string, .string): return .value(value)
    case (.int, .float(let number)): return .value(.int(JavaNumbers.truncated(number)))
    case (.int, .string(let text)):
      return JavaNumbers.integer(text).map { .value(.int($0)) } ?? .failure(.conversion)
    case (.float, .int(let number)): return .value(.float(Double(number)))
    case (.float, .string(let text)):
      return JavaNumbers.float(text).map { .value(.float($0)) } ?? .failure(.conversion)
    case (.path, .string(let text)):
      guard work.take(1 + text.utf8.count >> 2) else { return .failure(.sizeLimit) }
      return .value(.path(RulesPath(text)))
    case (.string, _):
      return Conversions.string(value).map { .value(.string($0)) } ?? .failure(unsupported([value]))
    default: return .failure(unsupported([value]))
    }
  }

  private mutating func math(_ value: RulesValue) -> ValueOutcome {
    let number: Double
    switch value {
    case .int(let int):
      if builtin == .mathAbs { return int == .min ? .failure(.overflow) : .value(.int(abs(int))) }
      if builtin == .mathRound { return .value(value) }
      number = Double(int)
    case .float(let float): number = float
    default: return .failure(unsupported([value]))
    }
    switch builtin {
    case .mathAbs: return .value(.float(abs(number)))
    case .mathCeil: return .value(.float(number.rounded(.up)))
    case .mathFloor: return .value(.float(number.rounded(.down)))
    case .mathRound:
      // The half is not added first: the sum would be rounded itself.
      let floor = number.rounded(.down)
      return .value(.int(JavaNumbers.truncated(number - floor >= 0.5 ? floor + 1 : floor)))
    case .mathSqrt: return .value(.float(number.squareRoot()))
    case .mathIsNaN: return .value(.bool(number.isNaN))
    default: return .failure(.functionNotFound(builtin.rawValue))
    }
  }

  private mutating func hash(_ value: RulesValue) -> ValueOutcome {
    let bytes: [UInt8]
    switch value {
    case .string(let text): bytes = Array(text.utf8)
    case .bytes(let raw): bytes = raw
    default: return .failure(unsupported([value]))
    }
    guard work.take(4 + bytes.count >> 2) else { return .failure(.sizeLimit) }
    switch builtin {
    case .hashingMD5: return .value(.bytes(MD5.digest(bytes)))
    case .hashingSHA256: return .value(.bytes(SHA256.digest(bytes)))
    case .hashingCRC32: return .value(.bytes(littleEndian(CRC32.checksum(bytes))))
    default:
      var checksum = CRC32C()
      checksum.update(bytes)
      return .value(.bytes(littleEndian(checksum.value)))
    }
  }

  private func littleEndian(_ value: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  // MARK: Several arguments

  /// The outcome of a function of several arguments.
  func outcome(of values: [RulesValue]) -> ValueOutcome {
    switch builtin {
    case .mathPow:
      guard let base = values[0].number, let exponent = values[1].number else { break }
      return .value(.float(Conversions.power(base, exponent)))
    case .latlngValue:
      guard let latitude = values[0].number, let longitude = values[1].number else { break }
      guard abs(latitude) <= 90, abs(longitude) <= 180 else {
        return .failure(.coordinates(latitude: latitude, longitude: longitude))
      }
      return .value(.latlng(RulesLatLng(latitude: latitude, longitude: longitude)))
    case .durationValue:
      guard case .int(let magnitude) = values[0], case .string(let unit) = values[1] else { break }
      guard let duration = RulesDuration(magnitude, unit: unit) else {
        return .failure(.invalidArgument("Invalid duration: \(magnitude), \(unit.prefix(20))."))
      }
      return .value(.duration(duration))
    case .durationTime:
      guard case .int(let h) = values[0], case .int(let m) = values[1], case .int(let s) = values[2],
        case .int(let n) = values[3]
      else { break }
      guard [h, m, s, n].allSatisfy({ $0.magnitude < TimeBounds.computed }) else { return .failure(.overflow) }
      return .value(.duration(RulesDuration(seconds: h * 3_600 + m * 60 + s, nanoseconds: n)))
    case .timestampDate:
      guard case .int(let y) = values[0], case .int(let m) = values[1], case .int(let d) = values[2] else { break }
      guard (-9_999...9_999).contains(y), (1...12).contains(m), (1...31).contains(d), daysOfMonth(y, m) >= d else {
        return .failure(.invalidArgument("Invalid date: \(y)-\(m)-\(d)."))
      }
      let day = RulesTimestamp.dayNumber(year: y, month: m, day: d)
      return .value(.timestamp(RulesTimestamp(seconds: day * 86_400)))
    default: break
    }
    return .failure(unsupported(values))
  }

  private func daysOfMonth(_ year: Int64, _ month: Int64) -> Int64 {
    let next = month == 12 ? (year + 1, 1) : (year, month + 1)
    return RulesTimestamp.dayNumber(year: next.0, month: next.1, day: 1)
      - RulesTimestamp.dayNumber(year: year, month: month, day: 1)
  }
}

extension RulesValue {
  fileprivate var number: Double? {
    switch self {
    case .int(let int): Double(int)
    case .float(let float): float
    default: nil
    }
  }
}

extension RulesDuration {
  /// A duration of a number of units; nil for a unit that there is not, or a number that is too large.
  fileprivate init?(_ magnitude: Int64, unit: String) {
    let nanoseconds: [String: Int64] = ["ms": 1_000_000, "ns": 1]
    let seconds: [String: Int64] = ["w": 604_800, "d": 86_400, "h": 3_600, "m": 60, "s": 1]
    if let factor = seconds[unit] {
      let (product, overflow) = magnitude.multipliedReportingOverflow(by: factor)
      guard !overflow, product.magnitude < TimeBounds.computed else { return nil }
      self.init(seconds: product)
    } else if let factor = nanoseconds[unit] {
      let perSecond = 1_000_000_000 / factor
      let whole = magnitude.flooredQuotient(perSecond)
      self.init(seconds: whole, nanoseconds: (magnitude - whole * perSecond) * factor)
    } else {
      return nil
    }
  }
}
