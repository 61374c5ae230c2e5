/// The figures at which the work of rules changes while their decisions do not; tests make them small.
struct RulesTuning: Sendable, Hashable {
  /// The steps of a condition that is taken apart into a quick one.
  var quickSteps = 200

  /// The expressions that a step of a quick condition counts as: the most that its evaluation in full uses.
  var quickStepCost = 4

  /// The work that a request needs to have for quick conditions: their comparisons take none of it.
  var quickWork = 1 << 16

  /// The bytes up to which quick conditions compare strings.
  var quickString = 1 << 10

  /// How deep conditions are looked into for an outcome that is known when they are compiled.
  var shortcutDepth = 8

  /// The number of different values that a coverage distinguishes for an expression.
  var coverageValues = 16

  /// The bytes that the strings of one rule of the Realtime Database may be made of.
  var databaseRoom = 1 << 20

  /// The bytes of texts that one rule of the Realtime Database may search.
  var databaseSearch = 1 << 27

  /// How deep operands of the Realtime Database's rules may be nested while they are read.
  var databaseNesting = 100

  /// How deep expressions of the Realtime Database's rules may be.
  var databaseDepth = 200
}
