import VestaConcurrency

/// A parameter whose active value is set by a rollout.
///
/// Two assignments with the same contents are equal.
public final class RolloutAssignment: Hashable, Sendable {
  private struct Contents: Hashable {
    var rolloutId: String
    var variantId: String
    var templateVersion: Int64
    var parameterKey: String
    var parameterValue: String
  }

  private let contents: Locked<Contents>

  /// The id of the rollout.
  public var rolloutId: String {
    get { contents.withLock { $0.rolloutId } }
    set { contents.withLock { $0.rolloutId = newValue } }
  }

  /// The variant that this instance has.
  public var variantId: String {
    get { contents.withLock { $0.variantId } }
    set { contents.withLock { $0.variantId = newValue } }
  }

  /// The version of the template that set the value.
  public var templateVersion: Int64 {
    get { contents.withLock { $0.templateVersion } }
    set { contents.withLock { $0.templateVersion = newValue } }
  }

  /// The key of the parameter.
  public var parameterKey: String {
    get { contents.withLock { $0.parameterKey } }
    set { contents.withLock { $0.parameterKey = newValue } }
  }

  /// The value of the parameter.
  public var parameterValue: String {
    get { contents.withLock { $0.parameterValue } }
    set { contents.withLock { $0.parameterValue = newValue } }
  }

  /// An assignment.
  ///
  /// - Parameters:
  ///   - rolloutId: The id of the rollout.
  ///   - variantId: The variant that this instance has.
  ///   - templateVersion: The version of the template that set the value.
  ///   - parameterKey: The key of the parameter.
  ///   - parameterValue: The value of the parameter.
  public init(
    rolloutId: String, variantId: String, templateVersion: Int64, parameterKey: String, parameterValue: String
  ) {
    contents = Locked(
      Contents(
        rolloutId: rolloutId, variantId: variantId, templateVersion: templateVersion, parameterKey: parameterKey,
        parameterValue: parameterValue))
  }

  /// Whether two assignments have the same contents.
  public static func == (left: RolloutAssignment, right: RolloutAssignment) -> Bool {
    left.contents.withLock { $0 } == right.contents.withLock { $0 }
  }

  /// Equal for equal assignments.
  public func hash(into hasher: inout Hasher) { hasher.combine(contents.withLock { $0 }) }
}

/// The rollouts that the active values are set by.
public final class RolloutsState: Hashable, Sendable {
  private let locked: Locked<Set<RolloutAssignment>>

  /// An assignment for each parameter whose value is set by a rollout.
  public var assignments: Set<RolloutAssignment> {
    get { locked.withLock { $0 } }
    set { locked.withLock { $0 = newValue } }
  }

  /// A state.
  ///
  /// - Parameter assignmentList: The assignments; equal ones count once.
  public init(assignmentList: [RolloutAssignment]) { locked = Locked(Set(assignmentList)) }

  /// Whether two states have equal assignments.
  public static func == (left: RolloutsState, right: RolloutsState) -> Bool { left.assignments == right.assignments }

  /// Equal for equal states.
  public func hash(into hasher: inout Hasher) { hasher.combine(assignments) }
}
