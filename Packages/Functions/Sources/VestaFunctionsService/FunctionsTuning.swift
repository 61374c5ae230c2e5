import VestaConcurrency

/// The sizes and times at which the behavior of the service changes; tests lower them.
struct FunctionsTuning: Sendable {
  /// When events are leased, read and settled; the options have the lease and the interval of looks.
  var timing = DispatchMachine.Timing()

  /// How many events of a function are in memory and read at once.
  var delivery = DeliveryMachine.Limits()

  /// When one thread delivers all events that are due.
  var pace = DeliveryPace.Limits()

  /// The pauses between the attempts of an event; the first one is that of the function's options.
  var retry = Retry.ofEvents

  /// The number of events that a task delivers before it looks at whether others wait for its thread.
  var eventsBetweenYields = 16

  /// The most messages of a streaming call that wait for its reader; beyond them the function waits.
  var unreadMessages = 16

  /// How functions of other programs are called with events.
  var triggers = TriggerTuning()

  /// When the runs of schedules are looked for, and which count as missed.
  var schedules = ScheduleTuning()
}

/// The times of schedules, in seconds.
struct ScheduleTuning: Sendable {
  /// The longest time between two looks at the clock.
  var longestWait: Int64 = 60

  /// How late a run may start that is not a missed one.
  var grace: Int64 = 60

  /// By how much a clock may be set back before that counts as a correction.
  var tolerance: Int64 = 3 * 3_600
}

/// The figures of calls of functions of other programs.
struct TriggerTuning: Sendable {
  /// How long a call may take: longer than any function of the suite may.
  var timeout = Duration.seconds(600)

  /// The number of attempts before an event becomes a dead letter: the program may be away for hours.
  var maximumAttempts = 60

  /// The delay after the first failure; it doubles with each further one, up to ten minutes.
  var retryDelay = Duration.milliseconds(250)

  /// The most functions of a project: each registration writes all of them, and each change looks at all of its type.
  var maximumTriggers = 5_000
}
