/// The sizes and times at which the behavior of the service changes; tests lower them.
struct FunctionsTuning: Sendable {
  /// When events are leased, read and settled; the lease and the interval of looks are those of the options.
  var timing = DispatchMachine.Timing()

  /// How many events of a function are in memory and read at once.
  var delivery = DeliveryMachine.Limits()

  /// The number of events that a task delivers before others may run.
  var eventsBetweenYields = 16
}
