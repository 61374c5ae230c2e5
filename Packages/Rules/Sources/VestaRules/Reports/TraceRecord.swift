/// An expression that was evaluated; records stand in the order in which their evaluation began.
struct TraceRecord<Outcome: Sendable>: Sendable {
  let step: Int32
  var outcome: Outcome
  /// The number of the first record that is not below this one.
  var end: Int32
}

extension Array {
  /// Makes the expressions that are below no other one, by their places among the records.
  ///
  /// - Parameter make: Makes an expression of its step, its outcome and what was evaluated below it, in that order.
  func trees<Outcome, Tree>(_ make: (Int, Outcome, [Tree]) -> Tree) -> [Int: Tree]
  where Element == TraceRecord<Outcome> {
    var built: [(index: Int, tree: Tree)] = []
    // Backwards, so that what is below an expression is there before it, the first part on top.
    for (index, record) in enumerated().reversed() {
      var below: [Tree] = []
      while let last = built.last, last.index < Int(record.end) {
        below.append(last.tree)
        built.removeLast()
      }
      built.append((index, make(Int(record.step), record.outcome, below)))
    }
    return Dictionary(uniqueKeysWithValues: built.map { ($0.index, $0.tree) })
  }

  /// The parts of an expression in the order of writing, the body of a function last.
  ///
  /// - Parameters:
  ///   - children: The steps below the expression.
  ///   - step: The step of a part.
  ///   - skipped: Names a part that was not needed; nil where all parts are always evaluated.
  func ordered(by children: [Int], step: (Element) -> Int, skipped: ((Int) -> Element)?) -> [Element] {
    var rest = self
    var ordered: [Element] = []
    for child in children {
      if let index = rest.firstIndex(where: { step($0) == child }) {
        ordered.append(rest.remove(at: index))
      } else if let skipped {
        ordered.append(skipped(child))
      }
    }
    return ordered + rest
  }
}
