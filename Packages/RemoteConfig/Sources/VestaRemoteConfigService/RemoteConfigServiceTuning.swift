import VestaStoreInterop

/// Every figure at which the service's behaviour changes; tests draw small ones.
struct RemoteConfigServiceTuning: Sendable {
  /// The most combinations of conditions whose values are kept for a template.
  var keptOutcomes = 256

  /// The work between two pauses of an evaluation, in units of about ten nanoseconds.
  var unitsOfASlice = 50_000

  /// The most work of all conditions of a template for one instance: about 0.2 s.
  ///
  /// It is looked at when a template is published; one that was published before is evaluated all the same.
  var maximumWork = 20_000_000

  /// The bounds of the regular expressions in conditions.
  var patterns = ConditionPatternTuning()

  var maximumParameters = 3_000
  var maximumConditions = 2_000
  var maximumGroups = 500
  var maximumKeyLength = 256
  var maximumConditionNameLength = 100
  var maximumDescriptionLength = 256
  var maximumVersionTextLength = 1_000
  /// The most characters of all values together.
  var maximumValueLength = 1_000_000
  /// The largest template: the largest value of the store, less the room for the other fields of its row.
  var maximumSize = StoreLimits.maximumValueLength - 4096
}
