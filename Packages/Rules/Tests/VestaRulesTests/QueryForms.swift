import VestaTesting

/// The ways in which random rules speak of fields that may be missing.
enum QueryForms {
  /// A condition on a field that asks whether it is there, or has a value for where it is not.
  static func guarded(_ name: String, _ text: String, _ sign: String, _ random: inout SplitMix) -> String {
    let data = random.oneIn(8) ? "resource.get('data', {})" : "resource.data"
    let fallback = random.pick(["0", "null", "[]", "{}", "''", text, "resource.data.a", "resource.data.b.size()"])
    let own = random.oneIn(3) ? "\(data).get(['\(name)', 'x'], \(fallback))" : "\(data).get('\(name)', \(fallback))"
    let names = random.pick([
      "\(data).keys()", "\(data).keys().toSet()", "\(data).diff({}).addedKeys()", "\(data).diff({}).affectedKeys()",
      "\(own).keys()", "\(data)",
    ])
    let several = random.pick(["['\(name)']", "['\(name)', 'a']", "['z', '\(name)'].toSet()", "['x', 1]", "[]"])
    let list = random.pick(["[\(text)]", "[\(text), 1, 'a']", "[[\(text)]]", "[\(text)].toSet()", "resource.data.a"])
    return random.pick([
      "(\(own) \(sign) \(text))", "(\(text) \(sign) \(own))", "(\(own) in [\(text), 'a'])", "(\(text) in \(own))",
      "(\(own) is map)", "(\(own) is string)", "\(own)", "('\(name)' in \(names))", "('x' in \(names))",
      "\(names).\(random.pick(["hasAll", "hasAny", "hasOnly"]))(\(several))", "(\(names).size() > 0)",
      "resource.data.\(name).\(random.pick(["hasAny", "hasAll"]))(\(list))", "\(own).hasAny(\(list))",
      "('\(name)' in resource.data && resource.data.\(name) \(sign) \(text))", "(resource != null)",
      "(resource == null)", "(resource.data \(random.pick(["==", "!="])) \(random.pick(["null", "{}", text])))",
      "(resource.data.\(name) \(random.pick(["==", "!="])) null)", "(resource != null && \(own) \(sign) \(text))",
      "('data' in resource)", "(resource.\(random.pick(["keys().hasAny(['data'])", "data is map"])))",
    ])
  }

  /// A field as rules name it, by itself or with a value for where it is not there.
  static func named(_ names: [String], _ random: inout SplitMix) -> String {
    switch random.below(4) {
    case 0: "resource.data.get(['\(names.joined(separator: "', '"))'], \(random.pick(["null", "0", "[]", "'a'"])))"
    case 1: "resource.data.get('\(names[0])', {})" + names.dropFirst().map { ".\($0)" }.joined()
    default: "resource.data." + names.joined(separator: ".")
    }
  }
}
