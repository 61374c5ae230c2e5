extension RulesMap {
  /// The outcome of `keys()` and `hasAll`, `hasAny` or `hasOnly` on it, without a list of the names.
  ///
  /// - Returns: `nil` for maps with many members, and for an argument that is neither a list nor a set.
  func names(_ method: ValueMethod, _ other: RulesValue, _ work: inout WorkMeter) -> ValueOutcome? {
    let elements: [RulesValue]
    switch other {
    case .list(let list): elements = list
    case .set(let set): elements = set.elements
    default: return nil
    }
    guard count <= UInt64.bitWidth else { return nil }
    let members = members
    guard work.take(members.count) else { return .failure(.sizeLimit) }
    // A bit for each member.
    var found: UInt64 = 0
    for element in elements {
      guard work.take(ValueKey.cost(element, upTo: work.left)) else { return .failure(.sizeLimit) }
      if case .string(let name) = element, let index = RulesMap.index(of: name, in: members) {
        if method == .hasAny { return .yes }
        found |= 1 << UInt64(index)
      } else if method == .hasAll {
        return .no
      }
    }
    return .value(.bool(method == .hasAll || method == .hasOnly && found.nonzeroBitCount == members.count))
  }
}
