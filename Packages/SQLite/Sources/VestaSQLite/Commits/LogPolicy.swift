/// When to write the log back; pure.
///
/// The log starts over by itself at the next commit after all of it was written back, if no reader needs it then.
struct LogPolicy {
  enum Step { case nothing, writeBack, startOver }

  let checkpointPages: Int
  let limit: Int
  private var nextWriteBack: Int
  private var nextStartOver: Int

  init(checkpointPages: Int, limit: Int) {
    self.checkpointPages = checkpointPages
    self.limit = limit
    nextWriteBack = checkpointPages
    nextStartOver = limit
  }

  /// The action after a commit that left the log with a number of pages.
  ///
  /// While readers keep it from starting over, it is tried again at intervals of pages, and not with every commit.
  mutating func decide(pages: Int) -> Step {
    guard pages >= checkpointPages else {
      nextWriteBack = checkpointPages
      nextStartOver = limit
      return .nothing
    }
    if pages >= nextStartOver {
      nextStartOver = pages + limit / 4
      return .startOver
    }
    guard pages >= nextWriteBack else { return .nothing }
    nextWriteBack = pages + checkpointPages / 4
    return .writeBack
  }
}
