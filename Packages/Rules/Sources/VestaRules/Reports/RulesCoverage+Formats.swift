extension RulesCoverage {
  /// The report in the form of the emulator's `ruleCoverage`.
  public func json(fileName: String = "firestore.rules") -> String { report.json(fileName: fileName) }

  /// The report in the form of LCOV: how often each line was evaluated, and how often each condition was true or not.
  public func lcov(fileName: String = "firestore.rules") -> String { report.lcov(fileName: fileName) }

  /// The report as a page: the source, each line coloured by whether it was evaluated, with the outcomes of its
  /// conditions.
  public func html(title: String = "Rules coverage") -> String { report.html(title: title) }

  private var report: CoverageReport { CoverageReport(content: ruleset.source.bytes, entries: roots.map(entry)) }

  private func entry(_ node: NodeID) -> CoverageReport.Entry {
    CoverageReport.Entry(
      number: node, position: ruleset.source.position(ruleset.program.spans[node].extent), outcomes: outcomes(of: node),
      children: children(of: node).map(entry))
  }
}
