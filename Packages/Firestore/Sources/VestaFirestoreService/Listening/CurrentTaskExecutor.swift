/// The executor that the calling task prefers; `nil` outside of a task, and for a task without a preference.
var currentTaskExecutor: (any TaskExecutor)? {
  guard #available(macOS 26.4, iOS 26.4, tvOS 26.4, watchOS 26.4, visionOS 26.4, *) else { return nil }
  // The unsafe reference is used inside the closure only.
  return withUnsafeCurrentTask { $0?.unownedTaskExecutor?.asTaskExecutor() }
}
