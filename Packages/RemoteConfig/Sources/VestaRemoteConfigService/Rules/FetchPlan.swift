import VestaBytes
import VestaConcurrency
import VestaRemoteConfigBackend

/// A template in the form in which it is evaluated.
///
/// Worked example: with the conditions `ios` and `early` (in this order) and a parameter with the values `a` under
/// `early`, `b` under `ios` and the default `c`, the plan has the tests [ios, early] and for the parameter the choices
/// [(0, b), (1, a)] and the default c. For an instance on iOS that is not early the outcome of the tests is the bits
/// 10, and the value is b. The values depend on the bits alone, so they are worked out once for every combination that
/// occurs.
final class FetchPlan: Sendable {
  let version: Int64

  private let expressions: [ConditionExpression]
  private let rollouts: [Rollout]
  private let rolloutIndexes: [Rollout: Int]
  private let parameters: [Parameter]
  private let outcomes = Locked<[[UInt64]: Outcome]>([:])

  private let tuning: RemoteConfigServiceTuning

  struct Rollout: Hashable, Sendable {
    var id: String
    var percent: Double
  }

  private struct Parameter: Sendable {
    var key: String
    /// The values by the index of the test, in the order of their priority.
    var choices: [(test: Int, value: ConfigParameterValue)]
    var defaultValue: ConfigParameterValue?
  }

  /// The values for one combination of conditions.
  struct Outcome: Sendable {
    var entries: [String: String]
    var rollouts: [ConfigRollout]
    /// A digest of the combination.
    var digest: String
  }

  /// A plan for a template.
  ///
  /// - Throws: ``RemoteConfigServiceError`` with all violations, for a template that was not checked before.
  init(
    _ template: ConfigTemplate, version: Int64, tuning: RemoteConfigServiceTuning = RemoteConfigServiceTuning()
  ) throws(RemoteConfigServiceError) {
    self.version = version
    self.tuning = tuning
    expressions = try TemplateCheck.conditions(of: template)
    let parameters = template.allParameters
    let values = parameters.values.flatMap { [$0.defaultValue].compactMap { $0 } + $0.conditionalValues.values }
    let rollouts = Set(values.compactMap(Self.rollout)).sorted { ($0.id, $0.percent) < ($1.id, $1.percent) }
    self.rollouts = rollouts
    rolloutIndexes = Dictionary(rollouts.enumerated().map { ($1, $0) }) { first, _ in first }
    let indexes = Dictionary(template.conditions.enumerated().map { ($1.name, $0) }) { first, _ in first }
    self.parameters = parameters.sorted { $0.key < $1.key }.map { key, parameter in
      let choices = parameter.conditionalValues.compactMap { name, value in indexes[name].map { ($0, value) } }
      return Parameter(key: key, choices: choices.sorted { $0.0 < $1.0 }, defaultValue: parameter.defaultValue)
    }
  }

  private static func rollout(_ value: ConfigParameterValue) -> Rollout? {
    guard case .rollout(let id, _, let percent) = value else { return nil }
    return Rollout(id: id, percent: percent)
  }

  /// The values for one instance at one time.
  ///
  /// The tests are done in slices: in between others use the thread, and a deadline ends it.
  ///
  /// - Throws: `CancellationError` when the task is cancelled.
  func outcome(for evaluator: ConditionEvaluator) async throws -> Outcome {
    let bits = try await bits(for: evaluator)
    if let known = outcomes.withLock({ $0[bits] }) { return known }
    let outcome = outcome(for: bits)
    outcomes.withLock { outcomes in
      if outcomes.count >= tuning.keptOutcomes { outcomes.removeAll(keepingCapacity: true) }
      outcomes[bits] = outcome
    }
    return outcome
  }

  /// How many combinations have their values kept, for tests.
  var keptOutcomes: Int { outcomes.withLock { $0.count } }

  // MARK: Tests

  private func bits(for evaluator: ConditionEvaluator) async throws -> [UInt64] {
    var bits = [UInt64](repeating: 0, count: (expressions.count + rollouts.count + 63) / 64)
    var units = tuning.unitsOfASlice
    for (index, expression) in expressions.enumerated() {
      var run = ConditionRun(expression)
      while true {
        if let holds = run.advance(evaluator, &units) {
          if holds { bits[index / 64] |= 1 << UInt64(index % 64) }
          break
        }
        try await pause()
        units = tuning.unitsOfASlice
      }
    }
    try await setRollouts(in: &bits, for: evaluator)
    return bits
  }

  /// Sets the bits of the rollouts that an instance is part of; they follow the bits of the expressions.
  private func setRollouts(in bits: inout [UInt64], for evaluator: ConditionEvaluator) async throws {
    for (index, rollout) in rollouts.enumerated() {
      if index % 256 == 255 { try await pause() }
      guard evaluator.isPart(of: rollout) else { continue }
      let index = expressions.count + index
      bits[index / 64] |= 1 << UInt64(index % 64)
    }
  }

  private func pause() async throws {
    try Task.checkCancellation()
    await Task.yield()
    try Task.checkCancellation()
  }

  private func isSet(_ index: Int, in bits: [UInt64]) -> Bool { bits[index / 64] >> UInt64(index % 64) & 1 == 1 }

  // MARK: Values

  private func outcome(for bits: [UInt64]) -> Outcome {
    var entries: [String: String] = [:]
    var affected: [String: [String]] = [:]
    for parameter in parameters {
      switch choice(for: parameter, bits) {
      case nil, .inAppDefault, .personalization: break
      case .value(let text): entries[parameter.key] = text
      case .rollout(let id, let text, _):
        entries[parameter.key] = text
        affected[id, default: []].append(parameter.key)
      }
    }
    let rollouts = affected.sorted { $0.key < $1.key }.map { id, keys in
      ConfigRollout(rolloutID: id, variantID: "treatment", affectedParameterKeys: keys.sorted())
    }
    return Outcome(entries: entries, rollouts: rollouts, digest: Self.digest(bits))
  }

  /// The value that the first of the tests that hold decides; a rollout that the instance is no part of decides
  /// nothing, and a personalization the default.
  private func choice(for parameter: Parameter, _ bits: [UInt64]) -> ConfigParameterValue? {
    for choice in parameter.choices where isSet(choice.test, in: bits) {
      if applies(choice.value, bits) { return choice.value }
      if case .personalization = choice.value { break }
    }
    return parameter.defaultValue.flatMap { applies($0, bits) ? $0 : nil }
  }

  private func applies(_ value: ConfigParameterValue, _ bits: [UInt64]) -> Bool {
    if case .personalization = value { return false }
    guard let rollout = Self.rollout(value), let index = rolloutIndexes[rollout] else { return true }
    return isSet(expressions.count + index, in: bits)
  }

  private static func digest(_ bits: [UInt64]) -> String {
    let bytes = bits.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
    return Hex.encode(Array(SHA256.digest(bytes).prefix(8)))
  }
}

extension ConditionEvaluator {
  func isPart(of rollout: FetchPlan.Rollout) -> Bool {
    guard let percentile = percentile(seed: rollout.id) else { return false }
    return Double(percentile) < rollout.percent * 1_000_000
  }
}
