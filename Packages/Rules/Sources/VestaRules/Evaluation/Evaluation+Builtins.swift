import VestaBytes

extension Builtin {
  static let all = Array(allCases)
}

extension Evaluation {
  mutating func builtin(_ builtin: Builtin, _ list: Int, _ id: Int) -> Operand {
    if builtin == .debug, !dialect.hasDebug { return noFunction(builtin.rawValue, list, id) }
    let start = stack.count
    let failure = arguments(list)
    defer { drop(to: start) }
    if let failure { return failure }
    let count = stack.count - start
    guard count == builtin.arity else { return fail(.incorrectArguments(builtin.rawValue), id) }
    guard case .value(let first) = stack[start] else { return fail(.unknown, id) }
    if count == 1 { return single(builtin, first, Int(code.program.lists[list][0]), id) }
    var values: [RulesValue] = []
    for operand in stack[start...] {
      guard case .value(let value) = operand else { return fail(.unknown, id) }
      values.append(value)
    }
    return several(builtin, values, id)
  }

  private mutating func noFunction(_ name: String, _ list: Int, _ id: Int) -> Operand {
    let start = stack.count
    let failure = arguments(list)
    drop(to: start)
    return failure ?? fail(.functionNotFound(name), id)
  }

  private mutating func unsupported(_ builtin: Builtin, _ values: [RulesValue], _ id: Int) -> Operand {
    func text(_ types: [String]) -> String { "\(builtin.rawValue)(\(types.joined(separator: ", ")))" }
    return fail(
      .unsupportedOperation(
        received: text(values.map(\.typeName)), expected: builtin.overloads.map { text($0.map(\.rawValue)) }), id)
  }

  // MARK: One argument

  private mutating func single(_ builtin: Builtin, _ value: RulesValue, _ argument: Int, _ id: Int) -> Operand {
    switch builtin {
    case .debug:
      trace?.debugged(value)
      return .value(value)
    case .int, .float, .string, .path: return convert(builtin, value, id)
    case .get: return lookUp(.get, builtin, value, id)
    case .exists: return lookUp(.exists, builtin, value, id)
    case .getAfter: return lookUp(.getAfter, builtin, value, id)
    case .existsAfter: return lookUp(.existsAfter, builtin, value, id)
    case .firestoreGet: return lookUp(.get, builtin, value, id)
    case .firestoreExists: return lookUp(.exists, builtin, value, id)
    case .timestampValue:
      guard case .int(let millis) = value else { return unsupported(builtin, [value], id) }
      let seconds = millis.flooredQuotient(1_000)
      guard seconds.magnitude < TimeBounds.computed else { return fail(.overflow, id) }
      return .value(
        .timestamp(RulesTimestamp(seconds: seconds, nanoseconds: (millis - seconds * 1_000) * 1_000_000)))
    case .durationAbs:
      guard case .duration(let duration) = value else { return unsupported(builtin, [value], id) }
      guard duration.seconds < 0 else { return .value(value) }
      return .value(
        .duration(RulesDuration(seconds: 0 &- duration.seconds, nanoseconds: -Int64(duration.nanoseconds))))
    case .hashingCRC32, .hashingCRC32C, .hashingMD5, .hashingSHA256: return hash(builtin, value, id)
    default: return math(builtin, value, id)
    }
  }

  private mutating func convert(_ builtin: Builtin, _ value: RulesValue, _ id: Int) -> Operand {
    switch (builtin, value) {
    case (.int, .int), (.float, .float), (.string, .string): return .value(value)
    case (.int, .float(let number)): return .value(.int(JavaNumbers.truncated(number)))
    case (.int, .string(let text)):
      return JavaNumbers.integer(text).map { .value(.int($0)) } ?? fail(.conversion, id)
    case (.float, .int(let number)): return .value(.float(Double(number)))
    case (.float, .string(let text)):
      return JavaNumbers.float(text).map { .value(.float($0)) } ?? fail(.conversion, id)
    case (.path, .string(let text)):
      guard budget.work.take(1 + text.utf8.count >> 2) else { return fail(.sizeLimit, id) }
      return .value(.path(RulesPath(text)))
    case (.string, _):
      return Conversions.string(value).map { .value(.string($0)) } ?? unsupported(builtin, [value], id)
    default: return unsupported(builtin, [value], id)
    }
  }

  private mutating func math(_ builtin: Builtin, _ value: RulesValue, _ id: Int) -> Operand {
    let number: Double
    switch value {
    case .int(let int):
      if builtin == .mathAbs { return int == .min ? fail(.overflow, id) : .value(.int(abs(int))) }
      if builtin == .mathRound { return .value(value) }
      number = Double(int)
    case .float(let float): number = float
    default: return unsupported(builtin, [value], id)
    }
    switch builtin {
    case .mathAbs: return .value(.float(abs(number)))
    case .mathCeil: return .value(.float(number.rounded(.up)))
    case .mathFloor: return .value(.float(number.rounded(.down)))
    case .mathRound: return .value(.int(JavaNumbers.truncated((number + 0.5).rounded(.down))))
    case .mathSqrt: return .value(.float(number.squareRoot()))
    case .mathIsNaN: return .value(.bool(number.isNaN))
    default: return fail(.functionNotFound(builtin.rawValue), id)
    }
  }

  private mutating func hash(_ builtin: Builtin, _ value: RulesValue, _ id: Int) -> Operand {
    let bytes: [UInt8]
    switch value {
    case .string(let text): bytes = Array(text.utf8)
    case .bytes(let raw): bytes = raw
    default: return unsupported(builtin, [value], id)
    }
    guard budget.work.take(4 + bytes.count >> 2) else { return fail(.sizeLimit, id) }
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

  // MARK: Lookups

  private mutating func lookUp(
    _ function: RulesLookupFunction, _ builtin: Builtin, _ value: RulesValue, _ id: Int
  ) -> Operand {
    guard case .path(let path) = value else { return unsupported(builtin, [value], id) }
    let answer = budget.lookUp(function, path, in: documents)
    trace?.lookedUp(function, path)
    switch answer {
    case .found(let document): return function.isExistence ? .yes : .value(.map(document))
    // A document that is missing is null: a member of it is an error.
    case .missing: return function.isExistence ? .no : .value(.null)
    case .unavailable: return fail(.serviceCall(function: builtin.rawValue, path: path), id)
    case .noSuchFunction: return fail(.functionNotFound(builtin.rawValue), id)
    case .notYetRead:
      needs.append((function, path))
      return fail(.notYetRead, id)
    }
  }

  // MARK: Several arguments

  private mutating func several(_ builtin: Builtin, _ values: [RulesValue], _ id: Int) -> Operand {
    switch builtin {
    case .mathPow:
      guard let base = values[0].number, let exponent = values[1].number else { break }
      return .value(.float(Conversions.power(base, exponent)))
    case .latlngValue:
      guard let latitude = values[0].number, let longitude = values[1].number else { break }
      guard abs(latitude) <= 90, abs(longitude) <= 180 else {
        return fail(.coordinates(latitude: latitude, longitude: longitude), id)
      }
      return .value(.latlng(RulesLatLng(latitude: latitude, longitude: longitude)))
    case .durationValue:
      guard case .int(let magnitude) = values[0], case .string(let unit) = values[1] else { break }
      guard let duration = RulesDuration(magnitude, unit: unit) else {
        return fail(.invalidArgument("Invalid duration: \(magnitude), \(unit.prefix(20))."), id)
      }
      return .value(.duration(duration))
    case .durationTime:
      guard case .int(let h) = values[0], case .int(let m) = values[1], case .int(let s) = values[2],
        case .int(let n) = values[3]
      else { break }
      guard [h, m, s, n].allSatisfy({ $0.magnitude < TimeBounds.computed }) else { return fail(.overflow, id) }
      return .value(.duration(RulesDuration(seconds: h * 3_600 + m * 60 + s, nanoseconds: n)))
    case .timestampDate:
      guard case .int(let y) = values[0], case .int(let m) = values[1], case .int(let d) = values[2] else { break }
      guard (-9_999...9_999).contains(y), (1...12).contains(m), (1...31).contains(d), daysOfMonth(y, m) >= d else {
        return fail(.invalidArgument("Invalid date: \(y)-\(m)-\(d)."), id)
      }
      let day = RulesTimestamp.dayNumber(year: y, month: m, day: d)
      return .value(.timestamp(RulesTimestamp(seconds: day * 86_400)))
    default: break
    }
    return unsupported(builtin, values, id)
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
