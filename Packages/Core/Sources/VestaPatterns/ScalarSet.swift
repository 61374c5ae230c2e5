/// A set of Unicode scalars as ranges in order that do not touch.
struct ScalarSet: Sendable, Hashable {
  private(set) var ranges: [ClosedRange<UInt32>]

  static let maximum: UInt32 = 0x10FFFF

  init(_ ranges: [ClosedRange<UInt32>]) {
    var merged: [ClosedRange<UInt32>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = merged.last, range.lowerBound <= last.upperBound + 1 {
        merged[merged.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
      } else {
        merged.append(range)
      }
    }
    self.ranges = merged
  }

  init(_ scalar: UInt32) { ranges = [scalar...scalar] }

  static let all = ScalarSet([0...maximum])
  static let withoutNewline = ScalarSet([10...10]).inverted
  static let digits = ScalarSet([48...57])
  static let spaces = ScalarSet([9...10, 12...13, 32...32])
  static let words = ScalarSet([48...57, 65...90, 95...95, 97...122])

  func union(_ other: ScalarSet) -> ScalarSet { ScalarSet(ranges + other.ranges) }

  var inverted: ScalarSet {
    var (result, next): ([ClosedRange<UInt32>], UInt32) = ([], 0)
    for range in ranges {
      if range.lowerBound > next { result.append(next...(range.lowerBound - 1)) }
      next = range.upperBound + 1
    }
    if next <= ScalarSet.maximum { result.append(next...ScalarSet.maximum) }
    return ScalarSet(result)
  }

  func contains(_ scalar: UInt32) -> Bool {
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound < scalar { low = middle + 1 } else { high = middle }
    }
    return low < ranges.count && ranges[low].lowerBound <= scalar
  }

  /// The scalars of a general category such as `L` or `Lu`, or of a script such as `Greek`; nil for any other name.
  static func category(_ name: String) -> ScalarSet? {
    if name == "Any" { return all }
    guard let wanted = categories[name] else { return ScriptTable.ranges[name].map { ScalarSet($0) } }
    return ScalarSet(wanted.flatMap { rangesOfCategory[$0] ?? [] })
  }

  /// The ranges of each general category, found by looking at every scalar once.
  private static let rangesOfCategory: [Unicode.GeneralCategory: [ClosedRange<UInt32>]] = {
    var ranges: [Unicode.GeneralCategory: [ClosedRange<UInt32>]] = [:]
    var (start, category): (UInt32, Unicode.GeneralCategory?) = (0, nil)
    for value in 0...(maximum + 1) {
      let next = Unicode.Scalar(value)?.properties.generalCategory
      guard next != category else { continue }
      if let category { ranges[category, default: []].append(start...(value - 1)) }
      (start, category) = (value, next)
    }
    return ranges
  }()

  private static let categories: [String: Set<Unicode.GeneralCategory>] = {
    let single: [String: Unicode.GeneralCategory] = [
      "Lu": .uppercaseLetter, "Ll": .lowercaseLetter, "Lt": .titlecaseLetter, "Lm": .modifierLetter,
      "Lo": .otherLetter, "Mn": .nonspacingMark, "Mc": .spacingMark, "Me": .enclosingMark, "Nd": .decimalNumber,
      "Nl": .letterNumber, "No": .otherNumber, "Pc": .connectorPunctuation, "Pd": .dashPunctuation,
      "Ps": .openPunctuation, "Pe": .closePunctuation, "Pi": .initialPunctuation, "Pf": .finalPunctuation,
      "Po": .otherPunctuation, "Sm": .mathSymbol, "Sc": .currencySymbol, "Sk": .modifierSymbol, "So": .otherSymbol,
      "Zs": .spaceSeparator, "Zl": .lineSeparator, "Zp": .paragraphSeparator, "Cc": .control, "Cf": .format,
      "Co": .privateUse, "Cs": .surrogate,
    ]
    var all: [String: Set<Unicode.GeneralCategory>] = [:]
    for (name, category) in single {
      all[name, default: []].insert(category)
      all[String(name.prefix(1)), default: []].insert(category)
    }
    return all
  }()

  /// The scalars of a class such as `alpha` in `[[:alpha:]]`; nil for a name that there is not.
  static func posix(_ name: String) -> ScalarSet? {
    switch name {
    case "alnum": ScalarSet([48...57, 65...90, 97...122])
    case "alpha": ScalarSet([65...90, 97...122])
    case "ascii": ScalarSet([0...127])
    case "blank": ScalarSet([9...9, 32...32])
    case "cntrl": ScalarSet([0...31, 127...127])
    case "digit": digits
    case "graph": ScalarSet([33...126])
    case "lower": ScalarSet([97...122])
    case "print": ScalarSet([32...126])
    case "punct": ScalarSet([33...47, 58...64, 91...96, 123...126])
    case "space": ScalarSet([9...13, 32...32])
    case "upper": ScalarSet([65...90])
    case "word": words
    case "xdigit": ScalarSet([48...57, 65...70, 97...102])
    default: nil
    }
  }
}
